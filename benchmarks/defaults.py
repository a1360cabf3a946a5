"""Judge the estimator as it comes beside other configurations, on the same folds.

``python -m benchmarks.defaults FOLDER RECORDS [DATASET ...]`` takes datasets of the TU collection
from FOLDER (and ``pc-graphs``, which needs no files), adds what is missing to the file RECORDS, one
line for each fit, and prints the table. Half of ten folds are used, each tested once.
"""

import json
import statistics
import sys
from pathlib import Path
from typing import Any

import torch

import lfds
from lfds.data.graphset import GraphSet
from lfds.data.splits import stratified_folds

CONFIGURATIONS: dict[str, dict[str, Any]] = {
    "as it comes": {},
    "64 slots": {"slots": 64},
    "no node dropout": {"options": {"node_dropout": 0.0}},
    "image": {"structure": "image"},
}
DATASETS = ("MUTAG", "ENZYMES", "PROTEINS", "pc-graphs")
FOLDS = range(5)


def load(name: str, folder: Path) -> GraphSet:
    if name == "pc-graphs":
        return lfds.load_dataset(name)[:480]
    return lfds.load_dataset(name, root=folder)


def fit_all(names: list[str], folder: Path, records: Path) -> None:
    known = {(row["data"], row["configuration"], row["fold"]) for row in read(records)}
    for name in names:
        graphs = load(name, folder)
        folds = stratified_folds(graphs.y.numpy(), folds=10, seed=0)
        for fold in FOLDS:
            split = folds[fold]
            for configuration, options in CONFIGURATIONS.items():
                if (name, configuration, fold) in known:
                    continue
                model = lfds.LFDSClassifier(**options)
                model.fit(graphs[sorted(split.train + split.validation)])
                row = {
                    "data": name,
                    "configuration": configuration,
                    "fold": fold,
                    "accuracy": model.score(graphs[split.test]),
                    "epochs": model.n_iter_,
                    "validation": max(model.history_.validation),
                }
                with records.open("a") as file:
                    file.write(json.dumps(row) + "\n")


def read(records: Path) -> list[dict[str, Any]]:
    lines = records.read_text().splitlines() if records.exists() else []
    return [json.loads(line) for line in lines]


def table(rows: list[dict[str, Any]]) -> str:
    names = [name for name in DATASETS if any(row["data"] == name for row in rows)]
    lines = [f"| | {' | '.join(names)} |", "|---|" + "--:|" * len(names)]
    for configuration in CONFIGURATIONS:
        cells = [configuration]
        for name in names:
            found = [
                100 * row["accuracy"]
                for row in rows
                if (row["data"], row["configuration"]) == (name, configuration)
            ]
            whole = len(found) == len(FOLDS)
            cells.append(
                f"{statistics.mean(found):.1f} ± {statistics.stdev(found):.1f}"
                if whole
                else f"{len(found)} of {len(FOLDS)} folds"
            )
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    torch.set_num_threads(1)
    folder, records, *names = sys.argv[1:]
    fit_all(names or list(DATASETS), Path(folder), Path(records))
    print(table(read(Path(records))))


if __name__ == "__main__":
    main()
