"""Learning curves: accuracy per epoch, and the epochs that are evaluated."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from lfds.report.figures.style import (
    FAINT,
    INK,
    MUTED,
    PAPER,
    WIDTH,
    Drawing,
    Readings,
    annotate,
    draw_legend,
    legend_height,
    margins,
    row_colors,
    wrap_label,
)
from lfds.report.formatting import file_name
from lfds.report.ranking import Entry, Leaderboard
from lfds.results.record import Rule
from lfds.results.rules import epochs_by

_PANELS_PER_LINE = 2


@dataclass(frozen=True)
class LearningCurves:
    """The curves of one row, epochs counted from 1.

    Attributes:
        accuracy: On validation graphs (fair) or test graphs (paper), ``[folds, epochs]``.
        train: On the training graphs, ``[folds, epochs]``.
        evaluated: The evaluated epoch of each fold, and the accuracy there.
    """

    accuracy: NDArray[np.float64]
    train: NDArray[np.float64]
    evaluated: list[tuple[int, float]]


def draw_curves(board: Leaderboard, column: str) -> Drawing | None:
    """Draw the mean curves of all rows in one panel; None if no fold has kept its curve."""
    entries = [entry for entry in board.column(column) if _has_curve(entry, board.rule)]
    if not entries:
        return None
    colors = row_colors(board.rows)
    names = {entry.series.row: colors[entry.series.row] for entry in entries}
    below = legend_height(list(names))
    figure = Figure(figsize=(WIDTH, 2.5 + below))
    axes = figure.add_subplot()
    margins(figure, left=0.62, right=0.12, bottom=0.45 + below, top=0.1)
    readings = []
    for entry in entries:
        curves = learning_curves(entry, board.rule)
        mean = 100 * np.nanmean(curves.accuracy, axis=0)
        color = names[entry.series.row]
        axes.plot(np.arange(1, len(mean) + 1), mean, color=color, linewidth=1.6)
        readings.append((entry.series.row, [round(value, 1) for value in mean.tolist()]))
        if curves.evaluated:
            where, height = np.array(curves.evaluated).mean(axis=0)
            axes.scatter([where], [100 * height], s=26, color=color, edgecolors=PAPER, zorder=3)
    axes.xaxis.set_major_locator(MaxNLocator(6, integer=True, min_n_ticks=1))
    axes.yaxis.set_major_locator(MaxNLocator(6))
    axes.set_xlabel("epoch")
    axes.set_ylabel(f"{_part(board.rule)} accuracy, %")
    draw_legend(figure, names)
    return Drawing(
        file_name("curves", column, board.rule),
        f"Learning curves on {column}, rule {board.rule}",
        " ".join(_describe(entry, board.rule) for entry in entries),
        figure,
        readings=Readings("epoch", 1, readings),
    )


def draw_panels(board: Leaderboard, column: str) -> Drawing | None:
    """Draw the curves of each row in a panel of its own; None if no fold has kept its curve."""
    entries = [entry for entry in board.column(column) if _has_curve(entry, board.rule)]
    if not entries:
        return None
    across = min(_PANELS_PER_LINE, len(entries))
    down = -(-len(entries) // across)
    height = 0.79 + 1.05 * down + 0.5 * (down - 1)
    figure = Figure(figsize=(WIDTH, height))
    panels = figure.subplots(down, across, sharex=True, sharey=True, squeeze=False)
    margins(figure, left=0.55, right=0.1, bottom=0.45, top=0.32)
    figure.subplots_adjust(hspace=0.5, wspace=0.12)
    colors = row_colors(board.rows)
    for place, panel in enumerate(panels.flat):
        if place < len(entries):
            _draw_panel(panel, entries[place], board.rule, colors)
        else:
            panel.set_axis_off()
        # Only the last panel of each column has numbers.
        panel.tick_params(labelbottom=place + across >= len(entries))
    figure.text(0.5, 0.04 / height, "epoch", ha="center", color=MUTED)
    figure.text(0.02, 0.5, "accuracy, %", va="center", rotation=90, color=MUTED)
    _label_lines(panels.flat[0], board.rule)
    return Drawing(
        file_name("panels", column, board.rule),
        f"Learning curves of each pooling on {column}, rule {board.rule}",
        " ".join(_describe(entry, board.rule) for entry in entries),
        figure,
    )


def _part(rule: Rule) -> str:
    return "validation" if rule == "fair" else "test"


def learning_curves(entry: Entry, rule: Rule) -> LearningCurves:
    """Return the curves of the completed folds, and the epochs that a rule evaluates."""
    outcomes = entry.series.outcomes
    curves = [o.curve.validation if rule == "fair" else o.curve.test for o in outcomes]
    evaluated: list[tuple[int, float]] = []
    seeds = [record.fold.seed for record in entry.series.done]
    # While a fold is missing there is no common epoch.
    for seed in dict.fromkeys(seeds) if rule != "common-best" or entry.scores is not None else ():
        mine = [number for number, its in enumerate(seeds) if its == seed]
        epochs = epochs_by(rule, [outcomes[number] for number in mine])
        found = [(epoch, curves[number]) for number, epoch in zip(mine, epochs, strict=True)]
        evaluated += [(epoch + 1, curve[epoch]) for epoch, curve in found if epoch < len(curve)]
    train = _padded([outcome.curve.train for outcome in outcomes])
    return LearningCurves(_padded(curves), train, evaluated)


def _has_curve(entry: Entry, rule: Rule) -> bool:
    """Whether a fold has completed, and its record kept the curve: packed ones may not."""
    curves = (outcome.curve for outcome in entry.series.outcomes)
    return any(curve.validation if rule == "fair" else curve.test for curve in curves)


def _padded(curves: list[tuple[float, ...]]) -> NDArray[np.float64]:
    longest = max(map(len, curves))
    return np.array([[*curve, *[np.nan] * (longest - len(curve))] for curve in curves])


def _draw_panel(axes: Axes, entry: Entry, rule: Rule, colors: Mapping[str, str]) -> None:
    curves = learning_curves(entry, rule)
    color = colors[entry.series.row]
    epochs = np.arange(1, curves.accuracy.shape[1] + 1)
    low, high = np.nanmin(curves.accuracy, axis=0), np.nanmax(curves.accuracy, axis=0)
    axes.fill_between(epochs, 100 * low, 100 * high, color=FAINT, alpha=0.6, linewidth=0)
    if curves.train.size:
        train = np.nanmean(curves.train, axis=0)
        axes.plot(epochs[: len(train)], 100 * train, color=MUTED, linewidth=0.8, dashes=(3, 2))
    axes.plot(epochs, 100 * np.nanmean(curves.accuracy, axis=0), color=color, linewidth=1.4)
    if curves.evaluated:
        where, height = np.array(curves.evaluated).T
        axes.scatter(where, 100 * height, s=9, color=INK, alpha=0.7, linewidths=0, zorder=3)
    series = entry.series
    part = "" if series.complete else f" ({len(series.done)} of {series.wanted})"
    name = wrap_label(f"{series.row}{part}")
    # Names of two lines would not fit between the panels at the usual size.
    axes.set_title(name, color=INK, fontsize=7 if "\n" in name else 9)
    # Epochs are integers; a single one has one tick.
    axes.xaxis.set_major_locator(MaxNLocator(5, integer=True, min_n_ticks=1))
    axes.locator_params(axis="y", nbins=5)


def _label_lines(axes: Axes, rule: Rule) -> None:
    """Label the lines in the first panel."""
    lines = axes.get_lines()
    names = [_part(rule)]
    if len(lines) > 1:
        names.insert(0, "training")
    ends = [np.asarray(line.get_xydata(), dtype=float)[-1] for line in lines]
    top = max(float(end[1]) for end in ends)
    for name, line, (across, height) in zip(names, lines, ends, strict=True):
        above = height >= top
        style = {"va": "bottom" if above else "top", "size": 7, "color": line.get_color()}
        annotate(axes, name, (across, height), (0, 3 if above else -3), "right", **style)


def _describe(entry: Entry, rule: Rule) -> str:
    curves = learning_curves(entry, rule)
    last = 100 * float(np.nanmean(curves.accuracy[:, -1]))
    text = f"{entry.series.row}: {last:.1f} % after {curves.accuracy.shape[1]} epochs"
    if not curves.evaluated:
        return text + "."
    epochs = sorted(epoch for epoch, _ in curves.evaluated)
    return f"{text}, evaluated epochs from {epochs[0]} to {epochs[-1]}."
