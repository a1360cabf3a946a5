import pytest

from lfds.report.figures.effects import draw_effects
from tests.report.runs import records

pytestmark = pytest.mark.usefixtures("drawing")


def test_every_row_has_its_difference_from_the_reference_and_its_interval(report_on):
    board = report_on(records(["loop", "max", "image"], ["A"])).by("fair")
    drawing = draw_effects(board, "A")
    axes = drawing.figure.axes[0]
    # Rows but the reference, which is max although it is not the first.
    means = {row: board.entries[row, "A"].summary.mean for row in board.rows}
    squares = [float(found.get_offsets()[0, 0]) for found in axes.collections]
    expected = [100 * (means[row] - means["max"]) for row in ("loop", "image")]
    assert squares == pytest.approx(expected)
    pair = next(p for p in board.pairs["A"] if {p.first, p.second} == {"loop", "max"})
    sign = 1 if pair.first == "loop" else -1
    ends = sorted(100 * sign * end for end in (pair.comparison.low, pair.comparison.high))
    intervals = [sorted(line.get_xdata()) for line in axes.lines if line.get_linewidth() == 1.6]
    assert intervals[0] == pytest.approx(ends)
    assert "above max" in axes.get_xlabel()


def test_significant_differences_are_filled_and_others_hollow(report_on):
    board = report_on(records(["max", "loop", "maxx"], ["A"])).by("fair")
    found = draw_effects(board, "A").figure.axes[0].collections
    filled = [one.get_facecolors()[0, :3].tolist() != [1, 1, 1] for one in found]
    significant = [
        p.p < 0.05 for row in ("loop", "maxx") for p in board.pairs["A"]
        if {p.first, p.second} == {row, "max"}
    ]  # fmt: skip
    assert filled == significant


def test_without_comparisons_nothing_is_drawn(report_on):
    assert draw_effects(report_on(records(["max"], ["A"])).by("fair"), "A") is None
