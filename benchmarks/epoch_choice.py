"""Which epoch of a classifier to keep: ``python -m benchmarks.epoch_choice ROOT MOLECULES``.

ROOT holds the TU datasets, MOLECULES holds bbbp.csv and tox21.csv, of which 1,500 molecules are
taken. No test part of a benchmark is used: of the first fold of a TU dataset, and of the first
random split of molecules, the test graphs are put aside, and the others are split anew for every
seed, 80/10/10. Each classifier is trained once with the defaults of :class:`lfds.LFDSClassifier`;
its outputs for the validation and inner test parts are kept after every epoch. Afterwards all rules
choose an epoch from the same curves: highest validation accuracy or ROC-AUC (ties: lowest log
loss), lowest log loss as it is, after calibration, or as a mean over the last five epochs, or the
last epoch. Rows are appended to results/epoch_choice.csv, and the same command goes on from there;
``--write`` puts the table into docs/molecules.md.
"""

import argparse
import csv
import statistics
import sys
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from benchmarks import molecules as molecule_sets
from benchmarks.marks import write_between
from lfds import LFDSClassifier, load_dataset
from lfds.data.encodings.encoder import Encoder, automatic_encoding
from lfds.data.graphset import GraphSet
from lfds.data.splits import random_split, stratified_folds
from lfds.estimator.metrics import class_metrics
from lfds.estimator.output_decoding import ClassDecoder, fit_temperature
from lfds.estimator.predictor import run
from lfds.nn.randomness import initialize_from
from lfds.seeds import seed_for
from lfds.train.loop import Training
from lfds.train.memory_limit import build_network
from lfds.train.objective import Classify, ClassifyEach, Objective

HERE = Path(__file__).parents[1]
RESULTS = HERE / "benchmarks" / "results" / "epoch_choice.csv"
PAGE = HERE / "docs" / "molecules.md"
SETS = ("MUTAG", "bbbp", "tox21", "ENZYMES", "PROTEINS")
RULES = ("accuracy", "ROC-AUC", "log loss", "log loss, calibrated", "log loss, mean of 5", "last")
_TOX21_GRAPHS, _SMOOTHED = 1500, 5
_Problem = tuple[NDArray[np.floating], NDArray[np.integer]]


@dataclass(frozen=True)
class Curves:
    """What a rule sees: the validation part after every epoch.

    Attributes:
        accuracy: Share of correct predictions; of several targets the mean, as the others.
        auc: Area under the ROC curve.
        loss: Log loss.
        calibrated: Log loss after calibration on the same graphs.
    """

    accuracy: list[float] = field(default_factory=list)
    auc: list[float] = field(default_factory=list)
    loss: list[float] = field(default_factory=list)
    calibrated: list[float] = field(default_factory=list)


@dataclass(frozen=True)
class Row:
    """What one rule chose in one training.

    Attributes:
        data: The set.
        seed: Of split and training.
        rule: One of ``RULES``.
        epoch: The epoch that it chose, counted from 1.
        epochs: Number of epochs until patience ended.
        accuracy: On the inner test part; of several targets the mean, as the others.
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
    """Return the graphs of a set that are in no test part of the benchmark."""
    if name in molecule_sets.SETS:
        task = molecule_sets.read(molecules, name, "random 0")
        graphs = task.graphs[sorted(task.parts.train + task.parts.validation)]
        return graphs[:_TOX21_GRAPHS] if name == "tox21" else graphs
    graphs = load_dataset(name, root=root)
    fold = stratified_folds(graphs.y.numpy(), folds=10, seed=0)[0]
    return graphs[sorted(fold.train + fold.validation)]


def measure(name: str, graphs: GraphSet, seed: int) -> list[Row]:
    """Train once, and return what each rule chooses."""
    several = graphs.y.ndim == 2
    strata = np.zeros(len(graphs), dtype=np.int64) if several else graphs.y.numpy()
    parts = random_split(strata, seed=seed)
    encoder = Encoder(automatic_encoding(graphs), edges=True).fit(graphs[parts.train])
    train, validation, test = (
        encoder.transform(graphs[rows]) for rows in (parts.train, parts.validation, parts.test)
    )
    objective: Objective = Classify()
    if several:
        objective = ClassifyEach(float((train.y >= 0).sum() / len(train)))
    options = LFDSClassifier(seed=seed)._options()
    outputs = graphs.y.shape[1] if several else graphs.num_classes
    with initialize_from(seed_for(seed, "epoch choice", "weights")):
        network = build_network(
            encoder.width,
            outputs,
            options.network_settings(),
            edge_features=encoder.edge_width,
            train=train,
        )
    settings = options.training_settings()
    training = Training(
        network, train, validation, settings, seed, ("epoch choice",), objective=objective
    )
    curves = Curves(loss=training.progress.validation_loss)
    found: list[tuple[list[_Problem], list[_Problem]]] = []

    def after_epoch(now: Training) -> None:
        model = now.ema.model
        seen = problems(run(model, validation).numpy(), validation.y.numpy())
        curves.accuracy.append(float(np.mean([(o.argmax(axis=1) == y).mean() for o, y in seen])))
        _, auc, calibrated = scores(seen, seen)
        curves.auc.append(auc)
        curves.calibrated.append(calibrated)
        found.append((seen, problems(run(model, test).numpy(), test.y.numpy())))

    training.run(after_epoch)
    patience = options.patience or settings.epochs
    made = []
    for rule in RULES:
        chosen, length = choose(rule, curves, patience)
        made.append(Row(name, seed, rule, chosen + 1, length, *scores(*found[chosen])))
    return made


def problems(outputs: NDArray[np.floating], y: NDArray[np.integer]) -> list[_Problem]:
    """Return logits and classes of each target, where they are known."""
    if y.ndim == 1:
        return [(outputs, y)]
    known = y >= 0
    pairs = np.stack([np.zeros_like(outputs), outputs], axis=2)
    return [(pairs[k, place], y[k, place]) for place, k in enumerate(known.T)]


def scores(seen: list[_Problem], asked: list[_Problem]) -> tuple[float, float, float]:
    """Return accuracy, AUC and log loss, after calibration; the means over targets.

    Args:
        seen: The validation part, for the calibration.
        asked: The test part.
    """
    each = []
    for (logits, known), (outputs, y) in zip(seen, asked, strict=True):
        decoder = ClassDecoder(
            names=tuple(range(outputs.shape[1])), temperature=fit_temperature(logits, known)
        )
        one = class_metrics(y, decoder.probabilities(outputs))
        if one.auc is not None:  # there are all classes
            each.append((one.accuracy, one.auc, one.log_loss))
    accuracy, auc, loss = np.mean(each, axis=0).tolist()
    return accuracy, auc, loss


def choose(rule: str, curves: Curves, patience: int) -> tuple[int, int]:
    """Return the epoch that a rule keeps, counted from 0, and how many epochs are trained.

    >>> curves = Curves([0.5, 0.9, 0.9, 0.8], [0.6, 0.7, 0.8, 0.9], [1.0, 0.8, 0.7, 0.1])
    >>> choose("accuracy", curves, 3), choose("ROC-AUC", curves, 3), choose("last", curves, 1)
    ((2, 4), (3, 4), (3, 4))
    >>> rising = Curves(loss=[1.0, 0.8, 0.85, 1.1])
    >>> choose("log loss", rising, 2), choose("log loss, mean of 5", rising, 2)
    ((1, 4), (2, 4))
    """
    order = _order(rule, curves)
    best = 0
    for epoch, found in enumerate(order):
        if found > order[best]:
            best = epoch
        if epoch - best >= patience:
            return best, epoch + 1
    return best, len(order)


def _order(rule: str, curves: Curves) -> list[tuple[float, float]]:
    """Return how good each epoch is for a rule, and what decides between equal ones."""
    losses = [-loss for loss in curves.loss]
    first = losses
    if rule == "last":
        first = [float(epoch) for epoch in range(len(losses))]
    elif rule in ("accuracy", "ROC-AUC"):
        first = curves.accuracy if rule == "accuracy" else curves.auc
    elif rule == "log loss, calibrated":
        first = [-loss for loss in curves.calibrated]
    elif rule == "log loss, mean of 5":
        starts = (max(0, epoch + 1 - _SMOOTHED) for epoch in range(len(losses)))
        first = [statistics.mean(losses[start : end + 1]) for end, start in enumerate(starts)]
    return list(zip(first, losses, strict=True))


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
