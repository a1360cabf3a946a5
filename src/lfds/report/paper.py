"""The accuracies of the paper's Table 1, shown beside those of a run."""

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

REMARKS = {
    "pc-graphs": "Its PC Graphs are of other point clouds than the built-in pc-graphs.",
    "SYNT": "It does not say which of SYNTHETIC, SYNTHETICnew and Synthie its SYNT is.",
    "Rank-Pool": "Its Rank-Pool is shown beside topk and sag.",
}
"""What to know when comparing, by our dataset, the paper's dataset or the paper's pooling."""


@dataclass(frozen=True)
class Published:
    """One accuracy of the paper.

    Attributes:
        mean: In percent, over its folds.
        std: In percent.
    """

    mean: float
    std: float

    def __str__(self) -> str:
        return f"{self.mean:.1f} ± {self.std:.1f}"


def published(pool: str, dataset: str) -> Published | None:
    """Return the paper's accuracy of a pooling on a dataset, if it has one.

    >>> print(published("loop", "ENZYMES"))
    74.3 ± 3.8
    >>> published("loop", "MUTAG")
    """
    table = _table()
    found = table["accuracy"].get(pool, {}).get(table["datasets"].get(dataset, ""))
    return None if found is None else Published(*found)


def in_paper(dataset: str) -> bool:
    """Whether the paper has the dataset."""
    return dataset in _table()["datasets"]


def remarks(pools: set[str], datasets: set[str]) -> list[str]:
    """Return what to know when comparing these poolings and datasets with the paper."""
    names = {_table()["datasets"].get(dataset) for dataset in datasets} | datasets
    if pools & {"topk", "sag"}:
        names.add("Rank-Pool")
    return [remark for name, remark in REMARKS.items() if name in names]


@cache
def _table() -> dict[str, Any]:
    """The paper's dataset for each of ours, and accuracies by pooling and dataset."""
    content: dict[str, Any] = json.loads(
        files("lfds.report").joinpath("paper_table.json").read_bytes()
    )
    return content
