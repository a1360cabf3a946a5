"""Accuracy against what it costs: time, numbers learned, and memory where it was measured."""

from collections.abc import Callable, Mapping
from math import ceil, floor, log10

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from lfds.report.cost import Cost, cost_of
from lfds.report.figures.style import (
    INK,
    MUTED,
    WIDTH,
    Drawing,
    color_of,
    in_lines,
    margins,
    room_for,
)
from lfds.report.formatting import file_name, interval
from lfds.report.ranking import Entry, Leaderboard

Kind = Callable[[Cost], float | None]

_FEW = 6
"""Points that can be named where they are; more of them have numbers, and a key beside."""

_SHORT = 18
"""Letters of a name that fits beside its point."""

# A line and a letter of a name, and half a point, in shares of a panel.
_LINE = 0.07
_LETTER = 0.035
_DOT = 0.02

_KINDS: Mapping[str, Kind] = {
    "seconds for a fold": lambda cost: cost.seconds,
    "numbers learned": lambda cost: cost.parameters,
    "peak memory, MB": lambda cost: None if cost.memory is None else cost.memory / 1e6,
}


def draw_costs(standing: Leaderboard, column: str) -> Drawing | None:
    """Draw one dataset, a panel for each kind of cost; None where nothing is complete."""
    entries = [entry for entry in standing.column(column) if entry.summary is not None]
    if not entries:
        return None
    kinds = {name: kind for name, kind in _KINDS.items() if any(_known(entries, kind))}
    rows = [entry.series.row for entry in entries]
    # A long name would reach into the next panel.
    many = len(rows) > _FEW or max(map(len, rows)) > _SHORT
    names = {row: str(number) for number, row in enumerate(rows, 1)} if many else {}
    key = [in_lines(row) for row in rows]
    lines = sum(name.count("\n") + 1 for name in key)
    figure = Figure(figsize=(WIDTH, max(2.3, 0.9 + 0.14 * lines)))
    panels = figure.subplots(1, len(kinds), sharey=True, squeeze=False)[0]
    margins(figure, left=0.55, right=0.3 + room_for(key) * many, bottom=0.45, top=0.1)
    figure.subplots_adjust(wspace=0.12)
    for axes, (name, kind) in zip(panels, kinds.items(), strict=True):
        _draw_panel(axes, name, kind, entries, names)
    panels[0].set_ylabel("test accuracy, %")
    _draw_key(panels[-1], names)
    said = "; ".join(f"{e.series.row} {cost_of(e.series)}" for e in entries)
    return Drawing(
        file_name("costs", column, standing.rule),
        f"Accuracy against cost on {column}, rule {standing.rule}",
        f"Mean over folds: {said}.",
        figure,
    )


def _known(entries: list[Entry], kind: Kind) -> list[bool]:
    return [kind(cost_of(entry.series)) is not None for entry in entries]


def _draw_key(axes: Axes, names: Mapping[str, str]) -> None:
    """List beside the last panel which number is which row."""
    for place, (row, number) in enumerate(names.items()):
        height = 1 - (place + 0.5) / len(names)
        for shift, text, side in ((24, number, "right"), (29, in_lines(row), "left")):
            axes.annotate(
                text,
                (1, height),
                xycoords="axes fraction",
                xytext=(shift, 0),
                textcoords="offset points",
                ha=side,
                va="center",
                fontsize=7.5,
                color=INK,
            )


def _draw_panel(
    axes: Axes, name: str, kind: Kind, entries: list[Entry], names: Mapping[str, str]
) -> None:
    points = []
    for entry in entries:
        cost = kind(cost_of(entry.series))
        if cost is None or entry.summary is None:
            continue
        mean, low, high = interval(entry.summary)
        color = color_of(entry.mark)
        axes.vlines(cost, low, high, color=color, linewidth=3, alpha=0.18)
        axes.scatter([cost], [mean], s=22, color=color, linewidths=0, zorder=3)
        points.append((cost, mean, names.get(entry.series.row, entry.series.row)))
    _scale(axes, [cost for cost, _, _ in points], named=not names)
    axes.set_xlabel(name)
    _label(axes, points)


def _scale(axes: Axes, costs: list[float], *, named: bool) -> None:
    """Count in powers of ten, in plain figures; room is left for a name on the right."""
    if min(costs) <= 0:
        return
    axes.set_xscale("log")
    low, high = min(costs), max(costs)
    ratio = max(high / low, 2.0)
    axes.set_xlim(low / ratio**0.12, low * ratio ** (1.45 if named else 1.15))
    left, right = axes.get_xlim()
    # A long number at the very end would run into the next panel's first.
    ticks = few_ticks(left, right / ratio**0.12, most=5 if named else 3)
    axes.xaxis.set_major_locator(FixedLocator(ticks))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))
    axes.xaxis.set_minor_locator(NullLocator())


def few_ticks(low: float, high: float, most: int = 5) -> list[float]:
    """Return at least two round numbers of a range that is counted in powers of ten.

    >>> few_ticks(0.8, 12), few_ticks(33000, 90000), few_ticks(1, 1e6)
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
    """Write every name beside its point; where it would meet another or a point, it steps aside."""
    axes.set_ylim(*axes.get_ylim())
    to_share = axes.transScale + axes.transLimits
    places = [tuple(map(float, to_share.transform((cost, mean)))) for cost, mean, _ in points]
    taken = [(across - _DOT, across + _DOT, up) for across, up in places]
    for (cost, mean, row), (across, up) in sorted(
        zip(points, places, strict=True), key=lambda pair: -pair[1][1]
    ):
        start = across + 1.5 * _DOT
        name = (start, start + _LETTER * len(row))
        place = free_place(name, up, taken)
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
            if abs(place - up) > _LINE / 2
            else None,
        )


def free_place(
    name: tuple[float, float], up: float, taken: list[tuple[float, float, float]]
) -> float:
    """Return the height nearest to a point at which a name meets nothing.

    Args:
        name: Where it begins and ends, in shares of the panel.
        up: How high the point is, the same.
        taken: Beginning, end and height of everything that is there.

    >>> round(free_place((0.5, 0.6), 0.5, [(0.4, 0.6, 0.5)]), 2)
    0.43
    """
    start, end = name
    near = [there for first, last, there in taken if first < end and start < last]
    # Free places begin where a taken one ends; of two that are as near, the lower one.
    ends = [place for there in near for place in (there - _LINE, there + _LINE)]
    free = [place for place in [up, *ends] if all(abs(place - t) >= _LINE - 1e-9 for t in near)]
    inside = [place for place in free if 0 <= place <= 1]
    return min(inside or free, key=lambda place: (round(abs(place - up), 9), place))
