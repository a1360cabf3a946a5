"""Graphs and structures drawn by matplotlib, in the colours of the page."""

import io
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
from lfds.explain.record import GraphView, PoolView

PAPER, INK, MUTED = "#fbfaf7", "#1d232b", "#646b75"
EDGE, LOW, HIGH, LESS = "#c9c4ba", "#e9e6df", "#0b4a8f", "#b4531a"
_TURN, _TILT = np.radians(35), np.radians(26)  # as the page looks at a cloud at first

Values = NDArray[Any]


def new_figure(width: float, height: float) -> Figure:
    """Return an empty figure of so many inches."""
    return Figure(figsize=(width, height), facecolor=PAPER, layout="constrained")


def write_figure(figure: Figure, folder: Path, name: str) -> list[Path]:
    """Write a figure as PNG and as SVG; the same figure gives the same files."""
    written = []
    with mpl.rc_context({"svg.hashsalt": name, "svg.fonttype": "none"}):
        for kind, metadata in (("png", {"Software": None}), ("svg", {"Date": None})):
            content = io.BytesIO()
            figure.savefig(
                content,
                format=kind,
                dpi=150,
                metadata=metadata,
                bbox_inches="tight",
                pad_inches=0.2,
            )
            path = folder / f"{name}.{kind}"
            atomic_write(path, content.getvalue())
            written.append(path)
    return written


def most(values: Values) -> float:
    """Return the largest value, of which the strongest colour tells."""
    return float(values.max(initial=0.0))


def draw_nodes(axes: Axes, graph: GraphView, values: Values, node: int | None) -> None:
    """Draw a graph, its nodes shaded by values; one of them may be marked."""
    places = flat(graph.xy)
    axes.add_collection(
        LineCollection(list(places[graph.edges]), colors=EDGE, linewidths=0.6, zorder=1)
    )
    area = float(np.clip(4500 / max(len(places), 1), 8, 110))
    axes.scatter(
        places[:, 0],
        places[:, 1],
        s=area,
        c=_shades(values, most(values), np.zeros(len(values), dtype=bool)),
        edgecolors=EDGE,
        linewidths=0.5,
        zorder=2,
    )
    if node is not None:
        x, y = places[node]
        axes.scatter([x], [y], s=1.4 * area, c=HIGH, edgecolors=INK, linewidths=1.8, zorder=3)
    _frame(axes)


def draw_slots(
    axes: Axes, pool: PoolView, values: Values, top: float | None = None, *, whole: bool = False
) -> None:
    """Draw a structure, its slots shaded by values.

    Args:
        axes: Where.
        pool: Which.
        values: ``[slots]``.
        top: The value of the strongest colour; the largest by default.
        whole: Whether to draw all edges and the basis too.
    """
    drawing = pool.drawing
    if whole or len(drawing.edges) <= 2 * pool.num_slots:
        lines = drawing.places[drawing.edges]
        axes.add_collection(
            LineCollection(list(lines), colors=EDGE, linewidths=0.3 + drawing.weights)
        )
    if drawing.outlines.size:
        shapes: list[Any] = [Polygon(outline) for outline in drawing.outlines]
    else:
        shapes = [Circle(place, drawing.size) for place in drawing.places]
    colors = _shades(values, most(values) if top is None else top, pool.idle)
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


def draw_dots(axes: Axes, pool: PoolView, picked: Values) -> None:
    """Put a dot on each slot whose area tells how many channels it has won."""
    radii = 0.62 * pool.drawing.size * np.sqrt(picked / max(most(picked), 1e-12))
    dots = [Circle(place, radius) for place, radius in zip(pool.drawing.places, radii, strict=True)]
    axes.add_collection(PatchCollection(dots, facecolors=INK, edgecolors="none", zorder=3))


def entitle(axes: Axes, title: str, below: str) -> None:
    """Write a title and a line of explanation; names are text, whatever they hold."""
    heading = axes.set_title(f"{title}\n", loc="left", fontsize=10, fontweight="bold", color=INK)
    heading.set_parse_math(False)
    text = axes.text(0, 1.01, below, transform=axes.transAxes, fontsize=8, color=MUTED, va="bottom")
    text.set_parse_math(False)


def flat(places: Values) -> Values:
    """Look at coordinates as the page does at first: from the side, a little from above."""
    if places.shape[1] == 2:
        return places
    x, y, z = places.T
    across = x * np.cos(_TURN) - y * np.sin(_TURN)
    away = x * np.sin(_TURN) + y * np.cos(_TURN)
    far = max(float(np.linalg.norm(places, axis=1).max(initial=0)), 1e-9)
    seen: Values = np.stack([across, z * np.cos(_TILT) + away * np.sin(_TILT)], axis=1) / far
    return seen


def _draw_basis(axes: Axes, basis: Values) -> None:
    colors = LinearSegmentedColormap.from_list("basis", [LESS, PAPER, HIGH])
    strongest = max(float(np.abs(basis).max()), 1e-12)
    axes.imshow(
        basis, cmap=colors, vmin=-strongest, vmax=strongest, extent=(-0.84, 1, -1, 1), aspect="auto"
    )


def _shades(values: Values, top: float, idle: Values) -> Values:
    """From pale to strong; what is idle begins at the colour of the paper."""
    part = np.clip(np.abs(values) / top if top > 0 else np.zeros(len(values)), 0, 1)[:, None]
    low = np.where(idle[:, None], to_rgb(PAPER), to_rgb(LOW))
    shades: Values = (1 - part) * low + part * np.array(to_rgb(HIGH))
    return shades


def _frame(axes: Axes) -> None:
    axes.set_xlim(-1.06, 1.06)
    axes.set_ylim(-1.06, 1.06)
    axes.set_aspect("equal")
    axes.axis("off")
