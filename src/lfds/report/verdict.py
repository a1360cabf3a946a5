"""What follows from the numbers, in a sentence: who is ahead of whom, and on how many datasets."""

from collections.abc import Sequence
from dataclasses import dataclass

from lfds.config.registry import BASELINES
from lfds.report.formatting import listed, p_text, points
from lfds.report.ranking import ALPHA, Leaderboard, Pair

_SHOWN = 4
"""Rows that are named after the best one."""


@dataclass(frozen=True)
class Tally:
    """How one row compares with the reference, over the datasets on which both are complete.

    Attributes:
        row: The row.
        datasets: The number of datasets.
        ahead: On how many of them its mean is higher.
        significantly_ahead: On how many of these the difference is significant.
        significantly_behind: On how many datasets it is significantly worse.
        difference: Mean difference over the datasets.
    """

    row: str
    datasets: int
    ahead: int
    significantly_ahead: int
    significantly_behind: int
    difference: float

    @property
    def order(self) -> tuple[float, ...]:
        """Larger for a row that compares better."""
        balance = self.significantly_ahead - self.significantly_behind
        return (balance, self.ahead / self.datasets, self.difference)


def reference_row(board: Leaderboard) -> str | None:
    """Return the row that others are compared with: ``max``, else a baseline, else the first.

    It is one of those that can be compared on most datasets; None if there is nothing to compare.
    """
    compared = {
        row: sum(any(row in (p.first, p.second) for p in pairs) for pairs in board.pairs.values())
        for row in board.rows
    }
    if not any(compared.values()):
        return None
    pools = {row: pool for (row, _), pool in _pools(board).items()}

    def order(row: str) -> tuple[int, bool, bool]:
        return (-compared[row], pools[row] != "max", pools[row] not in BASELINES)

    return min(board.rows, key=order)


def against(board: Leaderboard, reference: str, column: str) -> dict[str, tuple[Pair, int]]:
    """Return the comparisons with a reference on a column: each other row minus the reference.

    The sign that comes with a pair turns it into this direction.
    """
    found: dict[str, tuple[Pair, int]] = {}
    for pair in board.pairs[column]:
        if pair.second == reference:
            found[pair.first] = (pair, 1)
        elif pair.first == reference:
            found[pair.second] = (pair, -1)
    return {row: found[row] for row in board.rows if row in found}


def tallies(board: Leaderboard, reference: str) -> list[Tally]:
    """Return how all other rows compare with a reference, the best first."""
    pairs: dict[str, list[tuple[float, bool]]] = {}
    for column in board.columns:
        for row, (pair, sign) in against(board, reference, column).items():
            found = (sign * pair.comparison.difference, pair.p < ALPHA)
            pairs.setdefault(row, []).append(found)
    made = [
        Tally(
            row,
            len(found),
            sum(difference > 0 for difference, _ in found),
            sum(difference > 0 and significant for difference, significant in found),
            sum(difference < 0 and significant for difference, significant in found),
            sum(difference for difference, _ in found) / len(found),
        )
        for row, found in pairs.items()
    ]
    return sorted(made, key=lambda tally: tally.order, reverse=True)


def verdict(board: Leaderboard) -> str:
    """Return what follows from the accuracies of a leaderboard."""
    reference = reference_row(board)
    if reference is None:
        return _alone(board)
    found = tallies(board, reference)
    if len(board.columns) == 1:
        return _on_one_dataset(board, reference, found)
    best, *others = found
    text = f"{best.row} is ahead of {reference} {_counted(best)}"
    shown = others if len(others) <= _SHOWN else others[: _SHOWN - 1]
    text += "".join(f"; {tally.row} {_counted(tally, short=True)}" for tally in shown)
    if len(others) > len(shown):
        text += f"; {len(others) - len(shown)} others compare worse"
    return f"{text}."


def _counted(tally: Tally, *, short: bool = False) -> str:
    if tally.datasets == 1:
        on = "on the one dataset that both completed" if tally.ahead else "on no dataset"
    else:
        on = f"on {tally.ahead} of {tally.datasets}" + ("" if short else " datasets")
    text = f"{on}, significantly on {tally.significantly_ahead or 'none'}"
    if tally.significantly_behind:
        text += f" (significantly behind on {tally.significantly_behind})"
    return text


def _on_one_dataset(board: Leaderboard, reference: str, found: Sequence[Tally]) -> str:
    column = board.columns[0]
    pairs = against(board, reference, column)
    parts = []
    for tally in found:
        pair, sign = pairs[tally.row]
        difference = sign * pair.comparison.difference
        sure = "" if pair.p < ALPHA else "not "
        side = (
            "level with"
            if points(difference) == "0.0"
            else "ahead of"
            if difference > 0
            else "behind"
        )
        by = "" if side == "level with" else f" by {points(abs(difference)).lstrip('+')} points"
        parts.append(
            f"{tally.row} is {side} {reference}{by}, {sure}significantly (p {p_text(pair.p)})"
        )
    return f"On {column}, {listed(parts, 3, 'other poolings are further behind')}."


def _alone(board: Leaderboard) -> str:
    complete = [entry for entry in board.entries.values() if entry.summary is not None]
    if len(board.rows) == 1 and complete:
        texts = [f"{entry.summary} % on {entry.series.column}" for entry in complete]
        reached = listed(texts, 4, "further datasets")
        return f"{board.rows[0]} reaches {reached}; there is nothing to compare it with."
    return "No two poolings are complete on the same folds: there is nothing to compare yet."


def _pools(board: Leaderboard) -> dict[tuple[str, str], str]:
    return {place: entry.series.pool for place, entry in board.entries.items()}
