"""Numbers and results as text, the same in pages, tables and figures."""

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence

from lfds.report.ranking import Entry, Leaderboard
from lfds.results.record import Record, Rule
from lfds.results.rules import epochs_by, score_at
from lfds.results.statistics import Summary

MINUS = "\N{MINUS SIGN}"


def interval(summary: Summary) -> tuple[float, float, float]:
    """Return the mean and the ends of its confidence interval in percent."""
    return 100 * summary.mean, 100 * summary.low, 100 * summary.high


def points(difference: float) -> str:
    """Return a difference of accuracies in percentage points, with its sign.

    >>> points(0.01), points(-0.0001)
    ('+1.0', '0.0')
    """
    rounded = round(100 * difference, 1)
    return f"{rounded:+.1f}".replace("-", MINUS) if rounded else "0.0"


def cell_text(entry: Entry) -> str:
    """Return the accuracy of an entry or, if it is incomplete, its progress."""
    series = entry.series
    if entry.summary is not None:
        return str(entry.summary)
    if series.failed:
        return f"{len(series.failed)} of {series.wanted} folds failed"
    if series.missing:
        return f"{len(series.done)} of {series.wanted} folds"
    return "no mean"


def p_text(p: float) -> str:
    """Return a p value as text.

    >>> p_text(0.0321), p_text(0.00001), p_text(1.0)
    ('0.032', '< 0.001', '1')
    """
    if p < 0.001:
        return "< 0.001"
    return f"{p:.3f}" if p < 0.9995 else "1"


def spans(numbers: Iterable[int]) -> str:
    """Return integers, consecutive ones as ranges.

    >>> spans([0, 1, 2, 5])
    '0 to 2, 5'
    """
    runs: list[list[int]] = []
    for number in sorted(numbers):
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ", ".join(f"{r[0]} to {r[-1]}" if len(r) > 1 else f"{r[0]}" for r in runs)


def folds_text(places: Mapping[int, Sequence[int]], folds: int) -> str:
    """Return folds by seed as text, counted from 1.

    >>> folds_text({0: [3, 4], 1: [0, 1, 2, 3, 4], 2: [1]}, 5)
    'seed 0: folds 4 to 5; seed 1: all 5 folds; seed 2: fold 2'
    """
    parts = []
    for seed, some in places.items():
        which = f"{'fold' if len(some) == 1 else 'folds'} {spans(fold + 1 for fold in some)}"
        parts.append(f"seed {seed}: " + (f"all {folds} folds" if len(some) == folds else which))
    return "; ".join(parts)


def places_of(records: Iterable[Record]) -> dict[int, list[int]]:
    """Return the folds of records by seed, counted from 0."""
    found: dict[int, list[int]] = {}
    for record in records:
        found.setdefault(record.fold.seed, []).append(record.fold.fold)
    return found


def describe_column(board: Leaderboard, column: str) -> str:
    """Return the accuracies of a column as a sentence."""
    marks = {"best": ", the best", "even": ", not significantly worse", "behind": "", "": ""}
    entries = board.column(column)
    return "; ".join(f"{e.series.row} {cell_text(e)}{marks[e.mark]}" for e in entries) + "."


def file_name(*parts: str) -> str:
    """Return a file name that is valid on every system; different parts give different names.

    >>> file_name("folds", "pc-graphs", "fair")
    'folds-pc-graphs-fair'
    >>> file_name("folds", "<b>/../x", "fair")
    'folds-b-x-fair-e5cefb'
    """
    name = "-".join(parts)
    plain = re.sub(r"[^A-Za-z0-9]+", "-", name)
    if plain == name:
        return name
    return f"{plain}-{hashlib.sha256(name.encode()).hexdigest()[:6]}"


def fold_names(entry: Entry) -> list[str]:
    """Return the name of every fold of :func:`fold_scores`, in the same order."""
    seeds = sorted(entry.series.seeds)
    if entry.scores is not None:
        return [
            _fold_name(seed, fold, seeds) for seed in seeds for fold in range(entry.series.folds)
        ]
    return [_fold_name(record.fold.seed, record.fold.fold, seeds) for record in entry.series.done]


def _fold_name(seed: int, fold: int, seeds: Sequence[int]) -> str:
    return f"fold {fold + 1}" + (f" of seed {seed}" if len(seeds) > 1 else "")


def listed(names: Sequence[str], most: int = 4, noun: str = "others") -> str:
    """Return names as a part of a sentence; only the first ones of many.

    >>> listed(["max", "loop", "image"]), listed(["a", "b", "c", "d", "e"], 4, "other poolings")
    ('max, loop and image', 'a, b, c and 2 other poolings')
    """
    if len(names) > most:
        names = [*names[: most - 1], f"{len(names) - most + 1} {noun}"]
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


def fold_scores(entry: Entry, rule: Rule) -> list[float]:
    """Return the accuracy of each completed fold; none if the rule needs all folds."""
    if entry.scores is not None:
        return [float(value) for value in entry.scores.ravel()]
    if rule == "common-best":
        return []
    outcomes = entry.series.outcomes
    epochs = epochs_by(rule, outcomes)
    return [score_at(outcome, epoch) for outcome, epoch in zip(outcomes, epochs, strict=True)]
