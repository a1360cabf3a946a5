"""Accuracy of every fold as a point: what a mean and a spread are made of."""

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
    in_lines,
    margins,
    only_bottom,
    room_for,
)  # fmt: skip
from lfds.report.formatting import cell_text, file_name, interval, seen_scores, spoken
from lfds.report.ranking import Entry, Leaderboard


def draw_folds(standing: Leaderboard, column: str) -> Drawing | None:
    """Draw one dataset: a line of points for each row, its mean and the interval of the mean.

    None where no row has a point to show.
    """
    entries = standing.column(column)
    if not any(seen_scores(entry, standing.rule) for entry in entries):
        return None
    figure = Figure(figsize=(WIDTH, 0.52 + 0.3 * len(entries)))
    axes = figure.add_subplot()
    means = [entry.summary.mean for entry in entries if entry.summary is not None]
    if means:
        axes.axvline(100 * max(means), color=ACCENT, linewidth=0.6, alpha=0.5, zorder=0)
    for place, entry in enumerate(entries):
        _draw_row(axes, place, entry, standing)
    names = [in_lines(entry.series.row) for entry in entries]
    axes.set_yticks(range(len(entries)), names)
    axes.tick_params(axis="y", labelcolor=INK)
    axes.set_ylim(len(entries) - 0.5, -0.5)
    axes.set_xlabel("test accuracy, %")
    margins(
        figure,
        left=room_for(names),
        right=room_for(cell_text(entry) for entry in entries),
        bottom=0.44,
        top=0.08,
    )
    only_bottom(axes)
    return Drawing(
        file_name("folds", column, standing.rule),
        f"Accuracy of every fold on {column}, rule {standing.rule}",
        "A point for each fold. " + spoken(standing, column),
        figure,
    )


def _draw_row(axes: Axes, place: int, entry: Entry, standing: Leaderboard) -> None:
    axes.axhline(place, color=FAINT, linewidth=0.5, zorder=0)
    color = color_of(entry.mark)
    values = 100 * np.array(seen_scores(entry, standing.rule))
    whole = entry.summary is not None
    axes.scatter(
        values,
        np.full(len(values), place) + _apart(values),
        s=18,
        color=color if whole else "none",
        edgecolors="none" if whole else color,
        linewidths=0.0 if whole else 0.8,
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


def _apart(values: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> list[float]:
    """Return small offsets, so that equal accuracies stay countable."""
    met: dict[float, int] = {}
    offsets = []
    for value in values.round(6).tolist():
        count = met[value] = met.get(value, -1) + 1
        offsets.append(0.09 * ((count + 1) // 2) * (-1) ** count)
    return [max(-0.36, min(0.36, offset)) for offset in offsets]
