"""What a moving mean of the weights is worth, and batch norms that are measured anew for it.

Judged on validation graphs alone: those of every fold of the published splits are halved, one half
chooses the epoch, the other judges the choice, and then the other way round. One training serves
all variants.

Run: python -m benchmarks.averaging DATA [DATASET ...]
Keeps what is needed in results/factors/averaging.jsonl, and writes the table of docs/factors.md.
With --as-it-is nothing is run: what was kept is shown.
"""

import argparse
import json
from copy import deepcopy
from pathlib import Path
from statistics import mean
from typing import Any, NamedTuple

import torch

from benchmarks.factors import BARE, PAGE, ROOT, between_marks
from lfds.config.comparison import TrainingSettings
from lfds.data import GraphSet, load_dataset, read_splits
from lfds.data.encodings.encoder import Encoder
from lfds.data.splits import Split
from lfds.nn import GraphNetwork, NetworkSettings
from lfds.seeds import seed_for
from lfds.train.batchnorm import calibration_rows, recalibrate
from lfds.train.ema import EMA
from lfds.train.epoch import batches, evaluate
from lfds.train.loop import Training

KEPT = ROOT / "results" / "factors" / "averaging.jsonl"
EPOCHS = {"ENZYMES": 60, "PROTEINS": 30, "DD": 10}
SPLITS = {"PROTEINS": "PROTEINS_full"}
LAST = 5


class Variant(NamedTuple):
    """Weights that epochs are judged by.

    Attributes:
        kept: How much of the mean is kept from one epoch to the next; 0 for single epochs.
        measured: Whether batch norms are measured anew, with nothing dropped.
    """

    kept: float
    measured: bool

    def __str__(self) -> str:
        weights = f"mean {self.kept}" if self.kept else "single"
        return f"{weights}, {'measured' if self.measured else 'running'}"


VARIANTS = [Variant(kept, measured) for kept in (0.0, 0.8) for measured in (False, True)]

# For each epoch the accuracy and the loss on both halves.
Curve = list[list[tuple[float, float]]]


def fold(graphs: GraphSet, split: Split, epochs: int) -> dict[str, Curve]:
    """Train once; return for each variant how both halves of the validation graphs judged it."""
    encoder = Encoder().fit(graphs[split.train])
    train, held_out = (encoder.transform(graphs[p]) for p in (split.train, split.validation))
    halves = [held_out[range(start, len(held_out), 2)] for start in (0, 1)]
    scope = (graphs.name, split.test[0])
    torch.manual_seed(seed_for(0, *scope, "weights"))
    model = GraphNetwork(encoder.width, graphs.num_classes, NetworkSettings(pool="loop", **BARE))
    settings = TrainingSettings(epochs=epochs, averaging=0.0)
    training = Training(model, train, None, settings, 0, scope)
    means = {kept: EMA(model, kept) for kept in {variant.kept for variant in VARIANTS}}
    rows = calibration_rows(len(train), seed_for(0, *scope, "norms"))
    curves: dict[str, Curve] = {str(variant): [] for variant in VARIANTS}

    def after_epoch(_: Training) -> None:
        for averaged in means.values():
            averaged.update()
        for variant in VARIANTS:
            judged = deepcopy(means[variant.kept].model)
            if variant.measured:
                recalibrate(judged, batches(train, rows, settings.batch_size))
            curves[str(variant)].append([evaluate(judged, half, 64) for half in halves])

    training.run(after_epoch)
    return curves


def crossed(curve: Curve) -> float:
    """The accuracy on one half of the epoch that the other half chose, both ways."""
    judged = []
    for chooser, judge in ((0, 1), (1, 0)):
        best = max(curve, key=lambda seen: (seen[chooser][0], -seen[chooser][1]))
        judged.append(best[judge][0])
    return mean(judged)


def last(curve: Curve) -> float:
    """The mean accuracy of the last epochs, on both halves."""
    return mean(accuracy for seen in curve[-LAST:] for accuracy, _ in seen)


def run_and_keep(data: Path, dataset: str) -> None:
    graphs = load_dataset(dataset, root=data)
    file = f"{SPLITS.get(dataset, dataset)}_splits.json"
    splits = read_splits(data / "splits" / "fair" / file, len(graphs))
    done = {row["fold"] for row in kept_rows() if row["dataset"] == dataset}
    for number in sorted(set(range(len(splits))) - done):
        curves = fold(graphs, splits[number], EPOCHS[dataset])
        seen = {name: (crossed(curve), last(curve)) for name, curve in curves.items()}
        with KEPT.open("a") as kept:
            kept.write(json.dumps({"dataset": dataset, "fold": number, "seen": seen}) + "\n")
        print(f"{dataset} {number + 1}/{len(splits)}", flush=True)


def kept_rows() -> list[dict[str, Any]]:
    return [json.loads(line) for line in KEPT.read_text().splitlines()] if KEPT.exists() else []


def table(rows: list[dict[str, Any]]) -> str:
    lines = [
        "| dataset | weights, statistics | chosen epoch | last epochs |",
        "|---|---|--:|--:|",
    ]
    for dataset in EPOCHS:
        mine = [row["seen"] for row in rows if row["dataset"] == dataset]
        for name in map(str, VARIANTS if mine else ()):
            chosen, at_the_end = (100 * mean(seen[name][k] for seen in mine) for k in (0, 1))
            lines.append(f"| {dataset} | {name} | {chosen:.1f} | {at_the_end:.1f} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, help="folder of datasets, with splits/fair in it")
    parser.add_argument("datasets", nargs="*", default=[*EPOCHS], help=", ".join(EPOCHS))
    parser.add_argument("--as-it-is", action="store_true", help="run nothing")
    told = parser.parse_args()
    torch.set_num_threads(1)
    if unknown := set(told.datasets) - set(EPOCHS):
        parser.error(f"no epochs are set for {', '.join(unknown)}; known are {', '.join(EPOCHS)}")
    for dataset in () if told.as_it_is else told.datasets:
        run_and_keep(told.data, dataset)
    PAGE.write_text(between_marks(PAGE.read_text(), "averaging", table(kept_rows())))


if __name__ == "__main__":
    main()
