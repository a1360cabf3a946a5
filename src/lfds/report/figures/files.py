"""Figures as files and as part of a page: PNG, SVG, and SVG that takes the colours around it."""

import re
from html import escape
from io import BytesIO
from pathlib import Path

from lfds.report.figures.style import ACCENT, FAINT, INK, MUTED, PAPER, Drawing

_VARIABLES = {INK: "ink", MUTED: "muted", FAINT: "faint", ACCENT: "accent", PAPER: "paper"}


def as_file(drawing: Drawing, kind: str) -> bytes:
    """Return a figure as ``png`` or ``svg``, the same bytes for the same figure."""
    buffer = BytesIO()
    metadata = {"Title": drawing.title, "Description": drawing.about}
    if kind == "svg":
        metadata |= {"Date": None, "Creator": None}
    else:
        metadata |= {"Software": None}
    drawing.figure.savefig(buffer, format=kind, metadata=metadata)
    return buffer.getvalue()


def inline(drawing: Drawing, key: str) -> str:
    """Return a figure as part of a page: named, described, in the colours of the page.

    Args:
        drawing: The figure.
        key: Sets its identifiers apart from those of other figures of the page.
    """
    buffer = BytesIO()
    drawing.figure.savefig(buffer, format="svg", transparent=True)
    svg = buffer.getvalue().decode()
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>\s*", "", svg, flags=re.DOTALL)
    svg = _unique(svg, key)
    svg = re.sub(r"-?\d+\.\d{3,}", lambda number: f"{float(number[0]):.2f}", svg)
    for color, name in _VARIABLES.items():
        svg = svg.replace(color, f"var(--{name})")
    # The page's letters, not matplotlib's.
    svg = re.sub(r"'DejaVu Sans'(, [^;\"]*)?", "inherit", svg)
    opening, rest = svg.split(">", 1)
    view = re.search(r'viewBox="[^"]*"', opening)
    assert view is not None
    return (
        f'<svg {view[0]} role="img" aria-labelledby="{key}-title {key}-about" '
        f'xmlns:xlink="http://www.w3.org/1999/xlink">'
        f'<title id="{key}-title">{escape(drawing.title)}</title>'
        f'<desc id="{key}-about">{escape(drawing.about)}</desc>{rest}'
    )


def _unique(svg: str, key: str) -> str:
    """Prefix what is referred to, and drop the names nobody refers to."""
    used = set(re.findall(r'(?:xlink:href="#|url\(#)([^")]+)', svg))

    def rename(found: re.Match[str]) -> str:
        return f' id="{key}-{found[1]}"' if found[1] in used else ""

    svg = re.sub(r'\sid="([^"]*)"', rename, svg)
    return re.sub(r'(xlink:href="#|url\(#)', lambda found: f"{found[1]}{key}-", svg)
