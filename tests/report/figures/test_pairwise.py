import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from lfds.report.figures.pairwise import draw_pairs
from lfds.report.formatting import points
from tests.report.runs import records

pytestmark = pytest.mark.usefixtures("drawing")


def test_every_two_rows_are_compared_in_both_directions(report_on):
    board = report_on(records(datasets=["A"])).by("fair")
    drawing = draw_pairs(board, "A")
    cells = {text.get_position()[::-1]: text for text in drawing.figure.axes[0].texts}
    assert set(cells) == {(row, column) for row in range(3) for column in range(3) if row != column}
    pair = board.pairs["A"][0]
    assert (pair.first, pair.second) == ("max", "loop")
    assert cells[0, 1].get_text() == points(pair.comparison.difference)
    assert cells[1, 0].get_text() == points(-pair.comparison.difference)
    # Only significant differences are shaded, the better side darker.
    shades = {
        (round(patch.get_y() + 0.42), round(patch.get_x() + 0.48)): sum(patch.get_facecolor()[:3])
        for patch in drawing.figure.axes[0].patches
    }
    assert shades[1, 0] < shades[0, 1]
    assert (1, 2) not in shades
    assert "max" in drawing.about


def test_without_pairs_nothing_is_drawn(report_on):
    assert draw_pairs(report_on(records(["max"], ["A"])).by("fair"), "A") is None


@pytest.mark.parametrize("count", [3, 14, 17])
def test_names_and_numbers_do_not_overlap(report_on, count):
    pools = [f"pooling-number-{number} (with settings)" for number in range(count)]
    drawing = draw_pairs(report_on(records(pools, ["A"])).by("fair"), "A")
    canvas = FigureCanvasAgg(drawing.figure)
    canvas.draw()
    axes = drawing.figure.axes[0]
    for texts in (axes.get_xticklabels(), axes.get_yticklabels(), axes.texts):
        boxes = [text.get_window_extent(canvas.get_renderer()) for text in texts]
        assert not any(a.overlaps(b) for n, a in enumerate(boxes) for b in boxes[:n])
        assert all(box.x0 >= 0 and box.y1 <= canvas.figure.bbox.y1 for box in boxes)
