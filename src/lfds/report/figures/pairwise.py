"""Every two rows compared: by how much one is ahead, and whether that is more than chance."""

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lfds.report.figures.style import (
    ACCENT,
    FAINT,
    INK,
    MUTED,
    PAPER,
    WIDTH,
    Drawing,
    margins,
    room_for,
)
from lfds.report.standing import ALPHA, Pair, Standing
from lfds.report.words import file_name, points


def draw_pairs(standing: Standing, column: str) -> Drawing | None:
    """Draw the matrix of one dataset; None where no two rows can be compared."""
    pairs = standing.pairs[column]
    if not pairs:
        return None
    rows = [row for row in standing.rows if any(row in (p.first, p.second) for p in pairs)]
    size = len(rows)
    figure = Figure(figsize=(WIDTH, 0.6 + 0.3 * size))
    margins(figure, left=room_for(rows), right=0.1, bottom=0.1, top=0.5)
    axes = figure.add_subplot()
    axes.set_xlim(-0.5, size - 0.5)
    axes.set_ylim(size - 0.5, -0.5)
    axes.set_xticks(range(size), rows, rotation=0 if size < 7 else 20)
    axes.set_yticks(range(size), rows)
    axes.tick_params(length=0, labelcolor=INK, labeltop=True, labelbottom=False)
    for spine in axes.spines.values():
        spine.set_visible(False)
    for pair in pairs:
        first, second = rows.index(pair.first), rows.index(pair.second)
        _draw_cell(axes, first, second, pair, 1)
        _draw_cell(axes, second, first, pair, -1)
    sure = [p for p in pairs if p.p < ALPHA]
    said = "; ".join(f"{p.first} {points(p.outcome.difference)} on {p.second}" for p in sure)
    return Drawing(
        file_name("pairs", column, standing.rule),
        f"Row minus column in points on {column}, rule {standing.rule}",
        f"Significant differences: {said or 'none'}.",
        figure,
    )


def _draw_cell(axes: Axes, down: int, across: int, pair: Pair, sign: int) -> None:
    sure = pair.p < ALPHA
    ahead = sign * pair.outcome.difference > 0
    box = {"boxstyle": "square,pad=0.35", "linewidth": 0, "facecolor": "none"}
    if sure:
        box["facecolor"] = ACCENT if ahead else FAINT
    color = (PAPER if ahead else INK) if sure else MUTED
    text = points(sign * pair.outcome.difference)
    axes.text(across, down, text, ha="center", va="center", color=color, bbox=box)
