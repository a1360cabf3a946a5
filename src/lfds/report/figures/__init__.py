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
        label: What it is called by the switch of a section with several figures.
        beside: The figure in whose section it is shown, by a switch; empty for its own section.
    """

    title: str
    empty: str
    per_dataset: bool = True
    label: str = ""
    beside: str = ""

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
            "interval, the dashed line the best mean. Bold: the best. "
            "\N{BLACK DOWN-POINTING SMALL TRIANGLE}: significantly worse than the best. Hollow "
            "points: folds are missing.",
            title="Accuracy per fold",
            empty="No fold has completed.",
        ),
        "effects": FigureEntry(
            "lfds.report.figures.effects:draw_effects",
            "Difference of the mean accuracies over the same folds, and its 95 % confidence "
            "interval (Nadeau and Bengio, for this pair alone). Filled: significant, the p value "
            "being corrected for all pairs of the dataset (Holm); hollow: not.",
            title="Effect sizes",
            empty="No two poolings are complete on the same folds.",
        ),
        "curves": FigureEntry(
            "lfds.report.figures.curves:draw_curves",
            "Mean accuracy over the folds after each epoch. The dot is the mean over the folds of "
            "the epoch that was evaluated in each, and of its accuracy; where every fold selects "
            "its best epoch, the dot is above the curve.",
            title="Learning curves",
            empty="No fold has completed.",
            label="all poolings",
        ),
        "panels": FigureEntry(
            "lfds.report.figures.curves:draw_panels",
            "The line is the mean over folds, the band extends from the worst fold to the best, "
            "the dashed line is the training accuracy, and each dot is the epoch evaluated in one "
            "fold.",
            title="Learning curves of each pooling",
            empty="No fold has completed.",
            label="one by one",
            beside="curves",
        ),
        "confusion": FigureEntry(
            "lfds.report.figures.confusion:draw_confusion",
            "Number of test graphs over all folds, by true class (rows) and predicted class "
            "(columns); the darker, the larger the part of the true class.",
            title="Results per class",
            empty="The records hold no confusion matrices: those of earlier versions do not, nor "
            "those of more than 100 classes; under the protocol paper they are of the last epoch.",
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
            "Seconds are the mean training time of one fold on one processor, interruptions left "
            "out; on a busy machine they say little. In place of parameters a random forest has "
            "the nodes of its trees. Peak memory is the median over the folds without the first of "
            "each process, which also loads code and data. The pale bars are 95 % confidence "
            "intervals of the mean; only complete poolings are shown.",
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
