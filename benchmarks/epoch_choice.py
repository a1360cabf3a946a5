"""Which epoch of a classifier to keep: ``python -m benchmarks.epoch_choice ROOT MOLECULES``.

ROOT holds the TU datasets, MOLECULES holds bbbp.csv. Each classifier is trained once with the
defaults of :class:`lfds.LFDSClassifier`; after every epoch its validation accuracy, its validation
log loss and its scores on the test part are written down. Afterwards both rules choose an epoch
from the same curves: highest validation accuracy (ties: lowest log loss), or lowest log loss. The
test part is used for nothing else. Rows are appended to results/epoch_choice.csv, and the same
command goes on from there; ``--write`` puts the table into docs/molecules.md.
"""

import argparse
import csv
import statistics
import sys
import warnings
from dataclasses import asdict, dataclass, fields
from pathlib import Path

import torch

from benchmarks.marks import write_between
from lfds import LFDSClassifier, load_dataset
from lfds.data.encodings.encoder import Encoder, automatic_encoding
from lfds.data.graphset import GraphSet
from lfds.data.readers.smiles import read_smiles
from lfds.data.splits import random_split
from lfds.estimator.metrics import class_metrics
from lfds.estimator.output_decoding import ClassDecoder, fit_temperature
from lfds.estimator.predictor import run
from lfds.nn.randomness import initialize_from
from lfds.seeds import seed_for
from lfds.train.loop import Training
from lfds.train.memory_limit import build_network

HERE = Path(__file__).parents[1]
RESULTS = HERE / "benchmarks" / "results" / "epoch_choice.csv"
PAGE = HERE / "docs" / "molecules.md"
SETS = ("MUTAG", "bbbp", "ENZYMES", "PROTEINS")
RULES = ("accuracy", "log loss")


@dataclass(frozen=True)
class Row:
    """What one rule chose in one training.

    Attributes:
        data: The set.
        seed: Of split and training.
        rule: One of ``RULES``.
        epoch: The epoch that it chose, counted from 1.
        epochs: Number of epochs until patience ended.
        accuracy: On the test part.
        auc: Area under the ROC curve there.
        log_loss: There, after calibration on the validation part.
    """

    data: str
    seed: int
    rule: str
    epoch: int
    epochs: int
    accuracy: float
    auc: float
    log_loss: float


def read(name: str, root: Path, molecules: Path) -> GraphSet:
    """Return a set with one class per graph."""
    if name != "bbbp":
        return load_dataset(name, root=root)
    with warnings.catch_warnings(action="ignore"):
        return read_smiles(molecules / "bbbp.csv", target="p_np", bad="skip")


def measure(name: str, graphs: GraphSet, seed: int) -> list[Row]:
    """Train once, and return what each rule chooses."""
    parts = random_split(graphs.y.numpy(), seed=seed)
    encoder = Encoder(automatic_encoding(graphs)).fit(graphs[parts.train])
    train, validation, test = (
        encoder.transform(graphs[rows]) for rows in (parts.train, parts.validation, parts.test)
    )
    options = LFDSClassifier(seed=seed)._options()
    with initialize_from(seed_for(seed, "epoch choice", "weights")):
        network = build_network(encoder.width, graphs.num_classes, options.network_settings())
    settings = options.training_settings()
    training = Training(network, train, validation, settings, seed, ("epoch choice",))
    found: list[tuple[float, float, float]] = []

    def after_epoch(now: Training) -> None:
        model = now.ema.model
        decoder = ClassDecoder(
            names=tuple(range(graphs.num_classes)),
            temperature=fit_temperature(run(model, validation).numpy(), validation.y.numpy()),
        )
        scores = class_metrics(test.y.numpy(), decoder.probabilities(run(model, test).numpy()))
        assert scores.auc is not None
        found.append((scores.accuracy, scores.auc, scores.log_loss))

    training.run(after_epoch)
    done = training.progress
    patience = options.patience or settings.epochs
    made = []
    for rule in RULES:
        chosen, length = choose(rule, done.validation, done.validation_loss, patience)
        made.append(Row(name, seed, rule, chosen + 1, length, *found[chosen]))
    return made


def choose(rule: str, accuracy: list[float], loss: list[float], patience: int) -> tuple[int, int]:
    """Return the epoch that a rule keeps, counted from 0, and how many epochs are trained.

    >>> choose("accuracy", [0.5, 0.9, 0.9, 0.8], [1.0, 0.8, 0.7, 0.1], 3)
    (2, 4)
    >>> choose("log loss", [0.5, 0.9, 0.9, 0.8], [1.0, 0.8, 0.9, 1.1], 2)
    (1, 4)
    """
    best = 0
    for epoch in range(len(loss)):
        found, before = (
            (accuracy[one], -loss[one]) if rule == "accuracy" else (-loss[one], 0.0)
            for one in (epoch, best)
        )
        if found > before:
            best = epoch
        if epoch - best >= patience:
            return best, epoch + 1
    return best, len(loss)


def stored(file: Path) -> list[Row]:
    """Return what was measured so far."""
    if not file.exists():
        return []
    kinds = {entry.name: entry.type for entry in fields(Row)}
    with file.open(newline="") as content:
        return [
            Row(**{name: kinds[name](cell) for name, cell in row.items()})  # type: ignore[operator]
            for row in csv.DictReader(content)
        ]


def append(rows: list[Row], file: Path) -> None:
    """Add measurements to the file."""
    new = not file.exists()
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("a", newline="") as content:
        table = csv.DictWriter(content, [entry.name for entry in fields(Row)], lineterminator="\n")
        if new:
            table.writeheader()
        for row in rows:
            values = asdict(row)
            table.writerow(
                {k: f"{v:.6g}" if isinstance(v, float) else v for k, v in values.items()}
            )


def markdown(rows: list[Row]) -> str:
    """Return the means of each set and rule."""
    lines = ["| set | rule | seeds | accuracy | ROC-AUC | log loss |", "|---|---|--:|--:|--:|--:|"]
    for data in SETS:
        for rule in RULES:
            some = [row for row in rows if (row.data, row.rule) == (data, rule)]
            if some:
                accuracy, auc, loss = (
                    statistics.mean(getattr(row, name) for row in some)
                    for name in ("accuracy", "auc", "log_loss")
                )
                lines.append(
                    f"| {data} | {rule} | {len(some)} | {100 * accuracy:.1f} % | {auc:.3f} "
                    f"| {loss:.3f} |"
                )
    return "\n".join(lines)


def main() -> None:
    """Measure what is missing, and write the table on request."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("root", type=Path)
    parser.add_argument("molecules", type=Path)
    parser.add_argument("--sets", nargs="+", choices=SETS, default=list(SETS))
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--write", action="store_true", help="Write the table of molecules.md.")
    given = parser.parse_args()
    torch.set_num_threads(1)
    done = {(row.data, row.seed) for row in stored(given.results)}
    for seed in range(given.seeds):
        for name in given.sets:
            if (name, seed) not in done:
                rows = measure(name, read(name, given.root, given.molecules), seed)
                append(rows, given.results)
                sys.stdout.write("".join(f"{row}\n" for row in rows))
                sys.stdout.flush()
    if given.write:
        write_between(PAGE, "epochs", markdown(stored(given.results)))


if __name__ == "__main__":
    main()
