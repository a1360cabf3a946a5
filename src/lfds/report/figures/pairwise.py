"""Pairwise comparison: differences of all rows, significant ones shaded."""

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from lfds.report.figures.style import (
    ACCENT,
    FAINT,
    INK,
    MUTED,
    PAPER,
    Drawing,
    label_width,
    margins,
    wrap_label,
)
from lfds.report.formatting import file_name, points
from lfds.report.ranking import ALPHA, Leaderboard, Pair

WIDTH = 6.6
"""Inches of this figure; a page has a table instead."""

_CELL_WIDTH = 0.36
"""Inches that a number of the usual font size needs."""


def draw_pairs(board: Leaderboard, column: str) -> Drawing | None:
    """Draw the matrix of one dataset; None if no two rows can be compared."""
    pairs = board.pairs[column]
    if not pairs:
        return None
    rows = [row for row in board.rows if any(row in (p.first, p.second) for p in pairs)]
    size = len(rows)
    names = [wrap_label(row) for row in rows]
    left = label_width(names)
    # Names wider than their columns are rotated.
    width = (WIDTH - left - 0.1) / size
    rotated = left > width
    top = left if rotated else 0.5
    figure = Figure(figsize=(WIDTH, 0.1 + top + 0.3 * size))
    margins(figure, left=left, right=0.1, bottom=0.1, top=top)
    axes = figure.add_subplot()
    axes.set_xlim(-0.5, size - 0.5)
    axes.set_ylim(size - 0.5, -0.5)
    axes.set_xticks(range(size), names, rotation=90 if rotated else 0)
    axes.set_yticks(range(size), names)
    axes.tick_params(length=0, labelcolor=INK, labeltop=True, labelbottom=False)
    for spine in axes.spines.values():
        spine.set_visible(False)
    for pair in pairs:
        first, second = rows.index(pair.first), rows.index(pair.second)
        _draw_cell(axes, (first, second), pair, 1)
        _draw_cell(axes, (second, first), pair, -1)
    for text in [*axes.texts, *(axes.get_xticklabels() if rotated else [])]:
        text.set_fontsize(min(8.5, 8.5 * width / _CELL_WIDTH))
    significant = "; ".join(
        f"{p.first} {points(p.comparison.difference)} against {p.second}"
        for p in pairs
        if p.p < ALPHA
    )
    return Drawing(
        file_name("pairs", column, board.rule),
        f"Row minus column in percentage points on {column}, rule {board.rule}",
        f"Significant differences: {significant or 'none'}.",
        figure,
    )


def _draw_cell(axes: Axes, place: tuple[int, int], pair: Pair, sign: int) -> None:
    down, across = place
    significant = pair.p < ALPHA
    difference = sign * pair.comparison.difference
    if significant:
        shade = ACCENT if difference > 0 else FAINT
        corner = (across - 0.48, down - 0.42)
        axes.add_patch(Rectangle(corner, 0.96, 0.84, facecolor=shade, linewidth=0))
    color = (PAPER if difference > 0 else INK) if significant else MUTED
    axes.text(across, down, points(difference), ha="center", va="center", color=color)
