import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.collections import PathCollection

from lfds.report.cost import Cost
from lfds.report.figures import costs
from lfds.report.figures.costs import _LINE, draw_costs, few_ticks, free_place
from tests.report.runs import record, records


@pytest.mark.usefixtures("drawing")
def test_complete_rows_are_points_at_their_cost_and_accuracy(report_on):
    some = [*records(["max", "loop"], ["A"]), *records(["gmt"], ["A"])[:2]]
    standing = report_on(some).by("fair")
    drawing = draw_costs(standing, "A")
    time, size = drawing.figure.axes
    assert [text.get_text() for text in time.texts] == ["loop", "max"]
    first = next(found for found in time.collections if isinstance(found, PathCollection))
    (where,) = first.get_offsets()
    mean = standing.entries["max", "A"].summary.mean
    assert tuple(where) == (4.0, pytest.approx(100 * mean))
    assert size.get_xlabel() == "numbers learned"
    assert "gmt" not in drawing.about


@pytest.mark.usefixtures("drawing")
def test_memory_is_shown_where_it_was_measured(report_on, monkeypatch):
    standing = report_on(records(["max"], ["A"])).by("fair")
    monkeypatch.setattr(costs, "cost_of", lambda _: Cost(1.0, 10, 5e6))
    assert len(draw_costs(standing, "A").figure.axes) == 3
    monkeypatch.setattr(costs, "cost_of", lambda _: Cost(0.0, 10, None))
    time, _ = draw_costs(standing, "A").figure.axes
    assert time.get_xscale() == "linear"


def test_where_nothing_is_complete_nothing_is_shown(report_on):
    assert draw_costs(report_on([record("max", "A")]).by("fair"), "A") is None


@given(st.floats(1e-3, 1e9), st.floats(2, 1e6))
def test_ticks_are_few_and_inside(low, ratio):
    ticks = few_ticks(low, low * ratio)
    assert 2 <= len(ticks) <= 5
    assert all(low <= tick <= low * ratio for tick in ticks)
    assert ticks == sorted(ticks)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_names_at_one_place_never_meet(heights):
    taken = []
    for up in sorted(heights, reverse=True):
        place = free_place((0.5, up), taken, 0.2)
        assert place <= up
        taken.append((0.5, place))
    places = [place for _, place in taken]
    assert all(abs(a - b) >= _LINE - 1e-6 for n, a in enumerate(places) for b in places[:n])
    assert free_place((0.9, 0.5), taken, 0.2) == 0.5
