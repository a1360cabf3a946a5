"""Every two rows compared: by how much one is ahead, and whether that is more than chance."""

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from lfds.report.figures.style import (
    ACCENT,
    FAINT,
    INK,
    MUTED,
    PAPER,
    WIDTH,
    Drawing,
    in_lines,
    margins,
    room_for,
)
from lfds.report.formatting import file_name, points
from lfds.report.ranking import ALPHA, Leaderboard, Pair

_COMFORTABLE = 0.36
"""Inches of a column whose numbers have room at the size of all other text."""


def draw_pairs(standing: Leaderboard, column: str) -> Drawing | None:
    """Draw the matrix of one dataset; None where no two rows can be compared."""
    pairs = standing.pairs[column]
    if not pairs:
        return None
    rows = [row for row in standing.rows if any(row in (p.first, p.second) for p in pairs)]
    size = len(rows)
    names = [in_lines(row) for row in rows]
    left = room_for(names)
    # Names that are wider than their columns stand upright.
    wide = (WIDTH - left - 0.1) / size
    upright = left > wide
    top = left if upright else 0.5
    figure = Figure(figsize=(WIDTH, 0.1 + top + 0.3 * size))
    margins(figure, left=left, right=0.1, bottom=0.1, top=top)
    axes = figure.add_subplot()
    axes.set_xlim(-0.5, size - 0.5)
    axes.set_ylim(size - 0.5, -0.5)
    axes.set_xticks(range(size), names, rotation=90 if upright else 0)
    axes.set_yticks(range(size), names)
    axes.tick_params(length=0, labelcolor=INK, labeltop=True, labelbottom=False)
    for spine in axes.spines.values():
        spine.set_visible(False)
    for pair in pairs:
        first, second = rows.index(pair.first), rows.index(pair.second)
        _draw_cell(axes, (first, second), pair, 1)
        _draw_cell(axes, (second, first), pair, -1)
    for text in [*axes.texts, *(axes.get_xticklabels() if upright else [])]:
        text.set_fontsize(min(8.5, 8.5 * wide / _COMFORTABLE))
    sure = [p for p in pairs if p.p < ALPHA]
    said = "; ".join(f"{p.first} {points(p.outcome.difference)} on {p.second}" for p in sure)
    return Drawing(
        file_name("pairs", column, standing.rule),
        f"Row minus column in points on {column}, rule {standing.rule}",
        f"Significant differences: {said or 'none'}.",
        figure,
    )


def _draw_cell(axes: Axes, place: tuple[int, int], pair: Pair, sign: int) -> None:
    down, across = place
    sure = pair.p < ALPHA
    ahead = sign * pair.outcome.difference > 0
    if sure:
        shade = ACCENT if ahead else FAINT
        corner = (across - 0.48, down - 0.42)
        axes.add_patch(Rectangle(corner, 0.96, 0.84, facecolor=shade, linewidth=0))
    color = (PAPER if ahead else INK) if sure else MUTED
    text = points(sign * pair.outcome.difference)
    axes.text(across, down, text, ha="center", va="center", color=color)
