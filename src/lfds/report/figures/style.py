"""How all figures look, and how they are saved: PNG, SVG, and SVG in the colours of a page.

The accent colour is for the best of a dataset and those not significantly worse; everything else is
grey. Shapes repeat it: filled is complete, hollow is not.
"""

import re
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from html import escape
from io import BytesIO
from textwrap import wrap
from typing import Any, Literal

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

INK = "#1d2329"
MUTED = "#68727c"
FAINT = "#d9dee2"
ACCENT = "#0b62a8"
PAPER = "#ffffff"
_CSS_VARIABLES = {INK: "ink", MUTED: "muted", FAINT: "faint", ACCENT: "accent", PAPER: "paper"}

WIDTH = 6.6
"""Inches; all figures are as wide as the text."""

FileType = Literal["png", "svg"]
FILE_TYPES: tuple[FileType, ...] = ("png", "svg")

_LABEL_LENGTH = 28
"""Most letters in one line of a label beside a figure."""

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
    **{f"{axis}tick.color": MUTED for axis in "xy"},
    **{f"{axis}tick.major.size": 3 for axis in "xy"},
    **{f"{axis}tick.major.width": 0.6 for axis in "xy"},
}


@dataclass(frozen=True)
class Drawing:
    """A figure with its texts.

    Attributes:
        name: File name without extension.
        title: One line.
        about: What the figure shows, for screen readers.
        figure: The figure of matplotlib.
        caption: Text below the figure on the page.
    """

    name: str
    title: str
    about: str
    figure: Figure
    caption: str = ""


@contextmanager
def styled() -> Iterator[None]:
    """Draw and save in this style; matplotlib's settings are restored afterwards."""
    with mpl.rc_context(_SETTINGS), warnings.catch_warnings():
        # Names may be in any script; a browser has glyphs that matplotlib's font lacks.
        warnings.filterwarnings("ignore", message="Glyph")
        yield


def margins(figure: Figure, *, left: float, right: float, bottom: float, top: float) -> None:
    """Set the margins around the panels, in inches.

    Matplotlib can measure them, but that takes most of the time of a drawing.
    """
    width, height = figure.get_size_inches()
    figure.subplots_adjust(
        left=left / width, right=1 - right / width, bottom=bottom / height, top=1 - top / height
    )


def wrap_label(text: str) -> str:
    r"""Return a label in at most two lines that fit beside a figure.

    >>> wrap_label("set-transformer (epochs 100, batch size 32)")
    'set-transformer (epochs 100,\nbatch size 32)'
    """
    return "\n".join(wrap(text, _LABEL_LENGTH, max_lines=2, placeholder="…") or [text])


def label_width(labels: Iterable[str]) -> float:
    """Return the width in inches of the longest line of some labels, with a gap."""
    lines = (line for label in labels for line in label.split("\n"))
    return 0.15 + 0.073 * min(_LABEL_LENGTH, max(map(len, lines), default=0))


def annotate(
    axes: Axes,
    text: str,
    point: tuple[float, float],
    offset: tuple[float, float],
    align: str,
    **options: Any,
) -> None:
    """Write text at an offset in typographic points from a point."""
    style = {"va": "center", "color": INK, **options}
    axes.annotate(text, point, offset, textcoords="offset points", ha=align, **style)


def color_of(mark: str) -> str:
    """Return the colour of a row by its mark."""
    return ACCENT if mark in ("best", "even") else MUTED


def as_file(drawing: Drawing, file_type: FileType) -> bytes:
    """Return a figure as a file; the same figure gives the same bytes."""
    buffer = BytesIO()
    metadata: dict[str, str | None] = {"Title": drawing.title, "Description": drawing.about}
    # Not `savefig`, which draws everything a second time to measure.
    if file_type == "svg":
        FigureCanvasSVG(drawing.figure).print_svg(
            buffer, metadata=metadata | {"Date": None, "Creator": None}
        )
    else:
        FigureCanvasAgg(drawing.figure).print_png(buffer, metadata=metadata | {"Software": None})
    return buffer.getvalue()


def as_html(drawing: Drawing) -> str:
    """Return a figure as SVG for an HTML page: with title, description and the page's colours."""
    drawing.figure.patch.set_visible(False)
    svg = as_file(drawing, "svg").decode()
    drawing.figure.patch.set_visible(True)
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>\s*|<!--.*?-->", "", svg, flags=re.DOTALL)
    used = set(re.findall(r'(?:xlink:href="#|url\(#)([^")]+)', svg))
    name = drawing.name
    # Only tags: a number or a colour in a text stays as it is.
    svg = re.sub(r"<[^>]*>", lambda tag: _adapt_tag(tag[0], name, used), svg)
    opening, rest = svg.split(">", 1)
    view = re.search(r'viewBox="[^"]*"', opening)
    assert view is not None
    return (
        f'<svg {view[0]} role="img" aria-labelledby="{name}-title {name}-about" '
        f'xmlns:xlink="http://www.w3.org/1999/xlink">'
        f'<title id="{name}-title">{escape(drawing.title)}</title>'
        f'<desc id="{name}-about">{escape(drawing.about)}</desc>{rest}'
    )


def _adapt_tag(tag: str, prefix: str, used: set[str]) -> str:
    """Return a tag with the page's colours and font, short numbers and unique identifiers.

    >>> _adapt_tag('<g id="a" x="1.23456" style="fill: #1d2329">', "k", set())
    '<g x="1.23" style="fill: var(--ink)">'
    """
    tag = re.sub(
        r'\sid="([^"]*)"', lambda name: f' id="{prefix}-{name[1]}"' if name[1] in used else "", tag
    )
    tag = re.sub(r'(xlink:href="#|url\(#)', lambda start: f"{start[1]}{prefix}-", tag)
    tag = re.sub(r"-?\d+\.\d{3,}", lambda number: f"{float(number[0]):.2f}", tag)
    for color, name in _CSS_VARIABLES.items():
        tag = tag.replace(color, f"var(--{name})")
    return re.sub(r"'DejaVu Sans'(, [^;\"]*)?", "system-ui, sans-serif", tag)
