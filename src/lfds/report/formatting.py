"""Numbers and standings in words, the same wherever they are shown."""

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence

from lfds.report.ranking import Entry, Leaderboard
from lfds.results.record import Outcome, Record, Rule
from lfds.results.statistics import Summary

MINUS = "\N{MINUS SIGN}"


def percent(mean: float, std: float) -> str:
    """Return an accuracy as all tables show it.

    >>> percent(0.7123, 0.0154)
    '71.2 ± 1.5'
    """
    return f"{100 * mean:.1f} ± {100 * std:.1f}"


def interval(summary: Summary) -> tuple[float, float, float]:
    """Return the mean and the ends of its interval in percent."""
    return 100 * summary.mean, 100 * summary.low, 100 * summary.high


def points(difference: float) -> str:
    """Return a difference of accuracies in points, signed as in print.

    >>> points(0.01), points(-0.0001)
    ('+1.0', '0.0')
    """
    rounded = round(100 * difference, 1)
    return f"{rounded:+.1f}".replace("-", MINUS) if rounded else "0.0"


def cell_text(entry: Entry) -> str:
    """Return the accuracy of an entry, or how far it has come."""
    series = entry.series
    if entry.summary is not None:
        return percent(entry.summary.mean, entry.summary.std)
    if series.failed:
        return f"{len(series.failed)} of {series.wanted} folds failed"
    if series.missing:
        return f"{len(series.done)} of {series.wanted} folds"
    return "no mean"


def p_text(p: float) -> str:
    """Return a p value as people write it.

    >>> p_text(0.0321), p_text(0.00001), p_text(1.0)
    ('0.032', '< 0.001', '1')
    """
    if p < 0.001:
        return "< 0.001"
    return f"{p:.3f}" if p < 0.9995 else "1"


def spans(numbers: Iterable[int]) -> str:
    """Return whole numbers with neighbours joined.

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
    """Return folds by seed, the folds counted from 1 as everywhere else people read.

    >>> folds_text({0: [3, 4], 1: [0, 1, 2, 3, 4], 2: [1]}, 5)
    'seed 0: folds 4 to 5; seed 1: all 5 folds; seed 2: fold 2'
    """
    said = []
    for seed, some in places.items():
        which = f"{'fold' if len(some) == 1 else 'folds'} {spans(fold + 1 for fold in some)}"
        said.append(f"seed {seed}: " + (f"all {folds} folds" if len(some) == folds else which))
    return "; ".join(said)


def places_of(records: Iterable[Record]) -> dict[int, list[int]]:
    """Return the folds of some records, counted from 0, by seed."""
    found: dict[int, list[int]] = {}
    for record in records:
        found.setdefault(record.fold.seed, []).append(record.fold.fold)
    return found


def spoken(standing: Leaderboard, column: str) -> str:
    """Return the entries of a column in words."""
    told = {"best": ", the best", "even": ", not significantly worse", "behind": "", "": ""}
    entries = standing.column(column)
    return "; ".join(f"{e.series.row} {cell_text(e)}{told[e.mark]}" for e in entries) + "."


def file_name(*parts: str) -> str:
    """Return a name that every file system takes; other names give other files.

    >>> file_name("folds", "pc-graphs", "fair")
    'folds-pc-graphs-fair'
    >>> file_name("folds", "<b>/../x", "fair")
    'folds-b-x-fair-e5cefb'
    """
    whole = "-".join(parts)
    plain = re.sub(r"[^A-Za-z0-9]+", "-", whole)
    if plain == whole:
        return whole
    return f"{plain}-{hashlib.sha256(whole.encode()).hexdigest()[:6]}"


def seen_scores(entry: Entry, rule: Rule) -> list[float]:
    """Return the accuracies of the folds there are; of half a run only what each says alone."""
    if entry.scores is not None:
        return [float(value) for value in entry.scores.ravel()]
    if rule == "common-best":
        return []
    outcomes = [record.outcome for record in entry.series.done if record.outcome is not None]
    return [_alone(outcome, rule) for outcome in outcomes]


def _alone(outcome: Outcome, rule: Rule) -> float:
    if rule == "fair":
        assert outcome.accuracy is not None
        return outcome.accuracy
    test = outcome.curve.test
    return test[-1] if rule == "last" else max(test)
