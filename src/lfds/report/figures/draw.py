"""All figures of one standing, each drawn if there is something to draw."""

from collections.abc import Callable, Iterator, Mapping

from lfds.report.figures.costs import draw_costs
from lfds.report.figures.curves import draw_curves
from lfds.report.figures.folds import draw_folds
from lfds.report.figures.pairwise import draw_pairs
from lfds.report.figures.ranks import draw_ranks
from lfds.report.figures.style import Drawing
from lfds.report.ranking import Leaderboard

FIGURES: Mapping[str, Callable[[Leaderboard, str], Drawing | None]] = {
    "folds": draw_folds,
    "curves": draw_curves,
    "pairs": draw_pairs,
    "costs": draw_costs,
}
"""What is drawn for each dataset; to be called, and saved, in :func:`styled`."""


def by_column(name: str, standing: Leaderboard) -> dict[str, Drawing]:
    """Draw one kind of figure for every dataset that has something to show."""
    drawn = {column: FIGURES[name](standing, column) for column in standing.columns}
    return {column: drawing for column, drawing in drawn.items() if drawing is not None}


def all_drawings(standing: Leaderboard) -> Iterator[Drawing]:
    """Draw everything there is to draw of a standing."""
    for name in FIGURES:
        yield from by_column(name, standing).values()
    if standing.ranking is not None:
        yield draw_ranks(standing.ranking)
