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
    assert texts[0] == "3 of 5 folds"
    assert "±" in texts[1]
    assert "max 3 of 5 folds" in drawing.about


def test_without_scores_nothing_is_drawn(report_on):
    some = records(["max"], ["A"], protocol="paper")[:2]
    report = report_on(some)
    assert draw_folds(report.by("common-best"), "A") is None
    assert draw_folds(report.by("last"), "A") is not None


def test_equal_accuracies_are_drawn_apart():
    assert _jitter(np.array([1.0, 2.0, 1.0, 1.0])) == [0.0, 0.0, -0.09, 0.09]
    assert max(map(abs, _jitter(np.ones(50)))) <= 0.36
