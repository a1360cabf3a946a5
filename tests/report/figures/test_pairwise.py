import pytest

from lfds.report.figures.pairwise import draw_pairs
from lfds.report.words import points
from tests.report.runs import records

pytestmark = pytest.mark.usefixtures("drawing")


def test_every_two_rows_are_compared_from_both_sides(report_on):
    standing = report_on(records(datasets=["A"])).by("fair")
    drawing = draw_pairs(standing, "A")
    cells = {text.get_position()[::-1]: text for text in drawing.figure.axes[0].texts}
    assert set(cells) == {(row, column) for row in range(3) for column in range(3) if row != column}
    pair = standing.pairs["A"][0]
    assert (pair.first, pair.second) == ("max", "loop")
    assert cells[0, 1].get_text() == points(pair.outcome.difference)
    assert cells[1, 0].get_text() == points(-pair.outcome.difference)
    # Only what is sure is shaded, and the side that is ahead is darker.
    ahead, behind = (cells[place].get_bbox_patch().get_facecolor() for place in ((1, 0), (0, 1)))
    assert sum(ahead[:3]) < sum(behind[:3])
    unsure = cells[1, 2].get_bbox_patch().get_facecolor()
    assert unsure[3] == 0
    assert "max" in drawing.about


def test_with_nothing_to_compare_nothing_is_drawn(report_on):
    assert draw_pairs(report_on(records(["max"], ["A"])).by("fair"), "A") is None
