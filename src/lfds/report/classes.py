"""Results per class: confusion matrices, summed over folds, and what follows for every class."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lfds.report.ranking import Entry, Leaderboard
from lfds.results.record import Confusion, Rule

CONFUSION_RULES: tuple[Rule, ...] = ("fair", "last")
"""The rules whose epoch the recorded confusion matrices are of."""


@dataclass(frozen=True)
class ClassResults:
    """The confusion matrix of one row on one column, summed over folds and seeds.

    Attributes:
        classes: Names of the classes.
        counts: ``[classes, classes]``, true class and predicted class.
    """

    classes: tuple[str, ...]
    counts: NDArray[np.int64]

    @property
    def graphs(self) -> NDArray[np.int64]:
        """``[classes]``, the number of tested graphs of each class."""
        graphs: NDArray[np.int64] = self.counts.sum(axis=1)
        return graphs

    @property
    def recall(self) -> NDArray[np.float64]:
        """``[classes]``, the part of the graphs of a class that is predicted correctly, or NaN."""
        return _divided(np.diag(self.counts), self.graphs)

    @property
    def precision(self) -> NDArray[np.float64]:
        """``[classes]``, the part of the predictions of a class that is correct, or NaN."""
        return _divided(np.diag(self.counts), self.counts.sum(axis=0))


def class_results(entry: Entry, rule: Rule) -> ClassResults | None:
    """Return the results per class of a complete row; None if a record does not hold them."""
    found = [outcome.confusion for outcome in entry.series.outcomes]
    if rule not in CONFUSION_RULES or entry.summary is None or not found:
        return None
    known = [one for one in found if one is not None]
    if len(known) < len(found) or len({one.classes for one in known}) > 1:
        return None
    return ClassResults(known[0].classes, _total(known))


def class_table(board: Leaderboard, column: str) -> Mapping[str, ClassResults]:
    """Return the results per class of all rows of a column that have them, by row."""
    found = {e.series.row: class_results(e, board.rule) for e in board.column(column)}
    return {row: results for row, results in found.items() if results is not None}


def _total(matrices: list[Confusion]) -> NDArray[np.int64]:
    total: NDArray[np.int64] = np.sum([one.counts for one in matrices], axis=0, dtype=np.int64)
    return total


def _divided(part: NDArray[np.int64], whole: NDArray[np.int64]) -> NDArray[np.float64]:
    divided: NDArray[np.float64] = np.where(whole > 0, part / np.maximum(whole, 1), np.nan)
    return divided
