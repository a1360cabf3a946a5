"""How all figures look: quiet lines, text as text, and one colour that means something.

The accent is for the best of a dataset and for what is not significantly worse; everything else is
grey. Shapes say the same as colours: filled is complete, hollow is not.
"""

import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from textwrap import wrap
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

INK = "#1d2329"
MUTED = "#68727c"
FAINT = "#d9dee2"
ACCENT = "#0b62a8"
PAPER = "#ffffff"

WIDTH = 6.6
"""Inches; all figures are as wide as the text."""

_LETTERS = 28
"""Of a line beside a figure, at most."""

_SETTINGS: dict[Any, Any] = {
    "axes.edgecolor": MUTED,
    "axes.labelcolor": MUTED,
    "axes.linewidth": 0.6,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlelocation": "left",
    "axes.titlesize": 9,
    "figure.facecolor": PAPER,
    "axes.facecolor": "none",
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 8.5,
    "figure.dpi": 160,
    "svg.fonttype": "none",
    "svg.hashsalt": "lfds",
    "text.color": INK,
    "text.parse_math": False,
    "xtick.color": MUTED,
    "xtick.major.size": 3,
    "xtick.major.width": 0.6,
    "ytick.color": MUTED,
    "ytick.major.size": 3,
    "ytick.major.width": 0.6,
}


@dataclass(frozen=True)
class Drawing:
    """A figure and what it says in words.

    Attributes:
        name: Of its file, without an ending.
        title: One line.
        about: What is to be seen, for those who cannot see it.
        figure: Matplotlib's.
    """

    name: str
    title: str
    about: str
    figure: Figure


@contextmanager
def styled() -> Iterator[None]:
    """Draw and save in this style, and leave everybody else's as it was."""
    with mpl.rc_context(_SETTINGS), warnings.catch_warnings():
        # Names may be in any script; a browser has letters that matplotlib's font lacks.
        warnings.filterwarnings("ignore", message="Glyph")
        yield


def margins(figure: Figure, *, left: float, right: float, bottom: float, top: float) -> None:
    """Leave room around the panels, in inches.

    Matplotlib can measure instead, but takes most of the time of a drawing to do so.
    """
    width, height = figure.get_size_inches()
    figure.subplots_adjust(
        left=left / width, right=1 - right / width, bottom=bottom / height, top=1 - top / height
    )


def in_lines(text: str) -> str:
    r"""Return a name in two lines at most, each of which has room beside a figure.

    >>> in_lines("learned-spectral (epochs 100, batch size 32)")
    'learned-spectral (epochs\n100, batch size 32)'
    """
    return "\n".join(wrap(text, _LETTERS, max_lines=2, placeholder="…") or [text])


def room_for(texts: Iterable[str]) -> float:
    """Return the inches that the longest line of some texts needs, a gap included."""
    lines = (line for text in texts for line in text.split("\n"))
    return 0.15 + 0.073 * min(_LETTERS, max(map(len, lines), default=0))


def color_of(mark: str) -> str:
    """Return the colour of a row by its standing."""
    return ACCENT if mark in ("best", "even") else MUTED


def only_bottom(axes: Axes) -> None:
    """Leave an axes no line but the one at its foot."""
    axes.spines["left"].set_visible(False)
    axes.tick_params(axis="y", length=0)
