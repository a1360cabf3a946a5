import pytest

from lfds.report.figures.ranks import draw_ranks
from lfds.results.ranks import Ranking, rank

pytestmark = pytest.mark.usefixtures("drawing")


def lines(drawing, width):
    found = drawing.figure.axes[0].lines
    return [line.get_xdata() for line in found if line.get_linewidth() == pytest.approx(width)]


def test_the_ruler_is_as_long_as_the_critical_difference():
    ranking = rank({"a": {"x": 0.9, "y": 0.9}, "b": {"x": 0.8, "y": 0.7}}, "fair")
    drawing = draw_ranks(ranking)
    (ruler,) = lines(drawing, 1.2)
    assert ruler[1] - ruler[0] == pytest.approx(ranking.critical_difference)
    said = [text.get_text() for text in drawing.figure.axes[0].texts]
    assert f"critical difference {ranking.critical_difference:.2f}" in said


def test_bars_join_the_groups_and_nothing_else():
    ranks = {"a": 1.0, "b": 1.5, "c": 3.6, "d": 3.9}
    ranking = Ranking("fair", ranks, 1.0, 0.01, 9, (("a", "b"), ("c", "d")))
    bars = lines(draw_ranks(ranking), 2.8)
    assert [(bar[0], bar[1]) for bar in bars] == [
        pytest.approx((0.96, 1.54)), pytest.approx((3.56, 3.94)),
    ]  # fmt: skip


@pytest.mark.parametrize("count", [2, 3, 7, 17])
def test_every_name_is_there_once_hanging_from_its_rank_and_no_lines_cross(count):
    ranks = {f"pool{n}": 1 + n * (count - 1) / count for n in range(count)}
    drawing = draw_ranks(Ranking("fair", ranks, 1.0, 0.5, 5, ()))
    said = [text.get_text() for text in drawing.figure.axes[0].texts]
    for name, place in ranks.items():
        assert sum(name in text.split() and f"{place:.2f}" in text for text in said) == 1
    hooks = [line for line in drawing.figure.axes[0].lines if len(line.get_xdata()) == 3]
    left = [line for line in hooks if line.get_xdata()[2] == 1]
    # On the left, the farther right a name hangs, the lower: else its line would cross others.
    depths = [line.get_ydata()[1] for line in sorted(left, key=lambda one: one.get_xdata()[0])]
    assert depths == sorted(depths, reverse=True)
    right = [line for line in hooks if line.get_xdata()[2] == count]
    depths = [line.get_ydata()[1] for line in sorted(right, key=lambda one: one.get_xdata()[0])]
    assert depths == sorted(depths)
    assert len(left) + len(right) == count
    bottom = drawing.figure.axes[0].get_ylim()[0]
    assert all(text.get_position()[1] > bottom for text in drawing.figure.axes[0].texts)
