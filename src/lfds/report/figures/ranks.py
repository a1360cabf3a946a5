"""The critical-difference diagram: mean ranks on a line, and bars over those not told apart."""

from collections.abc import Mapping
from math import ceil

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lfds.report.figures.style import ACCENT, INK, MUTED, WIDTH, Drawing, in_lines, room_for
from lfds.report.formatting import file_name
from lfds.results.ranks import Ranking

_STEP = 0.2
"""Inches of one unit of the diagram's height, which is what a line of a label takes."""

_NUMBER = 0.22
"""Inches that the number of a place needs."""


def draw_ranks(ranking: Ranking) -> Drawing:
    """Draw ranks with the best on the left, the critical difference as a ruler above the line."""
    half = ceil(len(ranking.ranks) / 2)
    names = {pool: in_lines(pool) for pool in ranking.ranks}
    step = 1.5 if any("\n" in name for name in names.values()) else 1.0
    below = _bars_depth(ranking) + half * step + 0.4
    figure = Figure(figsize=(WIDTH, _STEP * (below + 4.0)))
    # The rank stands between a name and the line.
    side = max(0.24, (room_for(names.values()) + 0.48) / WIDTH)
    axes = figure.add_axes((side, 0.0, 1 - 2 * side, 1.0))
    axes.set_xlim(1, len(ranking.ranks))
    axes.set_ylim(-below, 4.0)
    axes.set_axis_off()
    _draw_line(axes, len(ranking.ranks), (1 - 2 * side) * WIDTH)
    _draw_ruler(axes, ranking)
    _draw_bars(axes, ranking)
    _draw_labels(axes, ranking, names, step)
    groups = "; ".join(", ".join(group) for group in ranking.groups) or "none"
    ranks = ", ".join(f"{pool} {place:.2f}" for pool, place in ranking.ranks.items())
    return Drawing(
        file_name("ranks", ranking.rule),
        f"Mean ranks over {ranking.datasets} datasets, rule {ranking.rule}",
        f"Mean ranks, 1 is best: {ranks}. Critical difference {ranking.critical_difference:.2f}. "
        f"Not told apart: {groups}.",
        figure,
    )


def _draw_line(axes: Axes, count: int, inches: float) -> None:
    axes.plot([1, count], [0, 0], color=MUTED, linewidth=0.8, clip_on=False)
    # Where numbers would meet, not every place has one.
    every = ceil(_NUMBER * (count - 1) / inches)
    for place in range(1, count + 1):
        axes.plot([place, place], [0, 0.35], color=MUTED, linewidth=0.8, clip_on=False)
        if (place - 1) % every == 0:
            axes.text(place, 0.55, str(place), ha="center", va="bottom", color=MUTED)


def _draw_ruler(axes: Axes, ranking: Ranking) -> None:
    """Draw how far apart two ranks must be; with few datasets, farther than the line is long."""
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
        # A group of equal ranks is a point; the overhang makes it a bar.
        axes.plot(
            [first - 0.04, last + 0.04],
            [depth, depth],
            color=INK,
            linewidth=2.8,
            solid_capstyle="round",
            clip_on=False,
        )


def _draw_labels(axes: Axes, ranking: Ranking, names: Mapping[str, str], step: float) -> None:
    """Hang the better half on the left and the others on the right, so that no lines cross."""
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
                [place, place, end], [0, depth, depth], color=MUTED, linewidth=0.7, clip_on=False
            )
            for away, text in ((4, f"{place:.2f}"), (33, names[pool])):
                axes.annotate(
                    text,
                    (end, depth),
                    xytext=(sign * away, 0),
                    textcoords="offset points",
                    ha=align,
                    va="center",
                    color=INK,
                )
