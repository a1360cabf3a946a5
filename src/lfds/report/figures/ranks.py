"""Critical-difference diagram: mean ranks on a line, bars join those without a difference."""

from collections.abc import Mapping
from math import ceil

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lfds.report.figures.style import (
    ACCENT,
    INK,
    MUTED,
    Drawing,
    annotate,
    label_width,
    row_colors,
    wrap_label,
)
from lfds.report.formatting import file_name, p_text
from lfds.report.ranking import ALPHA, Leaderboard
from lfds.results.ranks import Ranking

WIDTH = 4.6
"""Inches; names stand on both sides."""

_LETTERS = 18
"""Most letters in a line of a name."""

_STEP = 0.2
"""Inches of one unit of height, the height of a line of text."""

_NUMBER = 0.22
"""Inches that the number of a rank needs."""


def draw_ranks(board: Leaderboard) -> Drawing | None:
    """Draw the mean ranks of a leaderboard; None if there are none."""
    ranking = board.ranking
    if ranking is None:
        return None
    left_out = ", ".join(column for column in board.columns if column not in board.ranked)
    groups = "; ".join(", ".join(group) for group in ranking.groups) or "none"
    ranks = ", ".join(f"{pool} {place:.2f}" for pool, place in ranking.ranks.items())
    return Drawing(
        file_name("ranks", ranking.rule),
        f"Mean ranks over {ranking.datasets} datasets, rule {ranking.rule}",
        f"Mean ranks, 1 is best: {ranks}. Critical difference {ranking.critical_difference:.2f}. "
        f"Without a significant difference: {groups}.",
        plot_ranks(ranking, row_colors(board.rows)),
        f"Mean rank over {', '.join(board.ranked)}; 1 is best. Level {ALPHA}; Friedman's test: "
        f"p {p_text(ranking.friedman_p)}. Rule {ranking.rule}."
        + (f" Not every pooling is complete on the same folds on {left_out}." if left_out else ""),
    )


def plot_ranks(ranking: Ranking, colors: Mapping[str, str] | None = None) -> Figure:
    """Plot ranks with the best on the left and the critical difference above the line."""
    half = ceil(len(ranking.ranks) / 2)
    names = {pool: wrap_label(pool, _LETTERS, lines=3) for pool in ranking.ranks}
    most = max(name.count("\n") for name in names.values())
    step = 1.0 + 0.6 * most
    below = _bars_depth(ranking) + half * step + 0.4
    figure = Figure(figsize=(WIDTH, _STEP * (below + 4.0)))
    # The rank is printed between a name and the line.
    side = max(0.24, (label_width(names.values()) + 0.48) / WIDTH)
    axes = figure.add_axes((side, 0.0, 1 - 2 * side, 1.0))
    axes.set_xlim(1, len(ranking.ranks))
    axes.set_ylim(-below, 4.0)
    axes.set_axis_off()
    _draw_line(axes, len(ranking.ranks), (1 - 2 * side) * WIDTH)
    _draw_ruler(axes, ranking)
    _draw_bars(axes, ranking)
    _draw_labels(axes, ranking, names, step, colors or {})
    return figure


def _draw_line(axes: Axes, count: int, inches: float) -> None:
    axes.plot([1, count], [0, 0], color=MUTED, linewidth=0.8, clip_on=False)
    # Leave out numbers that would overlap.
    every = ceil(_NUMBER * (count - 1) / inches)
    for place in range(1, count + 1):
        axes.plot([place, place], [0, 0.35], color=MUTED, linewidth=0.8, clip_on=False)
        if (place - 1) % every == 0:
            axes.text(place, 0.55, str(place), ha="center", va="bottom", color=MUTED)


def _draw_ruler(axes: Axes, ranking: Ranking) -> None:
    """Draw the critical difference; with few datasets it is longer than the line."""
    reach = ranking.critical_difference
    height = 2.6
    axes.plot([1, 1 + reach], [height, height], color=ACCENT, linewidth=1.2, clip_on=False)
    for end in (1, 1 + reach):
        axes.plot([end, end], [height - 0.25, height + 0.25], color=ACCENT, clip_on=False)
    beyond = min(1 + reach, len(ranking.ranks))
    axes.text(
        (1 + beyond) / 2,
        height + 0.3,
        f"critical difference {reach:.2f}",
        ha="center",
        va="bottom",
        color=ACCENT,
    )


def _bars_depth(ranking: Ranking) -> float:
    return 0.5 + 0.5 * len(ranking.groups)


def _draw_bars(axes: Axes, ranking: Ranking) -> None:
    for number, group in enumerate(ranking.groups):
        first, last = ranking.ranks[group[0]], ranking.ranks[group[-1]]
        depth = -0.55 - 0.5 * number
        # The overhang makes a bar of a group of equal ranks.
        axes.plot(
            [first - 0.04, last + 0.04],
            [depth, depth],
            color=INK,
            linewidth=2.8,
            solid_capstyle="round",
            clip_on=False,
        )


def _draw_labels(
    axes: Axes,
    ranking: Ranking,
    names: Mapping[str, str],
    step: float,
    colors: Mapping[str, str],
) -> None:
    """Put the better half on the left and the others on the right, so that no lines cross."""
    top = -_bars_depth(ranking)
    pools = list(ranking.ranks)
    half = ceil(len(pools) / 2)
    for side, end, align, sign in (
        (pools[:half], 1.0, "right", -1),
        (pools[half:][::-1], float(len(pools)), "left", 1),
    ):
        for number, pool in enumerate(side):
            depth = top - 0.5 - number * step
            place = ranking.ranks[pool]
            axes.plot(
                [place, place, end],
                [0, depth, depth],
                color=colors.get(pool, MUTED),
                linewidth=1.0,
                clip_on=False,
            )
            for away, text in ((4, f"{place:.2f}"), (33, names[pool])):
                annotate(axes, text, (end, depth), (sign * away, 0), align)
