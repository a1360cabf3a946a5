"""The results table of a run by one rule: a row per pooling, a column per dataset."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from lfds.results.record import IncompleteRunError, Record, Rule
from lfds.results.rules import scores_by
from lfds.results.statistics import Summary, summarise


@dataclass(frozen=True)
class Cell:
    """One pooling on one dataset.

    Attributes:
        summary: Its accuracy; None if a fold is missing or failed.
        done: Number of completed folds.
        failed: Number of failed folds.
        wanted: Number of folds of the run.
    """

    summary: Summary | None
    done: int
    failed: int
    wanted: int

    def __str__(self) -> str:
        if self.summary is not None:
            return str(self.summary)
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

    def means(self) -> dict[str, dict[str, float]]:
        """Return the mean accuracies as ``means[pool][dataset]``, of complete cells."""
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
    """Arrange the records of one run by pooling and dataset; incomplete cells have no mean."""
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
