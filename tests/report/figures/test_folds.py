import numpy as np
import pytest

from lfds.report.figures.folds import _jitter, draw_folds
from tests.report.runs import accuracy_of, records

pytestmark = pytest.mark.usefixtures("drawing")


def points_of(figure):
    return [group.get_offsets() for group in figure.axes[0].collections]


def test_every_fold_is_a_point_at_its_accuracy(report_on):
    board = report_on(records(["max", "loop"], ["A"])).by("fair")
    for pool, points in zip(board.rows, points_of(draw_folds(board, "A").figure), strict=True):
        expected = [100 * accuracy_of(pool, "A", fold, 0) for fold in range(5)]
        assert np.allclose(points[:, 0], expected)


def test_incomplete_row_has_hollow_points_and_no_mean(report_on):
    some = [*records(["max"], ["A"])[:3], *records(["loop"], ["A"])]
    drawing = draw_folds(report_on(some).by("fair"), "A")
    hollow, filled = drawing.figure.axes[0].collections
    assert not hollow.get_facecolors().size or hollow.get_facecolors()[0, 3] == 0
    assert filled.get_facecolors()[0, 3] > 0
    texts = [text.get_text() for text in drawing.figure.axes[0].texts]
    assert texts[:2] == ["max", "3 of 5 folds"]
    assert "±" in texts[3]
    assert "max 3 of 5 folds" in drawing.about


def test_without_scores_nothing_is_drawn(report_on):
    some = records(["max"], ["A"], protocol="paper")[:2]
    report = report_on(some)
    assert draw_folds(report.by("common-best"), "A") is None
    assert draw_folds(report.by("last"), "A") is not None


def test_equal_accuracies_are_drawn_apart():
    assert _jitter(np.array([1.0, 2.0, 1.0, 1.0])) == [0.0, 0.0, -0.07, 0.07]
    assert max(map(abs, _jitter(np.ones(50)))) <= 0.21


def test_the_best_is_bold_and_significantly_worse_ones_are_marked(report_on):
    board = report_on(records(datasets=["A"])).by("fair")
    texts = draw_folds(board, "A").figure.axes[0].texts
    shown = {text.get_text(): text.get_weight() for text in texts}
    marks = {row: board.entries[row, "A"].mark for row in board.rows}
    assert sorted(marks.values()) == ["behind", "best", "even"]
    for row, mark in marks.items():
        assert shown[row] == ("bold" if mark == "best" else "normal")
        value = next(text for text in shown if str(board.entries[row, "A"].summary) in text)
        assert value.endswith("\N{BLACK DOWN-POINTING SMALL TRIANGLE}") == (mark == "behind")
