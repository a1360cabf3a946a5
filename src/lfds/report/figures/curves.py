"""Learning curves: what was watched while training, and the epochs that were chosen from it."""

from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from lfds.report.figures.style import FAINT, INK, MUTED, WIDTH, Drawing, color_of, in_lines, margins
from lfds.report.formatting import file_name
from lfds.report.ranking import Entry, Leaderboard
from lfds.results.record import Outcome, Rule

_ACROSS = 3


@dataclass(frozen=True)
class Watched:
    """The curves of one row, epochs counted from 1.

    Attributes:
        accuracy: On validation graphs (fair) or test graphs (paper), ``[folds, epochs]``.
        train: On the training graphs, ``[folds, epochs]``.
        chosen: The chosen epoch of each fold, and the accuracy watched there.
    """

    accuracy: NDArray[np.float64]
    train: NDArray[np.float64]
    chosen: list[tuple[int, float]]


def draw_curves(standing: Leaderboard, column: str) -> Drawing | None:
    """Draw one dataset, a panel for each row; None where no fold has ended well."""
    entries = [entry for entry in standing.column(column) if entry.series.done]
    if not entries:
        return None
    across = min(_ACROSS, len(entries))
    down = -(-len(entries) // across)
    height = 0.79 + 1.05 * down + 0.5 * (down - 1)
    figure = Figure(figsize=(WIDTH, height))
    panels = figure.subplots(down, across, sharex=True, sharey=True, squeeze=False)
    margins(figure, left=0.55, right=0.1, bottom=0.45, top=0.32)
    figure.subplots_adjust(hspace=0.5, wspace=0.12)
    for place, panel in enumerate(panels.flat):
        if place < len(entries):
            _draw_panel(panel, entries[place], standing.rule)
        else:
            panel.set_axis_off()
        # The panels of a row share their numbers; so do those of a column, down to the last one.
        panel.tick_params(labelbottom=place + across >= len(entries))
    figure.text(0.5, 0.04 / height, "epoch", ha="center", color=MUTED)
    figure.text(0.02, 0.5, "accuracy, %", va="center", rotation=90, color=MUTED)
    _label_lines(panels.flat[0], standing.rule)
    return Drawing(
        file_name("curves", column, standing.rule),
        f"Learning curves on {column}, rule {standing.rule}",
        " ".join(_in_words(entry, standing.rule) for entry in entries),
        figure,
    )


def watched(entry: Entry, rule: Rule) -> Watched:
    """Return what was seen epoch by epoch in the folds that ended well, and what was chosen."""
    outcomes = [r.outcome for r in entry.series.done if r.outcome is not None]
    curves = [o.curve.validation if rule == "fair" else o.curve.test for o in outcomes]
    accuracy, train = _padded(curves), _padded([outcome.curve.train for outcome in outcomes])
    if rule == "common-best":
        chosen = _common(entry)
    else:
        epochs = [_chosen(outcome, rule) for outcome in outcomes]
        chosen = [(e + 1, c[e]) for e, c in zip(epochs, curves, strict=True) if e < len(c)]
    return Watched(accuracy, train, chosen)


def _chosen(outcome: Outcome, rule: Rule) -> int:
    if rule == "fair":
        assert outcome.epoch is not None
        return outcome.epoch
    test = outcome.curve.test
    return len(test) - 1 if rule == "last" else int(np.argmax(test))


def _common(entry: Entry) -> list[tuple[int, float]]:
    """The one epoch of each seed; there is none while a fold is missing."""
    if entry.scores is None:
        return []
    found = []
    for seed in sorted(entry.series.seeds):
        mine = [r.outcome for r in entry.series.done if r.fold.seed == seed and r.outcome]
        curves = np.array([outcome.curve.test for outcome in mine])
        epoch = int(curves.mean(axis=0).argmax())
        found += [(epoch + 1, float(curve[epoch])) for curve in curves]
    return found


def _padded(curves: list[tuple[float, ...]]) -> NDArray[np.float64]:
    longest = max(map(len, curves))
    return np.array([[*curve, *[np.nan] * (longest - len(curve))] for curve in curves])


def _draw_panel(axes: Axes, entry: Entry, rule: Rule) -> None:
    seen = watched(entry, rule)
    color = color_of(entry.mark)
    epochs = np.arange(1, seen.accuracy.shape[1] + 1)
    low, high = np.nanmin(seen.accuracy, axis=0), np.nanmax(seen.accuracy, axis=0)
    axes.fill_between(epochs, 100 * low, 100 * high, color=FAINT, alpha=0.6, linewidth=0)
    if seen.train.size:
        train = np.nanmean(seen.train, axis=0)
        axes.plot(epochs[: len(train)], 100 * train, color=MUTED, linewidth=0.8, dashes=(3, 2))
    axes.plot(epochs, 100 * np.nanmean(seen.accuracy, axis=0), color=color, linewidth=1.4)
    if seen.chosen:
        where, height = np.array(seen.chosen).T
        axes.scatter(where, 100 * height, s=9, color=INK, alpha=0.7, linewidths=0, zorder=3)
    whole = "" if entry.series.complete else f" ({len(entry.series.done)} of {entry.series.wanted})"
    name = in_lines(f"{entry.series.row}{whole}")
    # Names of two lines are as wide as the panel, and higher than the gap between panels.
    axes.set_title(name, color=INK, fontsize=7 if "\n" in name else 9)
    # There is no half of an epoch; of a single one there is one tick.
    axes.xaxis.set_major_locator(MaxNLocator(5, integer=True, min_n_ticks=1))
    axes.locator_params(axis="y", nbins=5)


def _label_lines(axes: Axes, rule: Rule) -> None:
    """Name the lines where they are, once."""
    lines = axes.get_lines()
    names = ["validation" if rule == "fair" else "test"]
    if len(lines) > 1:
        names.insert(0, "training")
    ends = [np.asarray(line.get_xydata(), dtype=float)[-1] for line in lines]
    top = max(float(end[1]) for end in ends)
    for name, line, (across, height) in zip(names, lines, ends, strict=True):
        above = height >= top
        axes.annotate(
            name,
            (across, height),
            xytext=(0, 3 if above else -3),
            textcoords="offset points",
            ha="right",
            va="bottom" if above else "top",
            fontsize=7,
            color=line.get_color(),
        )


def _in_words(entry: Entry, rule: Rule) -> str:
    seen = watched(entry, rule)
    last = 100 * float(np.nanmean(seen.accuracy[:, -1]))
    said = f"{entry.series.row}: {last:.1f} % after {seen.accuracy.shape[1]} epochs"
    if not seen.chosen:
        return said + "."
    epochs = sorted(epoch for epoch, _ in seen.chosen)
    return f"{said}, judged epochs from {epochs[0]} to {epochs[-1]}."
