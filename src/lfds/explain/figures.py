"""The figures of an atlas as PNG and SVG, in the colours of the page."""

import io
import re
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PatchCollection
from matplotlib.colors import LinearSegmentedColormap, to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Circle, Polygon
from numpy.typing import NDArray

from lfds.data.atomic_io import atomic_write
from lfds.explain.record import AtlasNumbers, GraphView, PoolView

PAPER, INK, MUTED = "#fbfaf7", "#1d232b", "#646b75"
EDGE, LOW, HIGH, NEGATIVE = "#c9c4ba", "#e9e6df", "#0b4a8f", "#b4531a"
_PALE = "#9fb3cd"
_TURN, _TILT = np.radians(35), np.radians(26)  # the first view of a cloud in the page

Values = NDArray[Any]


def write_figures(numbers: AtlasNumbers, folder: Path) -> list[Path]:
    """Write all figures: each shown graph, the usage of slots, and the maps of the classes.

    Args:
        numbers: What is drawn.
        folder: Where to; other files there are left alone.
    """
    written = []
    for place, pool in enumerate(numbers.pools):
        several = len(numbers.pools) > 1
        suffix = f"-{place}-{re.sub('[^a-z]', '', pool.name.lower())}" if several else ""
        for graph in numbers.graphs:
            name = f"graph-{graph.number:04d}{suffix}"
            written += write_figure(draw_landing(numbers, graph, place), folder, name)
        written += write_figure(draw_usage(numbers, pool), folder, f"usage{suffix}")
        if numbers.classes:
            written += write_figure(draw_class_maps(numbers, pool), folder, f"classes{suffix}")
    return written


def write_figure(figure: Figure, folder: Path, name: str) -> list[Path]:
    """Write a figure as PNG and as SVG; the same figure gives the same files."""
    written = []
    with mpl.rc_context({"svg.hashsalt": name, "svg.fonttype": "none"}):
        for suffix, metadata in (("png", {"Software": None}), ("svg", {"Date": None})):
            content = io.BytesIO()
            figure.savefig(
                content,
                format=suffix,
                dpi=150,
                metadata=metadata,
                bbox_inches="tight",
                pad_inches=0.2,
            )
            path = folder / f"{name}.{suffix}"
            atomic_write(path, content.getvalue())
            written.append(path)
    return written


def draw_landing(
    numbers: AtlasNumbers, graph: GraphView, place: int = 0, node: int | None = None
) -> Figure:
    """Draw a graph beside a structure.

    Args:
        numbers: Those of the atlas.
        graph: One of the graphs shown.
        place: Number of the structure.
        node: Whose shares to show; by default the mass of the whole graph, and what decided.
    """
    pool = numbers.pools[place]
    figure = new_figure(9, 4.9)
    left, right = figure.subplots(1, 2)
    shares = graph.shares[place]
    if node is None:
        output = numbers.output(graph)
        on_nodes, on_slots = graph.support(output), pool.mass[graph.number]
        words = (
            "support of each node (orange: against)",
            "fraction of the nodes; dots: effect (orange: against)",
        )
    else:
        on_nodes, on_slots = np.minimum(shares, shares[node]).sum(axis=1), shares[node]
        words = f"overlap with the slots of node {node}", f"shares of node {node}"
    draw_nodes(left, graph, on_nodes, node)
    draw_slots(right, pool, on_slots, whole=True)
    if node is None:
        draw_dots(right, pool, graph.slot_effects[place][:, output])
    most = largest(np.abs(on_nodes))
    scale = f"{most:.1%}" if numbers.classes or node is not None else f"{most:.3g}"
    add_title(left, _graph_title(numbers, graph), f"{words[0]}, up to {scale}")
    add_title(right, pool.drawing.title, f"{words[1]}, up to {largest(on_slots):.1%}")
    return figure


def draw_usage(numbers: AtlasNumbers, pool: PoolView) -> Figure:
    """Draw the mean mass of each slot, and below it the channels it wins, over all graphs."""
    figure = new_figure(9, 3.2)
    upper, lower = figure.subplots(2, 1, sharex=True)
    slots = np.arange(pool.num_slots)
    upper.bar(slots, pool.usage, color=HIGH)
    upper.axhline(1 / pool.num_slots, color=MUTED, linewidth=0.8, linestyle="--")
    upper.plot(slots[pool.idle], np.zeros(pool.idle.sum()), "x", color=MUTED, markersize=4)
    lower.bar(slots, pool.picked.mean(axis=0), color=_PALE)
    lower.invert_yaxis()
    for axes, words in ((upper, "mass"), (lower, "channels won")):
        axes.set_ylabel(words, color=MUTED)
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
        axes.tick_params(colors=MUTED, labelsize=8)
        axes.spines[:].set_visible(False)
        axes.set_facecolor(PAPER)
    mean = f"mean over {len(numbers.target)} graphs; dashed: mean mass; x: idle"
    add_title(upper, "Usage of the slots", mean)
    return figure


def draw_class_maps(numbers: AtlasNumbers, pool: PoolView) -> Figure:
    """Draw the mean mass of each slot for every class, on one scale."""
    maps = [numbers.class_map(pool, place) for place in range(len(numbers.classes))]
    top = max((largest(one) for one in maps if one is not None), default=1.0)
    columns = min(len(maps), 6)
    rows = -(-len(maps) // columns)
    figure = new_figure(1.7 * columns + 0.4, 2.1 * rows + 0.4)
    grid = figure.subplots(rows, columns, squeeze=False).ravel()
    for axes in grid[len(maps) :]:
        axes.axis("off")
    for place, (axes, one) in enumerate(zip(grid, maps, strict=False)):
        shown = np.zeros(pool.num_slots) if one is None else one
        draw_slots(axes, pool, shown, top)
        add_title(axes, numbers.classes[place], f"{len(numbers.members(place))} graphs")
    return figure


def new_figure(width: float, height: float) -> Figure:
    """Return an empty figure; width and height are in inches."""
    return Figure(figsize=(width, height), facecolor=PAPER, layout="constrained")


def largest(values: Values) -> float:
    """Return the largest value, which has the strongest colour; 0 without values."""
    return float(values.max(initial=0.0))


def draw_nodes(axes: Axes, graph: GraphView, values: Values, node: int | None) -> None:
    """Draw a graph, its nodes shaded by values; one of them may be marked."""
    positions = projected(graph.positions)
    axes.add_collection(
        LineCollection(list(positions[graph.edges]), colors=EDGE, linewidths=0.6, zorder=1)
    )
    area = float(np.clip(4500 / max(len(positions), 1), 8, 110))
    axes.scatter(
        positions[:, 0],
        positions[:, 1],
        s=area,
        c=_shades(values, largest(np.abs(values)), np.zeros(len(values), dtype=bool)),
        edgecolors=EDGE,
        linewidths=0.5,
        zorder=2,
    )
    if node is not None:
        x, y = positions[node]
        axes.scatter([x], [y], s=1.4 * area, c=HIGH, edgecolors=INK, linewidths=1.8, zorder=3)
    _frame(axes)


def draw_slots(
    axes: Axes, pool: PoolView, values: Values, top: float | None = None, *, whole: bool = False
) -> None:
    """Draw a structure, its slots shaded by values.

    Args:
        axes: Where to draw.
        pool: The structure.
        values: ``[slots]``.
        top: The value of the strongest colour; the largest by default.
        whole: Whether to draw all edges and the basis too.
    """
    drawing = pool.drawing
    if whole or len(drawing.edges) <= 2 * pool.num_slots:
        lines = drawing.positions[drawing.edges]
        axes.add_collection(
            LineCollection(list(lines), colors=EDGE, linewidths=0.3 + drawing.weights)
        )
    if drawing.outlines.size:
        shapes: list[Any] = [Polygon(outline) for outline in drawing.outlines]
    else:
        shapes = [Circle(position, drawing.size) for position in drawing.positions]
    colors = _shades(values, largest(values) if top is None else top, pool.idle)
    width = 0.5 if whole else 0.2
    axes.add_collection(
        PatchCollection(shapes, facecolors=colors, edgecolors=EDGE, linewidths=width, zorder=2)
    )
    if drawing.basis.size and whole:
        _draw_basis(axes, drawing.basis)
    _frame(axes)
    if drawing.basis.size and not whole:
        axes.set_xlim(-1.0, -0.86)
        axes.set_aspect("auto")


def draw_dots(axes: Axes, pool: PoolView, effects: Values) -> None:
    """Draw a dot on each slot, its area proportional to what the slot adds or takes away."""
    sizes = np.abs(effects)
    radii = 0.62 * pool.drawing.size * np.sqrt(sizes / max(largest(sizes), 1e-12))
    pairs = zip(pool.drawing.positions, radii, strict=True)
    dots = [Circle(position, radius) for position, radius in pairs]
    colors = [NEGATIVE if effect < 0 else INK for effect in effects]
    axes.add_collection(PatchCollection(dots, facecolors=colors, edgecolors="none", zorder=3))


def add_title(axes: Axes, title: str, below: str) -> None:
    """Write a title and a line of explanation; neither is parsed as a formula."""
    heading = axes.set_title(f"{title}\n", loc="left", fontsize=10, fontweight="bold", color=INK)
    heading.set_parse_math(False)
    text = axes.text(0, 1.01, below, transform=axes.transAxes, fontsize=8, color=MUTED, va="bottom")
    text.set_parse_math(False)


def projected(positions: Values) -> Values:
    """Project three coordinates to two: from the side, a little from above, as the page does."""
    if positions.shape[1] == 2:
        return positions
    x, y, z = positions.T
    across = x * np.cos(_TURN) - y * np.sin(_TURN)
    away = x * np.sin(_TURN) + y * np.cos(_TURN)
    far = max(float(np.linalg.norm(positions, axis=1).max(initial=0)), 1e-9)
    seen: Values = np.stack([across, z * np.cos(_TILT) + away * np.sin(_TILT)], axis=1) / far
    return seen


def _graph_title(numbers: AtlasNumbers, graph: GraphView) -> str:
    target = int(numbers.target[graph.number])
    return f"Graph {graph.number}" + (f", class {numbers.classes[target]}" if target >= 0 else "")


def _draw_basis(axes: Axes, basis: Values) -> None:
    colors = LinearSegmentedColormap.from_list("basis", [NEGATIVE, PAPER, HIGH])
    strongest = max(float(np.abs(basis).max()), 1e-12)
    axes.imshow(
        basis, cmap=colors, vmin=-strongest, vmax=strongest, extent=(-0.84, 1, -1, 1), aspect="auto"
    )


def _shades(values: Values, top: float, idle: Values) -> Values:
    """Colours from pale to strong; those of idle slots begin at the colour of the paper."""
    part = np.clip(np.abs(values) / top if top > 0 else np.zeros(len(values)), 0, 1)[:, None]
    low = np.where(idle[:, None], to_rgb(PAPER), to_rgb(LOW))
    high = np.where(values[:, None] < 0, to_rgb(NEGATIVE), to_rgb(HIGH))
    shades: Values = (1 - part) * low + part * high
    return shades


def _frame(axes: Axes) -> None:
    axes.set_xlim(-1.06, 1.06)
    axes.set_ylim(-1.06, 1.06)
    axes.set_aspect("equal")
    axes.axis("off")
