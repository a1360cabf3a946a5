"""Figures as files and as part of a page: PNG, SVG, and SVG that takes the colours around it."""

import re
from html import escape
from io import BytesIO
from typing import Literal

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_svg import FigureCanvasSVG

from lfds.report.figures.style import ACCENT, FAINT, INK, MUTED, PAPER, Drawing

Kind = Literal["png", "svg"]
KINDS: tuple[Kind, ...] = ("png", "svg")
_VARIABLES = {INK: "ink", MUTED: "muted", FAINT: "faint", ACCENT: "accent", PAPER: "paper"}


def as_file(drawing: Drawing, kind: Kind) -> bytes:
    """Return a figure as a file, the same bytes for the same figure."""
    buffer = BytesIO()
    metadata: dict[str, str | None] = {"Title": drawing.title, "Description": drawing.about}
    # Canvases are asked directly: `savefig` draws everything once more, to measure.
    if kind == "svg":
        FigureCanvasSVG(drawing.figure).print_svg(
            buffer, metadata=metadata | {"Date": None, "Creator": None}
        )
    else:
        FigureCanvasAgg(drawing.figure).print_png(buffer, metadata=metadata | {"Software": None})
    return buffer.getvalue()


def inline(drawing: Drawing, key: str) -> str:
    """Return a figure as part of a page: named, described, in the colours of the page.

    Args:
        drawing: The figure.
        key: Sets its identifiers apart from those of other figures of the page.
    """
    drawing.figure.patch.set_visible(False)
    svg = as_file(drawing, "svg").decode()
    drawing.figure.patch.set_visible(True)
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>\s*|<!--.*?-->", "", svg, flags=re.DOTALL)
    used = set(re.findall(r'(?:xlink:href="#|url\(#)([^")]+)', svg))
    # Tags alone are changed: a number or a colour in a name stays as it is.
    svg = re.sub(r"<[^>]*>", lambda tag: _of_the_page(tag[0], key, used), svg)
    opening, rest = svg.split(">", 1)
    view = re.search(r'viewBox="[^"]*"', opening)
    assert view is not None
    return (
        f'<svg {view[0]} role="img" aria-labelledby="{key}-title {key}-about" '
        f'xmlns:xlink="http://www.w3.org/1999/xlink">'
        f'<title id="{key}-title">{escape(drawing.title)}</title>'
        f'<desc id="{key}-about">{escape(drawing.about)}</desc>{rest}'
    )


def _of_the_page(tag: str, key: str, used: set[str]) -> str:
    """Return a tag with the page's colours and letters, short numbers and identifiers of its own.

    >>> _of_the_page('<g id="a" x="1.23456" style="fill: #1d2329">', "k", set())
    '<g x="1.23" style="fill: var(--ink)">'
    """
    tag = re.sub(
        r'\sid="([^"]*)"', lambda name: f' id="{key}-{name[1]}"' if name[1] in used else "", tag
    )
    tag = re.sub(r'(xlink:href="#|url\(#)', lambda start: f"{start[1]}{key}-", tag)
    tag = re.sub(r"-?\d+\.\d{3,}", lambda number: f"{float(number[0]):.2f}", tag)
    for color, name in _VARIABLES.items():
        tag = tag.replace(color, f"var(--{name})")
    return re.sub(r"'DejaVu Sans'(, [^;\"]*)?", "system-ui, sans-serif", tag)
