"""From the records of a complete run to one accuracy per fold, by a named rule."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from lfds.results.record import PROTOCOLS, IncompleteRunError, Outcome, Record, ResultsError, Rule

Scores = NDArray[np.float64]
"""Accuracies ``[seeds, folds]``."""


def scores_by(rule: Rule, records: Sequence[Record], *, folds: int, seeds: Sequence[int]) -> Scores:
    """Return the accuracy of every fold of every seed, ``[seeds, folds]``.

    Args:
        rule: How the epoch is chosen; a rule of the records' protocol.
        records: Of one dataset and one pooling, in any order; exactly one per fold and seed.
        folds: Expected number of folds.
        seeds: Expected seeds.

    Raises:
        IncompleteRunError: If a fold is missing, failed or duplicated.
    """
    grid = _complete(records, folds, seeds)
    for record in records:
        if rule not in PROTOCOLS[record.fold.protocol]:
            raise ResultsError(
                f"rule {rule} does not apply to records of protocol {record.fold.protocol}; "
                f"choose from {', '.join(PROTOCOLS[record.fold.protocol])}"
            )
    return np.array([_scores(rule, row) for row in grid])


def _complete(records: Sequence[Record], folds: int, seeds: Sequence[int]) -> list[list[Record]]:
    """Return the records as ``[seeds][folds]``; an incomplete run has no mean."""
    failed = [record for record in records if record.outcome is None]
    if failed:
        first = failed[0].fold
        raise IncompleteRunError(
            f"{len(failed)} of {folds * len(seeds)} folds of {first.pool} on {first.dataset} "
            f"failed, so there is no mean"
        )
    found = {(record.fold.seed, record.fold.fold): record for record in records}
    chosen = set(seeds)
    here = sum(seed in chosen and 0 <= fold < folds for seed, fold in found)
    # Counted, not listed: a record may claim a billion folds.
    if not here == len(found) == len(records) == folds * len(chosen):
        raise IncompleteRunError(
            f"each of {folds * len(chosen)} folds needs exactly one record; "
            f"found {here} of them in {len(records)} records"
        )
    return [[found[seed, fold] for fold in range(folds)] for seed in seeds]


def epochs_by(rule: Rule, outcomes: Sequence[Outcome]) -> list[int]:
    """Return the epoch, counted from 0, that a rule evaluates in each fold of one seed."""
    if rule == "fair":
        return [outcome.epoch or 0 for outcome in outcomes]
    curves = [outcome.curve.test for outcome in outcomes]
    if rule == "last":
        return [len(curve) - 1 for curve in curves]
    if rule == "fold-best":
        return [int(np.argmax(curve)) for curve in curves]
    # Of equally good epochs argmax returns the earliest.
    return [int(np.mean(curves, axis=0).argmax())] * len(curves)


def score_at(outcome: Outcome, epoch: int) -> float:
    """Return the test accuracy of a fold; under ``fair`` there is only one."""
    return outcome.curve.test[epoch] if outcome.accuracy is None else outcome.accuracy


def _scores(rule: Rule, records: Sequence[Record]) -> list[float]:
    outcomes = [record.outcome for record in records if record.outcome is not None]
    if len({len(outcome.curve.test) for outcome in outcomes}) != 1:
        raise IncompleteRunError("the folds of one run must have the same number of epochs")
    epochs = epochs_by(rule, outcomes)
    return [score_at(outcome, epoch) for outcome, epoch in zip(outcomes, epochs, strict=True)]
