"""The accuracies that the paper's Table 1 gives, to be shown beside what a run found."""

from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from pydantic import BaseModel, ConfigDict

REMARKS = {
    "pc-graphs": "Its PC Graphs are of other point clouds than the built-in pc-graphs.",
    "SYNT": "It does not say which of SYNTHETIC, SYNTHETICnew and Synthie its SYNT is.",
    "Rank-Pool": "Its Rank-Pool is shown beside topk and sag.",
}
"""What must be known to compare, by dataset here, dataset there, or pooling there."""


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
    """Return what the paper has of a pooling on a dataset, if anything.

    >>> print(published("loop", "ENZYMES"))
    74.3 ± 3.8
    >>> published("loop", "MUTAG")
    """
    table = _table()
    found = table.accuracy.get(pool, {}).get(table.datasets.get(dataset, ""))
    return None if found is None else Published(*found)


def is_there(dataset: str) -> bool:
    """Whether the paper has the dataset."""
    return dataset in _table().datasets


def remarks(pools: set[str], datasets: set[str]) -> list[str]:
    """Return what must be known to compare these poolings and datasets with the paper's."""
    there = {_table().datasets.get(dataset) for dataset in datasets} | datasets
    if pools & {"topk", "sag"}:
        there.add("Rank-Pool")
    return [remark for name, remark in REMARKS.items() if name in there]


class _Table(BaseModel):
    """The file: how its datasets are called here, and accuracies by pooling and dataset there."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    datasets: dict[str, str]
    accuracy: dict[str, dict[str, tuple[float, float]]]


@cache
def _table() -> _Table:
    content = files("lfds.report").joinpath("paper_table.json").read_bytes()
    return _Table.model_validate_json(content)
