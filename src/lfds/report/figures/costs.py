"""Accuracy against cost: time, parameters, and memory if it was measured."""

from collections.abc import Callable, Mapping
from math import ceil, floor, log10

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from lfds.report.figures.style import (
    INK,
    MUTED,
    WIDTH,
    Drawing,
    draw_legend,
    legend_height,
    margins,
    row_colors,
)
from lfds.report.formatting import file_name, interval
from lfds.report.ranking import Entry, Leaderboard
from lfds.report.series import Cost

Measure = Callable[[Cost], float | None]

_MOST_NAMES = 6
"""With more points than this, points are numbered, and a legend has the names."""

_LONGEST_NAME = 18
"""Most letters of a name that fits beside its point."""

_PANEL = 1.75
"""Inches of the height of a panel."""

_GAP = 0.5
"""Inches between two panels."""

LINE_HEIGHT = 0.07
"""Height of a line of text, as a fraction of a panel."""

_LETTER_WIDTH = 0.022
_POINT_RADIUS = 0.015

_MEASURES: Mapping[str, Measure] = {
    "seconds per fold": lambda cost: cost.seconds,
    "parameters": lambda cost: cost.parameters,
    "peak memory, MB": lambda cost: None if cost.memory is None else cost.memory / 1e6,
}


def draw_costs(board: Leaderboard, column: str) -> Drawing | None:
    """Draw one dataset, a panel per measure of cost; None if no row is complete."""
    entries = [entry for entry in board.column(column) if entry.summary is not None]
    if not entries:
        return None
    costs = [entry.series.cost for entry in entries]
    measures = {
        name: measure
        for name, measure in _MEASURES.items()
        if any(measure(cost) is not None for cost in costs)
    }
    rows = [entry.series.row for entry in entries]
    # Long names would reach beyond the panel.
    many = len(rows) > _MOST_NAMES or max(map(len, rows)) > _LONGEST_NAME
    names = {row: str(number) for number, row in enumerate(rows, 1)} if many else {}
    colors = row_colors(board.rows)
    legend = {row: colors[row] for row in rows} if many else {}
    below = legend_height(rows) if many else 0.05
    count = len(measures)
    figure = Figure(figsize=(WIDTH, below + 0.1 + _PANEL * count + _GAP * count))
    panels = figure.subplots(count, 1, sharey=True, squeeze=False)[:, 0]
    margins(figure, left=0.62, right=0.12, bottom=below + _GAP, top=0.1)
    figure.subplots_adjust(hspace=_GAP / _PANEL)
    tips: dict[str, list[str]] = {}
    for axes, (name, measure) in zip(panels, measures.items(), strict=True):
        axes.set_xlabel(name)
        axes.set_ylabel("test accuracy, %")
        axes.locator_params(axis="y", nbins=4)
        tips |= _draw_panel(axes, name, measure, entries, names, colors)
    draw_legend(figure, legend, numbered=True)
    text = "; ".join(f"{row} {cost}" for row, cost in zip(rows, costs, strict=True))
    return Drawing(
        file_name("costs", column, board.rule),
        f"Accuracy against cost on {column}, rule {board.rule}",
        f"Mean over folds: {text}.",
        figure,
        tips=tips,
    )


def _draw_panel(
    axes: Axes,
    name: str,
    measure: Measure,
    entries: list[Entry],
    names: Mapping[str, str],
    colors: Mapping[str, str],
) -> dict[str, list[str]]:
    points, tips = [], {}
    for place, entry in enumerate(entries):
        cost = measure(entry.series.cost)
        if cost is None or entry.summary is None:
            continue
        mean, low, high = interval(entry.summary)
        row = entry.series.row
        gid = f"tips-{name.split()[0]}-{place}"
        axes.vlines(cost, low, high, color=colors[row], linewidth=3, alpha=0.18)
        axes.scatter([cost], [mean], s=26, color=colors[row], linewidths=0, zorder=3, gid=gid)
        tips[gid] = [f"{row}: {mean:.1f} %, {name} {cost:,.4g}"]
        points.append((cost, mean, names.get(row, row)))
    _scale(axes, [cost for cost, _, _ in points], named=not names)
    _label(axes, points)
    return tips


def _scale(axes: Axes, costs: list[float], *, named: bool) -> None:
    """Use a logarithmic scale with plain numbers, and leave space for a name on the right."""
    if min(costs) <= 0:
        return
    axes.set_xscale("log")
    low, high = min(costs), max(costs)
    ratio = max(high / low, 2.0)
    axes.set_xlim(low / ratio**0.12, low * ratio ** (1.45 if named else 1.15))
    left, right = axes.get_xlim()
    ticks = log_ticks(left, right / ratio**0.12, most=5 if named else 3)
    axes.xaxis.set_major_locator(FixedLocator(ticks))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))
    axes.xaxis.set_minor_locator(NullLocator())


def log_ticks(low: float, high: float, most: int = 5) -> list[float]:
    """Return at least two round numbers as ticks of a logarithmic axis.

    >>> log_ticks(0.8, 12), log_ticks(33000, 90000), log_ticks(1, 1e6)
    ([1.0, 10.0], [50000.0, 70000.0], [1.0, 100.0, 10000.0, 1000000.0])
    """
    found: list[float] = []
    powers = range(floor(log10(low)), ceil(log10(high)) + 1)
    for digits in ((1,), (1, 2, 5), (1, 1.5, 2, 3, 5, 7), [1 + 0.1 * n for n in range(90)]):
        found = [d * 10.0**p for p in powers for d in digits if low <= d * 10.0**p <= high]
        if len(found) >= 2:
            break
    return found[:: -(-len(found) // most)]


def _label(axes: Axes, points: list[tuple[float, float, str]]) -> None:
    """Write every name beside its point, moved up or down if it would overlap something."""
    axes.set_ylim(*axes.get_ylim())
    to_panel = axes.transScale + axes.transLimits
    places = [tuple(map(float, to_panel.transform((cost, mean)))) for cost, mean, _ in points]
    taken = [(across - _POINT_RADIUS, across + _POINT_RADIUS, up) for across, up in places]
    for (cost, mean, row), (across, up) in sorted(
        zip(points, places, strict=True), key=lambda pair: -pair[1][1]
    ):
        start = across + 1.5 * _POINT_RADIUS
        name = (start, start + _LETTER_WIDTH * len(row))
        place = free_height(name, up, taken)
        taken.append((*name, place))
        axes.annotate(
            row,
            (cost, mean),
            xytext=(start, place),
            textcoords="axes fraction",
            va="center",
            fontsize=7.5,
            color=INK,
            arrowprops={"arrowstyle": "-", "color": MUTED, "linewidth": 0.4, "shrinkA": 0}
            if abs(place - up) > LINE_HEIGHT / 2
            else None,
        )


def free_height(
    name: tuple[float, float], up: float, taken: list[tuple[float, float, float]]
) -> float:
    """Return the height nearest to a point at which a name overlaps nothing.

    Args:
        name: Left and right end of the name, as fractions of the panel.
        up: Height of the point.
        taken: Left end, right end and height of everything drawn so far.

    >>> round(free_height((0.5, 0.6), 0.5, [(0.4, 0.6, 0.5)]), 2)
    0.43
    """
    start, end = name
    near = [height for first, last, height in taken if first < end and start < last]
    # Candidates are just above and below what is taken; of two equally near, the lower one.
    ends = [place for height in near for place in (height - LINE_HEIGHT, height + LINE_HEIGHT)]
    free = [
        place for place in [up, *ends] if all(abs(place - t) >= LINE_HEIGHT - 1e-9 for t in near)
    ]
    inside = [place for place in free if 0 <= place <= 1]
    return min(inside or free, key=lambda place: (round(abs(place - up), 9), place))
