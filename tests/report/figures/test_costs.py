import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import PathCollection
from matplotlib.text import Text

from lfds.report.figures.costs import LINE_HEIGHT, draw_costs, free_height, log_ticks
from tests.report.runs import record, records, with_outcome


@pytest.mark.usefixtures("drawing")
def test_complete_rows_are_points_at_their_cost_and_accuracy(report_on):
    some = [*records(["max", "loop"], ["A"]), *records(["gmt"], ["A"])[:2]]
    board = report_on(some).by("fair")
    drawing = draw_costs(board, "A")
    time, size = drawing.figure.axes
    assert [text.get_text() for text in time.texts] == ["loop", "max"]
    first = next(found for found in time.collections if isinstance(found, PathCollection))
    (where,) = first.get_offsets()
    mean = board.entries["max", "A"].summary.mean
    assert tuple(where) == (4.0, pytest.approx(100 * mean))
    assert size.get_xlabel() == "parameters"
    assert "gmt" not in drawing.about


@pytest.mark.usefixtures("drawing")
def test_memory_is_shown_if_it_was_measured(report_on):
    def panels(**changes):
        some = [with_outcome(one, **changes) for one in records(["max"], ["A"])]
        return draw_costs(report_on(some).by("fair"), "A").figure.axes

    assert len(panels(peak_memory=5_000_000)) == 3
    time, _ = panels(seconds=0.0)
    assert time.get_xscale() == "linear"


@pytest.mark.usefixtures("drawing")
def test_rows_without_measured_memory_are_left_out_of_its_panel(report_on):
    measured = [with_outcome(one, peak_memory=5_000_000) for one in records(["max"], ["A"])]
    drawing = draw_costs(report_on([*measured, *records(["loop"], ["A"])]).by("fair"), "A")
    time, _, memory = drawing.figure.axes
    assert [len(axes.texts) for axes in (time, memory)] == [2, 1]


def test_without_complete_rows_nothing_is_drawn(report_on):
    assert draw_costs(report_on([record("max", "A")]).by("fair"), "A") is None


@given(st.floats(1e-3, 1e9), st.floats(2, 1e6), st.integers(3, 5))
def test_ticks_are_few_and_inside(low, ratio, most):
    ticks = log_ticks(low, low * ratio, most)
    assert 2 <= len(ticks) <= most
    assert all(low <= tick <= low * ratio for tick in ticks)
    assert ticks == sorted(ticks)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_names_at_one_place_do_not_overlap_and_stay_in_the_panel(heights):
    taken = []
    for up in sorted(heights, reverse=True):
        taken.append((0.5, 0.7, free_height((0.5, 0.7), up, taken)))
    places = [place for _, _, place in taken]
    assert all(abs(a - b) >= LINE_HEIGHT - 1e-6 for n, a in enumerate(places) for b in places[:n])
    if len(heights) <= 6:
        assert all(0 <= place <= 1 for place in places)
    assert free_height((0.71, 0.9), 0.5, taken) == 0.5


@pytest.mark.usefixtures("drawing")
@pytest.mark.parametrize(("letters", "more"), [("abcdefghijklmn", ""), ("ab", " (epochs 100, #2)")])
def test_many_or_long_rows_are_numbered_with_a_legend_and_do_not_overlap(report_on, letters, more):
    pools = [f"pooling-{letter}{more}" for letter in letters]
    drawing = draw_costs(report_on(records(pools, ["A"])).by("fair"), "A")
    canvas = FigureCanvasAgg(drawing.figure)
    canvas.draw()
    names = [text.get_text() for text in drawing.figure.texts]
    assert [name for name in names if not name.isdigit()] == pools
    for axes in [*drawing.figure.axes, drawing.figure]:
        boxes = [Text.get_window_extent(text, canvas.get_renderer()) for text in axes.texts]
        assert not any(a.overlaps(b) for n, a in enumerate(boxes) for b in boxes[:n])
        assert all(axes.bbox.y0 - 9 < box.y0 and box.x1 < canvas.figure.bbox.x1 for box in boxes)


def test_memory_is_the_median_without_the_first_fold_of_each_process(report_on):
    some = records(["max", "loop"], ["A"])
    # Two processes: their first folds also load code and data.
    peaks = {0: 90, 1: 20, 2: 30, 3: 95, 4: 22}
    told = [
        with_outcome(
            one, peak_memory=10**6 * peaks[one.fold.fold], cold_start=one.fold.fold in (0, 3)
        )
        for one in some
    ]
    cost = report_on(told).by("fair").entries["loop", "A"].series.cost
    assert cost.memory == 22e6
    # Records that do not tell: the first fold of the dataset, which is one of max.
    silent = [with_outcome(one, cold_start=None) for one in told]
    board = report_on(silent).by("fair")
    assert board.entries["max", "A"].series.cost.memory == (22e6 + 30e6) / 2
    assert board.entries["loop", "A"].series.cost.memory == 30e6
    cold = [with_outcome(one, cold_start=True) for one in told]
    assert report_on(cold).by("fair").entries["max", "A"].series.cost.memory is None
