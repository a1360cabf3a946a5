"""Accuracy against what it costs: time, numbers learned, and memory where it was measured."""

from collections.abc import Callable, Mapping
from math import ceil, floor, log10

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from lfds.report.cost import Cost, cost_of
from lfds.report.figures.style import INK, MUTED, WIDTH, Drawing, color_of, margins
from lfds.report.standing import Entry, Standing
from lfds.report.words import file_name, interval

Kind = Callable[[Cost], float | None]

# A line and a letter of a name, in shares of a panel.
_LINE = 0.09
_LETTER = 0.026

_KINDS: Mapping[str, Kind] = {
    "seconds for a fold": lambda cost: cost.seconds,
    "numbers learned": lambda cost: cost.parameters,
    "peak memory, MB": lambda cost: None if cost.memory is None else cost.memory / 1e6,
}


def draw_costs(standing: Standing, column: str) -> Drawing | None:
    """Draw one dataset, a panel for each kind of cost; None where nothing is complete."""
    entries = [entry for entry in standing.column(column) if entry.summary is not None]
    if not entries:
        return None
    kinds = {name: kind for name, kind in _KINDS.items() if any(_known(entries, kind))}
    figure = Figure(figsize=(WIDTH, max(2.3, 0.9 + 0.14 * len(entries))))
    panels = figure.subplots(1, len(kinds), sharey=True, squeeze=False)[0]
    for axes, (name, kind) in zip(panels, kinds.items(), strict=True):
        _draw_panel(axes, name, kind, entries)
    panels[0].set_ylabel("test accuracy, %")
    margins(figure, left=0.55, right=0.3, bottom=0.45, top=0.1)
    figure.subplots_adjust(wspace=0.12)
    said = "; ".join(f"{e.series.row} {cost_of(e.series)}" for e in entries)
    return Drawing(
        file_name("costs", column, standing.rule),
        f"Accuracy against cost on {column}, rule {standing.rule}",
        f"Mean over folds: {said}.",
        figure,
    )


def _known(entries: list[Entry], kind: Kind) -> list[bool]:
    return [kind(cost_of(entry.series)) is not None for entry in entries]


def _draw_panel(axes: Axes, name: str, kind: Kind, entries: list[Entry]) -> None:
    points = []
    for entry in entries:
        cost = kind(cost_of(entry.series))
        if cost is None or entry.summary is None:
            continue
        mean, low, high = interval(entry.summary)
        color = color_of(entry.mark)
        axes.vlines(cost, low, high, color=color, linewidth=3, alpha=0.18)
        axes.scatter([cost], [mean], s=22, color=color, linewidths=0, zorder=3)
        points.append((cost, mean, entry.series.row))
    _scale(axes, [cost for cost, _, _ in points])
    axes.set_xlabel(name)
    _label(axes, points)


def _scale(axes: Axes, costs: list[float]) -> None:
    """Count in powers of ten, in plain figures; room is left for a name on the right."""
    if min(costs) <= 0:
        return
    axes.set_xscale("log")
    low, high = min(costs), max(costs)
    ratio = max(high / low, 2.0)
    axes.set_xlim(low / ratio**0.12, low * ratio**1.45)
    axes.xaxis.set_major_locator(FixedLocator(few_ticks(*axes.get_xlim())))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))
    axes.xaxis.set_minor_locator(NullLocator())


def few_ticks(low: float, high: float) -> list[float]:
    """Return two to five round numbers of a range that is counted in powers of ten.

    >>> few_ticks(0.8, 12), few_ticks(33000, 90000), few_ticks(1, 1e6)
    ([1.0, 10.0], [50000.0, 70000.0], [1.0, 100.0, 10000.0, 1000000.0])
    """
    found: list[float] = []
    powers = range(floor(log10(low)), ceil(log10(high)) + 1)
    for digits in ((1,), (1, 2, 5), (1, 1.5, 2, 3, 5, 7), [1 + 0.1 * n for n in range(90)]):
        found = [d * 10.0**p for p in powers for d in digits if low <= d * 10.0**p <= high]
        if len(found) >= 2:
            break
    return found[:: -(-len(found) // 5)]


def _label(axes: Axes, points: list[tuple[float, float, str]]) -> None:
    """Write every name beside its point; where names would meet, the lower one steps down."""
    axes.set_ylim(*axes.get_ylim())
    to_share = axes.transScale + axes.transLimits
    taken: list[tuple[float, float]] = []
    for cost, mean, row in sorted(points, key=lambda point: -point[1]):
        across, up = to_share.transform((cost, mean))
        place = free_place((float(across), float(up)), taken, _LETTER * len(row))
        taken.append((float(across), place))
        axes.annotate(
            row,
            (cost, mean),
            xytext=(across + 0.03, place),
            textcoords="axes fraction",
            va="center",
            fontsize=7.5,
            color=INK,
            arrowprops={"arrowstyle": "-", "color": MUTED, "linewidth": 0.4, "shrinkA": 0}
            if abs(place - up) > _LINE / 2
            else None,
        )


def free_place(point: tuple[float, float], taken: list[tuple[float, float]], width: float) -> float:
    """Return the height nearest below a point at which a name meets none of those taken.

    Args:
        point: Across and up, in shares of the panel.
        taken: The same of the names that are there.
        width: Of the widest name, in shares of the panel.

    >>> round(free_place((0.5, 0.5), [(0.5, 0.5)], 0.2), 2)
    0.41
    """
    across, up = point
    near = [there for start, there in taken if abs(start - across) < max(width, 0.2)]
    while any(abs(there - up) < _LINE - 1e-9 for there in near):
        up = min(there for there in near if abs(there - up) < _LINE - 1e-9) - _LINE
    return up
