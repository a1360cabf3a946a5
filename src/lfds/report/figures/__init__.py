"""The figures of a report, in the order of the page.

A new figure is a module beside this one and an entry of :data:`FIGURES`: page, files and the help
of ``lfds report`` read it from here.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from lfds.config.registry import Entry

if TYPE_CHECKING:
    from lfds.report.figures.style import Drawing
    from lfds.report.ranking import Leaderboard


@dataclass(frozen=True)
class FigureEntry(Entry):
    """A figure, drawn by a function of a leaderboard; None where there is nothing to draw.

    Attributes:
        title: Heading of its section.
        empty: What the page says if nothing can be drawn.
        per_dataset: Whether the function takes a column and is called for each; otherwise it draws
            all datasets at once.
    """

    title: str
    empty: str
    per_dataset: bool = True

    def draw(self, board: "Leaderboard") -> "dict[str, Drawing]":
        """Return the drawings of a leaderboard by column; to be called, and saved, in ``styled``.

        What is not per dataset is under an empty name.
        """
        function = self.load()
        columns = board.columns if self.per_dataset else ("",)
        drawn = {c: function(board, c) if self.per_dataset else function(board) for c in columns}
        return {column: drawing for column, drawing in drawn.items() if drawing is not None}


FIGURES: Mapping[str, FigureEntry] = MappingProxyType(
    {
        "folds": FigureEntry(
            "lfds.report.figures.folds:draw_folds",
            "One point per fold; the vertical line is their mean, the pale bar its 95 % confidence "
            "interval. Blue: the best and those not significantly worse. Hollow: folds are "
            "missing.",
            title="Accuracy per fold",
            empty="No fold has completed.",
        ),
        "curves": FigureEntry(
            "lfds.report.figures.curves:draw_curves",
            "The line is the mean over folds, the band extends from the worst fold to the best, "
            "the dashed line is the training accuracy, and each dot is the epoch evaluated in one "
            "fold.",
            title="Learning curves",
            empty="No fold has completed.",
        ),
        "pairs": FigureEntry(
            "lfds.report.figures.pairwise:draw_pairs",
            "Row minus column, in percentage points, over the same folds; below it the p value "
            "(Nadeau and Bengio), Holm-corrected for all pairs of the dataset. Shaded if it is "
            "significant: dark if the row is better.",
            title="Pairwise comparison",
            empty="No two poolings are complete on the same folds.",
        ),
        "ranks": FigureEntry(
            "lfds.report.figures.ranks:draw_ranks",
            "Critical-difference diagram: a bar joins poolings whose mean ranks do not differ "
            "significantly (Nemenyi).",
            title="Ranks over datasets",
            empty="Ranks need at least two poolings that are all complete, on the same folds, on "
            "at least two datasets.",
            per_dataset=False,
        ),
        "costs": FigureEntry(
            "lfds.report.figures.costs:draw_costs",
            "Seconds are the training time of one fold on one processor, interruptions left out; "
            "on a busy machine they say little. The pale bars are 95 % confidence intervals of the "
            "mean; only complete poolings are shown.",
            title="Accuracy against cost",
            empty="No pooling is complete.",
        ),
    }
)


def all_drawings(
    boards: "Iterable[Leaderboard]", figures: Mapping[str, FigureEntry] = FIGURES
) -> "Iterable[Drawing]":
    """Draw all figures of some leaderboards."""
    for board in boards:
        for entry in figures.values():
            yield from entry.draw(board).values()
