"""Confusion matrices: which classes the test graphs were taken for, a panel per pooling."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from lfds.report.classes import ClassResults, class_table
from lfds.report.figures.style import (
    FAINT,
    INK,
    MUTED,
    PAPER,
    WIDTH,
    Drawing,
    margins,
    row_colors,
    shorten,
)
from lfds.report.formatting import file_name
from lfds.report.ranking import Leaderboard

_NUMBERED = 12
"""With more classes than this, cells have no numbers."""

_DARK = 0.5
"""Part of a class from which a cell is dark, and its number light."""


def draw_confusion(board: Leaderboard, column: str) -> Drawing | None:
    """Draw one dataset, a panel per row; None if no complete row has recorded its matrices."""
    found = class_table(board, column)
    if not found:
        return None
    classes = max(len(results.classes) for results in found.values())
    across = 2 if classes <= 8 and len(found) > 1 else 1
    down = -(-len(found) // across)
    side = (WIDTH - 0.55 - 0.1 - 0.35 * (across - 1)) / across
    height = 0.5 + down * side + 0.4 * down
    figure = Figure(figsize=(WIDTH, height))
    panels = figure.subplots(down, across, squeeze=False)
    margins(figure, left=0.55, right=0.1, bottom=0.5, top=0.3)
    figure.subplots_adjust(wspace=0.35 / side, hspace=0.4 / side)
    colors = row_colors(board.rows)
    tips: dict[str, list[str]] = {}
    for place, (panel, (row, results)) in enumerate(zip(panels.flat, found.items(), strict=False)):
        tips |= _draw_panel(panel, place, row, results, colors[row])
    for panel in panels.flat[len(found) :]:
        panel.set_axis_off()
    figure.text(0.5, 0.05 / height, "predicted class", ha="center", color=MUTED)
    figure.text(0.02, 0.5, "true class", va="center", rotation=90, color=MUTED)
    return Drawing(
        file_name("confusion", column, board.rule),
        f"Confusion matrices on {column}, rule {board.rule}",
        " ".join(_describe(row, results) for row, results in found.items()),
        figure,
        tips=tips,
    )


def _draw_panel(
    axes: Axes, place: int, row: str, results: ClassResults, color: str
) -> dict[str, list[str]]:
    size = len(results.classes)
    parts = results.counts / np.maximum(results.graphs[:, None], 1)
    tips = {}
    for true, predicted in np.ndindex(size, size):
        part, count = float(parts[true, predicted]), int(results.counts[true, predicted])
        gid = f"tips-{place}-{true}-{predicted}"
        corner = (predicted - 0.5, true - 0.5)
        cell = Rectangle(corner, 1, 1, facecolor=color, edgecolor=FAINT, linewidth=0.4, gid=gid)
        cell.set_alpha(0.04 + 0.96 * part)
        axes.add_patch(cell)
        names = results.classes[true], results.classes[predicted]
        tips[gid] = [
            f"{row}: {count} graphs of class {names[0]} ({part:.1%}) predicted as {names[1]}"
        ]
        if size <= _NUMBERED and count:
            shade = PAPER if part > _DARK else INK
            axes.text(predicted, true, f"{count}", ha="center", va="center", color=shade, size=7.5)
    axes.set_xlim(-0.5, size - 0.5)
    axes.set_ylim(size - 0.5, -0.5)
    axes.set_aspect("equal")
    # Names of many classes would overlap.
    every = range(0, size, -(-size // 15))
    short = [shorten(results.classes[place], 6) for place in every]
    axes.set_xticks(every, short, size=7, rotation=0 if size <= 6 else 90)
    axes.set_yticks(every, short, size=7)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    axes.set_title(shorten(row, 26), color=INK)
    return tips


def _describe(row: str, results: ClassResults) -> str:
    recalls = zip(results.classes, results.recall.tolist(), strict=True)
    return f"{row}: " + ", ".join(f"{name} {part:.1%}" for name, part in recalls) + " correct."
