"""Rows of a figure on strips: a name and a value on a line of their own, marks below them."""

from math import nan
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lfds.report.figures.style import INK, MUTED, WIDTH, margins, shorten

STEP = 0.4
"""Inches of a strip."""

_TEXT = 0.3
"""Height of the line of text above the marks, in strips."""


_MARKS = (-0.1, 0.4)
"""From where to where the marks of a strip reach, from its middle."""


def strips(count: int) -> tuple[Figure, Axes]:
    """Return a figure with ``count`` strips, the marks of which are at heights 0, 1, 2 ..."""
    figure = Figure(figsize=(WIDTH, 0.5 + STEP * count))
    axes = figure.add_subplot()
    axes.set_ylim(count - 0.6, -0.6)
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    margins(figure, left=0.12, right=0.12, bottom=0.44, top=0.04)
    return figure, axes


def reference_line(axes: Axes, across: float, count: int, **style: Any) -> None:
    """Draw a vertical line through the marks of all strips, interrupted where their text is."""
    heights = [place + at for place in range(count) for at in (*_MARKS, nan)]
    axes.plot([across] * len(heights), heights, color=MUTED, zorder=0, **style)


def write_row(
    axes: Axes, place: int, name: str, value: str, color: str, *, bold: bool = False
) -> None:
    """Write the name of a strip, with its colour, and a value."""
    weight = "bold" if bold else "normal"
    for across, text, align in (
        (0.035, shorten(name, 46 - len(value)), "left"),
        (1, value, "right"),
    ):
        axes.text(
            across,
            place - _TEXT,
            text,
            transform=axes.get_yaxis_transform(),
            ha=align,
            va="center",
            color=INK,
            weight=weight,
        )
    axes.plot(
        [0, 0.018],
        [place - _TEXT] * 2,
        transform=axes.get_yaxis_transform(),
        color=color,
        linewidth=4,
        solid_capstyle="butt",
        clip_on=False,
    )
