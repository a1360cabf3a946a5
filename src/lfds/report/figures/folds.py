"""Accuracy per fold: one point per fold, with mean and confidence interval."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lfds.report.figures.style import (
    ACCENT,
    FAINT,
    INK,
    WIDTH,
    Drawing,
    color_of,
    label_width,
    margins,
    wrap_label,
)
from lfds.report.formatting import cell_text, describe_column, file_name, fold_scores, interval
from lfds.report.ranking import Entry, Leaderboard


def draw_folds(board: Leaderboard, column: str) -> Drawing | None:
    """Draw one dataset, a line per row; None if no fold has completed."""
    entries = board.column(column)
    if not any(fold_scores(entry, board.rule) for entry in entries):
        return None
    figure = Figure(figsize=(WIDTH, 0.52 + 0.3 * len(entries)))
    axes = figure.add_subplot()
    means = [entry.summary.mean for entry in entries if entry.summary is not None]
    if means:
        axes.axvline(100 * max(means), color=ACCENT, linewidth=0.6, alpha=0.5, zorder=0)
    for place, entry in enumerate(entries):
        _draw_row(axes, place, entry, board)
    names = [wrap_label(entry.series.row) for entry in entries]
    axes.set_yticks(range(len(entries)), names)
    axes.tick_params(axis="y", labelcolor=INK)
    axes.set_ylim(len(entries) - 0.5, -0.5)
    axes.set_xlabel("test accuracy, %")
    margins(
        figure,
        left=label_width(names),
        right=label_width(cell_text(entry) for entry in entries),
        bottom=0.44,
        top=0.08,
    )
    axes.spines["left"].set_visible(False)
    axes.tick_params(axis="y", length=0)
    return Drawing(
        file_name("folds", column, board.rule),
        f"Accuracy per fold on {column}, rule {board.rule}",
        "One point per fold. " + describe_column(board, column),
        figure,
    )


def _draw_row(axes: Axes, place: int, entry: Entry, board: Leaderboard) -> None:
    axes.axhline(place, color=FAINT, linewidth=0.5, zorder=0)
    color = color_of(entry.mark)
    values = 100 * np.array(fold_scores(entry, board.rule))
    complete = entry.summary is not None
    axes.scatter(
        values,
        np.full(len(values), place) + _jitter(values),
        s=18,
        color=color if complete else "none",
        edgecolors="none" if complete else color,
        linewidths=0.0 if complete else 0.8,
        alpha=0.75,
        zorder=2,
    )
    if entry.summary is not None:
        mean, low, high = interval(entry.summary)
        axes.plot(
            [low, high],
            [place, place],
            color=color,
            linewidth=7,
            alpha=0.18,
            solid_capstyle="butt",
            zorder=1,
        )
        axes.plot([mean, mean], [place - 0.3, place + 0.3], color=INK, linewidth=1.5, zorder=3)
    axes.text(
        1.02,
        place,
        cell_text(entry),
        transform=axes.get_yaxis_transform(),
        va="center",
        color=color if entry.mark in ("best", "even") else INK,
        weight="bold" if entry.mark == "best" else "normal",
    )


def _jitter(values: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> list[float]:
    """Return vertical offsets that keep equal accuracies apart."""
    counts: dict[float, int] = {}
    offsets = []
    for value in values.round(6).tolist():
        count = counts[value] = counts.get(value, -1) + 1
        offsets.append(0.09 * ((count + 1) // 2) * (-1) ** count)
    return [max(-0.36, min(0.36, offset)) for offset in offsets]
