"""From the records of a whole run to one accuracy per fold, by a rule that is always named."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from lfds.results.errors import IncompleteRunError, ResultsError
from lfds.results.record import PROTOCOLS, Record, Rule

Scores = NDArray[np.float64]
"""Accuracies ``[seeds, folds]``."""


def scores_by(rule: Rule, records: Sequence[Record], *, folds: int, seeds: Sequence[int]) -> Scores:
    """Return the accuracy of every fold of every seed, ``[seeds, folds]``.

    Args:
        rule: How the epoch is chosen; it must be one of the protocol the records were made by.
        records: Of one dataset and one pooling, in any order.
        folds: How many folds there must be; each counts exactly once.
        seeds: Which seeds there must be.
    """
    grid = _complete(records, folds, seeds)
    for record in records:
        if rule not in PROTOCOLS[record.fold.protocol]:
            raise ResultsError(
                f"the rule {rule} says nothing of records made by the protocol "
                f"{record.fold.protocol}; choose from {', '.join(PROTOCOLS[record.fold.protocol])}"
            )
    return np.array([_CHOICES[rule](row) for row in grid])


def _complete(records: Sequence[Record], folds: int, seeds: Sequence[int]) -> list[list[Record]]:
    """Return the records as ``[seeds][folds]``, or refuse: half a run has no mean."""
    failed = [record for record in records if record.outcome is None]
    if failed:
        first = failed[0].fold
        raise IncompleteRunError(
            f"{len(failed)} of {folds * len(seeds)} folds of {first.pool} on {first.dataset} "
            f"failed, so that no mean can be given"
        )
    counts: dict[tuple[int, int], int] = {}
    for record in records:
        place = (record.fold.seed, record.fold.fold)
        counts[place] = counts.get(place, 0) + 1
    wanted = {(seed, fold) for seed in seeds for fold in range(folds)}
    if set(counts) != wanted or any(count != 1 for count in counts.values()):
        there = sum(place in wanted for place in counts)
        raise IncompleteRunError(
            f"each of {len(wanted)} folds must count once; {there} of them are there, "
            f"in {len(records)} records"
        )
    by_place = {(record.fold.seed, record.fold.fold): record for record in records}
    return [[by_place[seed, fold] for fold in range(folds)] for seed in seeds]


def _curves(row: Sequence[Record]) -> Scores:
    """Return the curves of test accuracy of the folds of one seed, ``[folds, epochs]``."""
    curves = [record.outcome.curve.test for record in row if record.outcome is not None]
    if len({len(curve) for curve in curves}) != 1:
        raise IncompleteRunError("the folds of one run must have been trained for as many epochs")
    return np.array(curves)


def _fair(row: Sequence[Record]) -> Scores:
    return np.array([record.outcome.accuracy for record in row if record.outcome is not None])


def _last(row: Sequence[Record]) -> Scores:
    return _curves(row)[:, -1]


def _common_best(row: Sequence[Record]) -> Scores:
    curves = _curves(row)
    # The earliest of equally good epochs, as argmax has it.
    return curves[:, curves.mean(axis=0).argmax()]


def _fold_best(row: Sequence[Record]) -> Scores:
    best: Scores = _curves(row).max(axis=1)
    return best


_CHOICES: Mapping[Rule, Callable[[Sequence[Record]], Scores]] = {
    "fair": _fair,
    "last": _last,
    "common-best": _common_best,
    "fold-best": _fold_best,
}
