import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.text import Annotation

from lfds.report.figures.ranks import draw_ranks, plot_ranks
from lfds.results.ranks import Ranking, rank
from tests.report.runs import records

pytestmark = pytest.mark.usefixtures("drawing")


def lines(figure, width):
    found = figure.axes[0].lines
    return [line.get_xdata() for line in found if line.get_linewidth() == pytest.approx(width)]


def test_ruler_has_the_length_of_the_critical_difference():
    ranking = rank({"a": {"x": 0.9, "y": 0.9}, "b": {"x": 0.8, "y": 0.7}}, "fair")
    figure = plot_ranks(ranking)
    (ruler,) = lines(figure, 1.2)
    assert ruler[1] - ruler[0] == pytest.approx(ranking.critical_difference)
    texts = [text.get_text() for text in figure.axes[0].texts]
    assert f"critical difference {ranking.critical_difference:.2f}" in texts


def test_bars_join_the_groups_and_nothing_else():
    ranks = {"a": 1.0, "b": 1.5, "c": 3.6, "d": 3.9}
    ranking = Ranking("fair", ranks, 1.0, 0.01, 9, (("a", "b"), ("c", "d")))
    bars = lines(plot_ranks(ranking), 2.8)
    assert [(bar[0], bar[1]) for bar in bars] == [
        pytest.approx((0.96, 1.54)), pytest.approx((3.56, 3.94)),
    ]  # fmt: skip


@pytest.mark.parametrize("count", [2, 3, 7, 17])
def test_every_name_is_at_its_rank_and_no_lines_cross(count):
    ranks = {f"pool{n}": 1 + n * (count - 1) / count for n in range(count)}
    figure = plot_ranks(Ranking("fair", ranks, 1.0, 0.5, 5, ()))
    labels = [text for text in figure.axes[0].texts if isinstance(text, Annotation)]
    texts = [(label.xy, label.get_text()) for label in labels]
    for name, place in ranks.items():
        (where,) = (xy for xy, text in texts if text == name)
        assert (where, f"{place:.2f}") in texts
    hooks = [line for line in figure.axes[0].lines if len(line.get_xdata()) == 3]
    left = [line for line in hooks if line.get_xdata()[2] == 1]
    # On the left, names of higher ranks are lower: else their lines would cross.
    depths = [line.get_ydata()[1] for line in sorted(left, key=lambda one: one.get_xdata()[0])]
    assert depths == sorted(depths, reverse=True)
    right = [line for line in hooks if line.get_xdata()[2] == count]
    depths = [line.get_ydata()[1] for line in sorted(right, key=lambda one: one.get_xdata()[0])]
    assert depths == sorted(depths)
    assert len(left) + len(right) == count
    bottom = figure.axes[0].get_ylim()[0]
    assert all(label.xy[1] > bottom for label in labels)


@pytest.mark.parametrize("count", [2, 14, 17])
def test_long_names_are_complete_and_do_not_overlap(count):
    ranks = {f"learned-spectral (epochs 100, slots {n})": 1.0 + n for n in range(count)}
    figure = plot_ranks(Ranking("fair", ranks, 1.0, 0.5, 5, ()))
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    labels = [text for text in figure.axes[0].texts if isinstance(text, Annotation)]
    assert {label.get_text().replace("\n", " ") for label in labels} >= set(ranks)
    boxes = [label.get_window_extent(canvas.get_renderer()) for label in labels]
    assert not any(a.overlaps(b) for n, a in enumerate(boxes) for b in boxes[:n])
    places = [t for t in figure.axes[0].texts if t.get_text().isdigit()]
    numbers = [place.get_window_extent(canvas.get_renderer()) for place in places]
    assert places[0].get_text() == "1"
    assert not any(a.overlaps(b) for n, a in enumerate(numbers) for b in numbers[:n])
    whole = figure.bbox
    assert all(box.x0 >= 0 and box.x1 <= whole.x1 and box.y0 >= 0 for box in boxes)


def test_caption_names_the_datasets_used_and_left_out(report_on):
    some = records(["max", "loop"], ["AAA", "BBBB", "C"])
    some = [r for r in some if (r.fold.dataset, r.fold.pool) != ("C", "loop")]
    caption = draw_ranks(report_on(some).by("fair")).caption
    assert "Mean rank over AAA, BBBB;" in caption
    assert "Not every pooling is complete on the same folds on C." in caption
    assert draw_ranks(report_on(records(["max", "loop"], ["A"])).by("fair")) is None
