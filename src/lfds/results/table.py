"""The table of a run: poolings against datasets, one rule, and what is missing said plainly."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from lfds.results.errors import IncompleteRunError
from lfds.results.record import Record, Rule
from lfds.results.rules import scores_by
from lfds.results.statistics import Summary, summarise


@dataclass(frozen=True)
class Cell:
    """One pooling on one dataset.

    Attributes:
        summary: Its accuracy, or None where a fold is missing or failed.
        done: Folds that ended well.
        failed: Folds that did not.
        wanted: Folds there should be.
    """

    summary: Summary | None
    done: int
    failed: int
    wanted: int

    def __str__(self) -> str:
        if self.summary is not None:
            return f"{100 * self.summary.mean:.1f} ± {100 * self.summary.std:.1f}"
        if self.failed:
            return f"{self.failed} of {self.wanted} folds failed"
        return f"{self.done} of {self.wanted} folds done"


@dataclass(frozen=True)
class Table:
    """Accuracies by one rule.

    Attributes:
        rule: How epochs were chosen.
        pools: The rows.
        datasets: The columns.
        cells: One for each row and column.
    """

    rule: Rule
    pools: tuple[str, ...]
    datasets: tuple[str, ...]
    cells: dict[tuple[str, str], Cell]

    @property
    def complete(self) -> bool:
        """Whether every cell has a mean."""
        return all(cell.summary is not None for cell in self.cells.values())

    def means(self) -> dict[str, dict[str, float]]:
        """Return the means by pooling and dataset, where there are any."""
        return {
            pool: {
                dataset: summary.mean
                for dataset in self.datasets
                if (summary := self.cells[pool, dataset].summary) is not None
            }
            for pool in self.pools
        }


def table_of(
    rule: Rule,
    records: Iterable[Record],
    *,
    pools: Sequence[str],
    datasets: Sequence[str],
    folds: int,
    seeds: Sequence[int],
) -> Table:
    """Lay out the records of one run; whose folds are not all there gets no mean."""
    by_cell: dict[tuple[str, str], list[Record]] = {
        (pool, dataset): [] for pool in pools for dataset in datasets
    }
    for record in records:
        by_cell[record.fold.pool, record.fold.dataset].append(record)
    cells = {place: _cell(rule, found, folds, seeds) for place, found in by_cell.items()}
    return Table(rule, tuple(pools), tuple(datasets), cells)


def _cell(rule: Rule, records: Sequence[Record], folds: int, seeds: Sequence[int]) -> Cell:
    failed = sum(record.outcome is None for record in records)
    done, wanted = len(records) - failed, folds * len(seeds)
    try:
        summary = summarise(scores_by(rule, records, folds=folds, seeds=seeds), rule)
    except IncompleteRunError:
        summary = None
    return Cell(summary, done, failed, wanted)
