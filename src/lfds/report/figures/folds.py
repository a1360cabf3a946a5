"""Accuracy per fold: one point per fold, with mean and confidence interval."""

import numpy as np
from matplotlib.axes import Axes

from lfds.report.figures.strips import reference_line, strips, write_row
from lfds.report.figures.style import FAINT, INK, Drawing, mark_of, row_colors
from lfds.report.formatting import (
    cell_text,
    describe_column,
    file_name,
    fold_names,
    fold_scores,
    interval,
)
from lfds.report.ranking import Entry, Leaderboard

_MARKS = 0.12
"""How far below the middle of a strip its points are."""


def draw_folds(board: Leaderboard, column: str) -> Drawing | None:
    """Draw one dataset, a strip per row; None if no fold has completed."""
    entries = board.column(column)
    if not any(fold_scores(entry, board.rule) for entry in entries):
        return None
    figure, axes = strips(len(entries))
    means = [entry.summary.mean for entry in entries if entry.summary is not None]
    if means:
        best = 100 * max(means)
        reference_line(axes, best, len(entries), linewidth=0.6, dashes=(3, 3))
    colors = row_colors(board.rows)
    tips: dict[str, list[str]] = {}
    for place, entry in enumerate(entries):
        tips |= _draw_row(axes, place, entry, board, colors[entry.series.row])
    axes.set_xlabel("test accuracy, %")
    return Drawing(
        file_name("folds", column, board.rule),
        f"Accuracy per fold on {column}, rule {board.rule}",
        "One point per fold. " + describe_column(board, column),
        figure,
        tips=tips,
    )


def _draw_row(
    axes: Axes, place: int, entry: Entry, board: Leaderboard, color: str
) -> dict[str, list[str]]:
    scores = fold_scores(entry, board.rule)
    values = 100 * np.array(scores)
    complete = entry.summary is not None
    height = place + _MARKS
    axes.axhline(height, color=FAINT, linewidth=0.5, zorder=0)
    axes.scatter(
        values,
        np.full(len(values), height) + _jitter(values),
        s=20,
        color=color if complete else "none",
        edgecolors="none" if complete else color,
        linewidths=0.0 if complete else 0.8,
        alpha=0.75,
        zorder=2,
        gid=f"tips-{place}",
    )
    tips = {
        f"tips-{place}": [
            f"{entry.series.row}, {name}: {value:.1f} %"
            for name, value in zip(
                fold_names(entry) if scores else [], values.tolist(), strict=True
            )
        ]
    }
    if entry.summary is not None:
        mean, low, high = interval(entry.summary)
        axes.plot(
            [low, high],
            [height, height],
            color=color,
            linewidth=8,
            alpha=0.18,
            solid_capstyle="butt",
            zorder=1,
            gid=f"interval-{place}",
        )
        axes.plot([mean, mean], [height - 0.2, height + 0.2], color=INK, linewidth=1.5, zorder=3)
        tips[f"interval-{place}"] = [
            f"{entry.series.row}: mean {mean:.1f} %, 95 % confidence interval {low:.1f} to "
            f"{high:.1f} %"
        ]
    value = cell_text(entry) + mark_of(entry.mark)
    write_row(axes, place, entry.series.row, value, color, bold=entry.mark == "best")
    return tips


def _jitter(values: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> list[float]:
    """Return vertical offsets that keep equal accuracies apart."""
    counts: dict[float, int] = {}
    offsets = []
    for value in values.round(6).tolist():
        count = counts[value] = counts.get(value, -1) + 1
        offsets.append(0.07 * ((count + 1) // 2) * (-1) ** count)
    return [max(-0.21, min(0.21, offset)) for offset in offsets]
