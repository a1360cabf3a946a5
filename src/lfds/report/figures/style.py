"""How all figures look, and how they are saved: PNG, SVG, and SVG in the colours of a page.

Every pooling has one colour, the same in all figures and tables of a report. Figures are as wide as
a phone at a legible size of letters; a page puts several of them side by side.
"""

import json
import re
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from html import escape
from io import BytesIO
from textwrap import wrap
from typing import Any, Literal

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

INK = "#1d2329"
MUTED = "#68727c"
FAINT = "#d9dee2"
ACCENT = "#0b62a8"
PAPER = "#ffffff"
ROW_COLORS = (
    "#1f6fb5",
    "#c2570c",
    "#2e7d4f",
    "#8046a8",
    "#b0305c",
    "#0d7f8c",
    "#7d6113",
    "#4a5bb8",
)
"""One per row; further rows are grey."""

_CSS_VARIABLES = {
    INK: "ink",
    MUTED: "muted",
    FAINT: "faint",
    ACCENT: "accent",
    PAPER: "paper",
    **{color: f"row-{number}" for number, color in enumerate(ROW_COLORS)},
}

WIDTH = 3.8
"""Inches of most figures."""

FileType = Literal["png", "svg"]
FILE_TYPES: tuple[FileType, ...] = ("png", "svg")

_LABEL_LENGTH = 28
"""Most letters in one line of a label beside a figure."""

_LEGEND_LETTERS = 24
"""Most letters of a name in a legend of two columns."""

_LEGEND_STEP = 0.17
"""Inches between the lines of a legend."""

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
class Readings:
    """Lines over the same whole numbers, so that a page can show the values under the pointer.

    Attributes:
        unit: What is counted along the axis.
        first: The first number.
        lines: Name and values of each line; None where it has none.
    """

    unit: str
    first: int
    lines: Sequence[tuple[str, Sequence[float | None]]]


@dataclass(frozen=True)
class Drawing:
    """A figure with its texts.

    Attributes:
        name: File name without extension.
        title: One line.
        about: What the figure shows, for screen readers.
        figure: The figure of matplotlib.
        caption: Text below the figure on the page.
        tips: Texts that a page shows at the shapes of an artist, by the artist's ``gid``: one for
            each point of a collection.
        readings: The values of the lines of the first panel.
    """

    name: str
    title: str
    about: str
    figure: Figure
    caption: str = ""
    tips: Mapping[str, Sequence[str]] = field(default_factory=dict)
    readings: Readings | None = None


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


def wrap_label(text: str, letters: int = _LABEL_LENGTH, *, lines: int = 2) -> str:
    r"""Return a label in at most two lines that fit beside a figure.

    >>> wrap_label("set-transformer (epochs 100, batch size 32)")
    'set-transformer (epochs 100,\nbatch size 32)'
    """
    return "\n".join(wrap(text, letters, max_lines=lines, placeholder="…") or [text])


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


def row_colors(rows: Iterable[str]) -> dict[str, str]:
    """Return the colour of every row of a leaderboard.

    >>> row_colors(["max", "loop"])
    {'max': '#1f6fb5', 'loop': '#c2570c'}
    """
    rows = list(rows)
    return dict(zip(rows, [*ROW_COLORS, *[MUTED] * len(rows)], strict=False))


def mark_of(mark: str) -> str:
    """Return what stands behind an accuracy: a sign if it is significantly below the best."""
    return " \N{BLACK DOWN-POINTING SMALL TRIANGLE}" if mark == "behind" else ""


def legend_height(names: Sequence[str]) -> float:
    """Return the inches that :func:`draw_legend` needs below a figure."""
    return _LEGEND_STEP * -(-len(names) // _legend_columns(names)) + 0.08


def draw_legend(figure: Figure, names: Mapping[str, str], numbered: bool = False) -> None:
    """List names with their colours at the bottom of a figure.

    Args:
        figure: The figure, with space for it (:func:`legend_height`).
        names: Colours by name.
        numbered: Whether numbers stand before the names, and not lines.
    """
    width, height = figure.get_size_inches()
    columns = _legend_columns(list(names))
    lines = -(-len(names) // columns)
    for place, (name, color) in enumerate(names.items()):
        column, line = divmod(place, lines)
        across = 0.1 / width + column / columns
        up = (0.08 + _LEGEND_STEP * (lines - 0.5 - line)) / height
        if numbered:
            figure.text(
                across + 0.2 / width, up, str(place + 1), color=color, va="center", ha="right"
            )
        else:
            ends = [across, across + 0.2 / width]
            figure.add_artist(Line2D(ends, [up, up], color=color, linewidth=2.2))
        figure.text(across + 0.28 / width, up, shorten(name, 48 // columns), va="center", size=8)


def _legend_columns(names: Sequence[str]) -> int:
    return 2 if max(map(len, names), default=0) <= _LEGEND_LETTERS else 1


def shorten(name: str, most: int) -> str:
    """Return a name of at most some letters.

    >>> shorten("set-transformer", 8)
    'set-tra…'
    """
    return name if len(name) <= most else f"{name[: max(most - 1, 1)]}…"


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
    svg = _with_tips(svg, drawing.tips)
    svg = re.sub(r"<[^>]*>", lambda tag: _adapt_tag(tag[0], name, used), svg)
    opening, rest = svg.split(">", 1)
    view = re.search(r'viewBox="[^"]*"', opening)
    assert view is not None
    return (
        f'<svg {view[0]} role="img" aria-labelledby="{name}-title {name}-about" '
        f'{_readings(drawing)}xmlns:xlink="http://www.w3.org/1999/xlink">'
        f'<title id="{name}-title">{escape(drawing.title)}</title>'
        f'<desc id="{name}-about">{escape(drawing.about)}</desc>{rest}'
    )


def _with_tips(svg: str, tips: Mapping[str, Sequence[str]]) -> str:
    """Write a title into every shape of the groups that have tips: browsers show it on hover."""
    for gid, texts in tips.items():
        start = svg.find(f'<g id="{gid}">')
        end = _end_of_group(svg, start)
        waiting = iter(texts)

        def titled(shape: "re.Match[str]", waiting: Iterator[str] = waiting) -> str:
            text = next(waiting, None)
            if text is None:
                return shape[0]
            name = shape[0][1:].split(None, 1)[0]
            return f'{shape[0][:-2]} class="tip"><title>{escape(text)}</title></{name}>'

        # Shapes in definitions are drawn where they are used.
        defined, close, shapes = svg[start:end].rpartition("</defs>")
        body = defined + close + re.sub(r"<(?:use|path)\b[^>]*/>", titled, shapes)
        svg = svg[:start] + body + svg[end:]
    return svg


def _end_of_group(svg: str, start: int) -> int:
    depth = 0
    for tag in re.finditer(r"<g[ >]|</g>", svg[start:]):
        depth += -1 if tag[0] == "</g>" else 1
        if depth == 0:
            return start + tag.end()
    return len(svg)


def _readings(drawing: Drawing) -> str:
    """Return the values of lines, and where they are drawn, as an attribute."""
    found = drawing.readings
    if found is None:
        return ""
    width, height = (72 * inches for inches in drawing.figure.get_size_inches())
    panel = drawing.figure.axes[0]
    box, (low, high) = panel.get_position(), panel.get_xlim()
    data = {
        "unit": found.unit,
        "first": found.first,
        "axis": [round(box.x0 * width, 2), round(box.x1 * width, 2), low, high],
        "span": [round((1 - box.y1) * height, 2), round((1 - box.y0) * height, 2)],
        "lines": found.lines,
    }
    return f'data-readings="{escape(json.dumps(data, allow_nan=False))}" '


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
