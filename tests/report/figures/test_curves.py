import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from lfds.report.figures.curves import draw_curves, draw_panels, learning_curves
from lfds.report.figures.style import row_colors
from tests.report.runs import accuracy_of, record, records

pytestmark = pytest.mark.usefixtures("drawing")


@pytest.mark.parametrize(
    ("rule", "epochs"),
    # Even folds peak at epoch 2, odd ones at 3; three of five are even.
    [("last", [4, 4, 4, 4, 4]), ("common-best", [2] * 5), ("fold-best", [2, 3, 2, 3, 2])],
)
def test_evaluated_epochs_are_those_of_the_rule(report_on, rule, epochs):
    report = report_on(records(["max"], ["A"], protocol="paper"))
    entry = report.by(rule).entries["max", "A"]
    evaluated = learning_curves(entry, rule).evaluated
    assert [epoch for epoch, _ in evaluated] == epochs
    assert np.isclose(np.mean([height for _, height in evaluated]), entry.summary.mean)


def test_curves_under_fair_are_those_of_the_validation_graphs(report_on):
    entry = report_on(records(["max"], ["A"])).by("fair").entries["max", "A"]
    curves = learning_curves(entry, "fair")
    assert [epoch for epoch, _ in curves.evaluated] == [2, 3, 2, 3, 2]
    assert curves.accuracy.shape == curves.train.shape == (5, 4)
    assert np.isclose(curves.accuracy[0, 1], accuracy_of("max", "A", 0, 0))


def test_incomplete_run_has_no_common_epoch(report_on):
    entry = report_on(records(["max"], ["A"], protocol="paper")[:3]).by("last").entries["max", "A"]
    assert learning_curves(entry, "common-best").evaluated == []
    assert len(learning_curves(entry, "fold-best").evaluated) == 3


def test_incomplete_run_is_drawn_without_a_common_epoch(report_on):
    report = report_on(records(["max"], ["A"], protocol="paper")[:3])
    about = draw_curves(report.by("common-best"), "A").about
    assert about.endswith("% after 4 epochs.")


def test_folds_of_unequal_length_are_drawn(report_on):
    some = records(["max"], ["A"])
    short = some[0].outcome
    two = {"validation": (0.1, 0.9), "train": (0.2, 0.3)}
    cut = short.curve.model_copy(update={**two, "loss": (1.0, 0.9), "validation_loss": (1.0, 0.9)})
    some[0] = some[0].model_copy(update={"outcome": short.model_copy(update={"curve": cut})})
    board = report_on(some).by("fair")
    assert np.isnan(learning_curves(board.entries["max", "A"], "fair").accuracy[0, 2:]).all()
    assert draw_curves(board, "A") is not None


def test_each_row_has_a_panel_titled_with_its_progress(report_on):
    some = [*records(datasets=["A"]), *records(["gmt"], ["A"])[:2]]
    drawing = draw_panels(report_on(some).by("fair"), "A")
    titles = [axes.get_title(loc="left") for axes in drawing.figure.axes if axes.axison]
    assert titles == ["max", "loop", "image", "gmt (2 of 5)"]
    assert "evaluated epochs from 2 to 3" in drawing.about


def test_without_completed_folds_nothing_is_drawn(report_on):
    failed = [record("max", "A", fold, failed=True) for fold in range(5)]
    board = report_on(failed).by("fair")
    assert draw_curves(board, "A") is None
    assert draw_panels(board, "A") is None


@pytest.mark.usefixtures("drawing")
def test_long_names_do_not_overlap(report_on):
    pools = [f"learned-spectral (epochs 100, slots {n})" for n in range(5)]
    drawing = draw_panels(report_on(records(pools, ["A"])).by("fair"), "A")
    canvas = FigureCanvasAgg(drawing.figure)
    canvas.draw()
    shown = [axes for axes in drawing.figure.axes if axes.axison]
    titles = [axes._left_title.get_window_extent(canvas.get_renderer()) for axes in shown]
    assert len(titles) == 5
    panels = [axes.get_tightbbox(canvas.get_renderer(), call_axes_locator=False) for axes in shown]
    assert not any(a.overlaps(b) for n, a in enumerate(titles) for b in titles[:n])
    assert not any(t.overlaps(p) for n, t in enumerate(titles) for p in panels[:n])
    assert max(title.y1 for title in titles) <= drawing.figure.bbox.y1


def test_records_without_curves_are_not_drawn(report_on):
    kept = records(["max"], ["A"])
    bare = [
        one.model_copy(
            update={"outcome": one.outcome.model_copy(update={"curve": type(one.outcome.curve)()})}
        )
        for one in kept
    ]
    assert draw_curves(report_on(kept).by("fair"), "A") is not None
    assert draw_curves(report_on(bare).by("fair"), "A") is None


def test_curves_of_all_rows_are_in_one_panel_with_their_colours(report_on):
    board = report_on(records(datasets=["A"])).by("fair")
    figure = draw_curves(board, "A").figure
    (axes,) = figure.axes
    colors = row_colors(board.rows)
    assert [line.get_color() for line in axes.lines] == [colors[row] for row in board.rows]
    for row, line in zip(board.rows, axes.lines, strict=True):
        mean = learning_curves(board.entries[row, "A"], "fair").accuracy.mean(axis=0)
        assert np.allclose(line.get_ydata(), 100 * mean)
    assert [text.get_text() for text in figure.texts] == list(board.rows)


@pytest.mark.parametrize("length", [3, 40])
def test_legend_is_complete_and_inside_the_figure(report_on, length):
    pools = [f"{'p' * length}{number}" for number in range(9)]
    figure = draw_curves(report_on(records(pools, ["A"])).by("fair"), "A").figure
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    boxes = [text.get_window_extent(canvas.get_renderer()) for text in figure.texts]
    assert len(boxes) == 9
    assert not any(a.overlaps(b) for n, a in enumerate(boxes) for b in boxes[:n])
    assert all(box.x0 >= 0 and box.x1 <= figure.bbox.x1 and box.y0 >= 0 for box in boxes)
    label = figure.axes[0].xaxis.label.get_window_extent(canvas.get_renderer())
    assert max(box.y1 for box in boxes) < label.y0
