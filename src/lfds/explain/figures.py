"""The figures of an atlas as PNG and SVG, from the same numbers as the page."""

import re
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from lfds.explain.matplotlib_render import (
    HIGH,
    MUTED,
    PAPER,
    draw_dots,
    draw_nodes,
    draw_slots,
    entitle,
    most,
    new_figure,
    write_figure,
)
from lfds.explain.record import AtlasNumbers, GraphView, PoolView

_PALE = "#9fb3cd"


def write_figures(numbers: AtlasNumbers, folder: Path) -> list[Path]:
    """Write all figures: each shown graph, slot usage, and the maps of the classes.

    Args:
        numbers: What is drawn.
        folder: Where to; other files there are left alone.
    """
    written = []
    for place, pool in enumerate(numbers.pools):
        several = len(numbers.pools) > 1
        ending = f"-{place}-{re.sub('[^a-z]', '', pool.name.lower())}" if several else ""
        for graph in numbers.graphs:
            name = f"graph-{graph.number:04d}{ending}"
            written += write_figure(draw_landing(numbers, graph, place), folder, name)
        written += write_figure(draw_usage(numbers, pool), folder, f"usage{ending}")
        if numbers.classes:
            written += write_figure(draw_class_maps(numbers, pool), folder, f"classes{ending}")
    return written


def draw_landing(
    numbers: AtlasNumbers, graph: GraphView, place: int = 0, node: int | None = None
) -> Figure:
    """Draw a graph beside the structure.

    Args:
        numbers: Those of the atlas.
        graph: One of the graphs shown.
        place: Which structure.
        node: Whose shares to show; without it the mass of the whole graph, and what decided.
    """
    pool = numbers.pools[place]
    figure = new_figure(9, 4.9)
    left, right = figure.subplots(1, 2)
    shares = graph.shares[place]
    if node is None:
        on_nodes, on_slots = graph.deciding[place], pool.mass[graph.number]
        words = "how much each node decided", "part of the graph's nodes; dots: channels won"
    else:
        on_nodes, on_slots = np.minimum(shares, shares[node]).sum(axis=1), shares[node]
        words = f"lands where node {node} lands", f"shares of node {node}"
    draw_nodes(left, graph, on_nodes, node)
    draw_slots(right, pool, on_slots, whole=True)
    if node is None:
        draw_dots(right, pool, pool.picked[graph.number])
    entitle(left, _graph_title(numbers, graph), f"{words[0]}, up to {most(on_nodes):.1%}")
    entitle(right, pool.drawing.words, f"{words[1]}, up to {most(on_slots):.1%}")
    return figure


def draw_usage(numbers: AtlasNumbers, pool: PoolView) -> Figure:
    """Draw what each slot receives, and below it what it wins, over all graphs."""
    figure = new_figure(9, 3.2)
    upper, lower = figure.subplots(2, 1, sharex=True)
    slots = np.arange(pool.num_slots)
    upper.bar(slots, pool.usage, color=HIGH)
    upper.axhline(1 / pool.num_slots, color=MUTED, linewidth=0.8, linestyle="--")
    upper.plot(slots[pool.idle], np.zeros(pool.idle.sum()), "x", color=MUTED, markersize=4)
    lower.bar(slots, pool.picked.mean(axis=0), color=_PALE)
    lower.invert_yaxis()
    for axes, words in ((upper, "received"), (lower, "channels won")):
        axes.set_ylabel(words, color=MUTED)
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
        axes.tick_params(colors=MUTED, labelsize=8)
        axes.spines[:].set_visible(False)
        axes.set_facecolor(PAPER)
    mean = f"mean over {len(numbers.target)} graphs; dashed: even share; x: idle"
    entitle(upper, "How the slots are used", mean)
    return figure


def draw_class_maps(numbers: AtlasNumbers, pool: PoolView) -> Figure:
    """Draw where the graphs of each class land, on one scale."""
    maps = [numbers.class_map(pool, place) for place in range(len(numbers.classes))]
    top = max((most(one) for one in maps if one is not None), default=1.0)
    columns = min(len(maps), 6)
    rows = -(-len(maps) // columns)
    figure = new_figure(1.7 * columns + 0.4, 2.1 * rows + 0.4)
    grid = figure.subplots(rows, columns, squeeze=False).ravel()
    for axes in grid[len(maps) :]:
        axes.axis("off")
    for place, (axes, one) in enumerate(zip(grid, maps, strict=False)):
        shown = np.zeros(pool.num_slots) if one is None else one
        draw_slots(axes, pool, shown, top)
        entitle(axes, numbers.classes[place], f"{len(numbers.members(place))} graphs")
    return figure


def _graph_title(numbers: AtlasNumbers, graph: GraphView) -> str:
    target = int(numbers.target[graph.number])
    return f"Graph {graph.number}" + (f", class {numbers.classes[target]}" if target >= 0 else "")
