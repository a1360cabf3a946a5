"""Whether a moving mean of the weights chooses better epochs, judged on validation graphs alone.

The validation graphs of every fold of the published splits are halved: one half chooses the epoch,
the other judges the choice, and then the other way round. One training serves all means.

Run: python -m benchmarks.averaging DATA [DATASET ...]
Keeps what is needed in results/factors/averaging.jsonl, and writes the table of docs/factors.md.
With --as-it-is nothing is run: what was kept is shown.
"""

import argparse
import json
from pathlib import Path
from statistics import mean
from typing import Any

import torch

from benchmarks.factors import PAGE, ROOT, between_marks
from lfds.data import GraphSet, load_dataset, read_splits
from lfds.data.encodings.encoder import Encoder
from lfds.data.splits import Split
from lfds.experiment.averaging import Averaged
from lfds.experiment.passes import evaluate
from lfds.experiment.spec import TrainingSettings
from lfds.experiment.training import Training
from lfds.nn import GraphClassifier, NetworkSettings
from lfds.seeds import seed_for

KEPT = ROOT / "results" / "factors" / "averaging.jsonl"
EPOCHS = {"ENZYMES": 60, "PROTEINS": 30}
SPLITS = {"ENZYMES": "ENZYMES_splits.json", "PROTEINS": "PROTEINS_full_splits.json"}
POOLS = ("loop", "max")
MEANS = (0.0, 0.7, 0.8, 0.9)

# For each epoch the accuracy and the loss on both halves.
Curve = list[list[tuple[float, float]]]


def fold(graphs: GraphSet, split: Split, pool: str, epochs: int) -> dict[str, Curve]:
    """Train once; return for each mean how both halves of the validation graphs judged it."""
    train = graphs[split.train]
    encoder = Encoder().fit(train)
    encoded = encoder.transform(graphs)
    halves = [encoded[split.validation[start::2]] for start in (0, 1)]
    scope = (graphs.name, pool, split.test[0])
    torch.manual_seed(seed_for(0, *scope, "weights"))
    model = GraphClassifier(encoder.width, graphs.num_classes, NetworkSettings(pool=pool))
    settings = TrainingSettings(epochs=epochs, averaging=0.0)
    training = Training(model, encoded[split.train], None, settings, 0, scope)
    means = {str(kept): Averaged(model, kept) for kept in MEANS}
    curves: dict[str, Curve] = {kept: [] for kept in means}

    def after_epoch(_: Training) -> None:
        for kept, averaged in means.items():
            averaged.take_in()
            curves[kept].append([evaluate(averaged.model, half, 64) for half in halves])

    training.run(after_epoch)
    return curves


def crossed(curve: Curve) -> float:
    """The accuracy on one half of the epoch that the other half chose, both ways."""
    judged = []
    for chooser, judge in ((0, 1), (1, 0)):
        best = max(curve, key=lambda seen: (seen[chooser][0], -seen[chooser][1]))
        judged.append(best[judge][0])
    return mean(judged)


def run_and_keep(data: Path, dataset: str, pool: str) -> None:
    graphs = load_dataset(dataset, root=data)
    splits = read_splits(data / "splits" / "fair" / SPLITS[dataset], len(graphs))
    for number, split in enumerate(splits):
        curves = fold(graphs, split, pool, EPOCHS[dataset])
        row = {
            "dataset": dataset,
            "pool": pool,
            "fold": number,
            "crossed": {kept: crossed(curve) for kept, curve in curves.items()},
        }
        with KEPT.open("a") as file:
            file.write(json.dumps(row) + "\n")
        print(f"{dataset} {pool} {number + 1}/{len(splits)}", flush=True)


def kept_rows() -> list[dict[str, Any]]:
    return [json.loads(line) for line in KEPT.read_text().splitlines()] if KEPT.exists() else []


def table(rows: list[dict[str, Any]]) -> str:
    lines = [
        "| dataset | pooling | single epochs | "
        + " | ".join(f"mean {m}" for m in MEANS[1:])
        + " |",
        "|---|---|" + "--:|" * len(MEANS),
    ]
    for dataset in EPOCHS:
        for pool in POOLS:
            mine = [r["crossed"] for r in rows if (r["dataset"], r["pool"]) == (dataset, pool)]
            if mine:
                shown = [f"{100 * mean(row[str(kept)] for row in mine):.1f}" for kept in MEANS]
                lines.append(f"| {dataset} | `{pool}` | {' | '.join(shown)} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, help="folder of datasets, with splits/fair in it")
    parser.add_argument("datasets", nargs="*", default=[*EPOCHS], help=", ".join(EPOCHS))
    parser.add_argument("--as-it-is", action="store_true", help="run nothing")
    told = parser.parse_args()
    torch.set_num_threads(1)
    done = {(row["dataset"], row["pool"]) for row in kept_rows()}
    for dataset in () if told.as_it_is else told.datasets:
        for pool in POOLS:
            if (dataset, pool) not in done:
                run_and_keep(told.data, dataset, pool)
    PAGE.write_text(between_marks(PAGE.read_text(), "averaging", table(kept_rows())))


if __name__ == "__main__":
    main()
