import numpy as np
import pytest
from matplotlib.colors import to_rgb
from PIL import Image

import lfds
from lfds.explain.figures import (
    HIGH,
    add_title,
    draw_class_maps,
    draw_landing,
    draw_usage,
    largest,
    new_figure,
    projected,
    write_figure,
    write_figures,
)
from tests.explain.models import clouds, fitted, paths


@pytest.fixture(scope="module")
def numbers():
    return lfds.atlas(fitted(classes="odd"), clouds(), show=[4]).numbers


def test_figures_are_written_as_png_and_svg(numbers, tmp_path):
    files = write_figures(numbers, tmp_path / "figures")
    names = sorted(path.name for path in files)
    assert names == sorted(path.name for path in (tmp_path / "figures").iterdir())
    assert names == [
        f"{name}.{kind}" for name in ("classes", "graph-0004", "usage") for kind in ("png", "svg")
    ]
    with Image.open(tmp_path / "figures" / "graph-0004.png") as picture:
        assert picture.width > 600
    text = (tmp_path / "figures" / "classes.svg").read_text(encoding="utf-8")
    assert "<script>" not in text
    assert "$x_1" in text  # a name is not parsed as a formula


def test_every_structure_has_its_own_figures(tmp_path):
    numbers = lfds.atlas(fitted("image+loop"), clouds(), show=[4]).numbers
    names = {path.stem for path in write_figures(numbers, tmp_path)}
    parts = ("graph-0004", "usage", "classes")
    assert names == {f"{part}{end}" for part in parts for end in ("-0-image", "-1-loop")}


def test_the_slot_with_the_largest_share_has_the_strongest_colour(numbers):
    graph = numbers.graphs[0]
    figure = draw_landing(numbers, graph, node=7)
    slots = next(c for c in figure.axes[1].collections if len(c.get_facecolors()) == 9)
    strongest = int(graph.shares[0][7].argmax())
    np.testing.assert_allclose(slots.get_facecolors()[strongest][:3], to_rgb(HIGH), atol=1e-6)
    red = slots.get_facecolors()[:, 0]
    # The colours of shares near zero differ by rounding alone.
    by_share = red[np.argsort(-graph.shares[0][7])]
    assert (np.diff(by_share) > -1e-6).all()
    assert len(np.unique(red)) > 3


def test_usage_bars_have_the_height_of_the_usage(numbers):
    upper = draw_usage(numbers, numbers.pools[0]).axes[0]
    heights = [bar.get_height() for bar in upper.patches]
    np.testing.assert_allclose(heights, numbers.pools[0].usage)


def test_every_class_has_a_map(numbers):
    figure = draw_class_maps(numbers, numbers.pools[0])
    assert sum(axes.axison is False and bool(axes.collections) for axes in figure.axes) == 8


@pytest.mark.parametrize("structure", ["learned-spectral", "learned-spatial", "sequence"])
def test_small_and_empty_graphs_are_drawn_on_every_structure(structure):
    numbers = lfds.atlas(fitted(structure), paths()).numbers
    for graph in numbers.graphs:
        draw_landing(numbers, graph).canvas.draw()
    draw_class_maps(numbers, numbers.pools[0]).canvas.draw()


def small_figure():
    figure = new_figure(2, 1)
    add_title(figure.subplots(), "a $ <b>", "$\\frac{")
    return figure


def test_the_same_figure_gives_the_same_files(tmp_path):
    first, second = (write_figure(small_figure(), tmp_path / name, "one") for name in ("a", "b"))
    assert [path.suffix for path in first] == [".png", ".svg"]
    for one, two in zip(first, second, strict=True):
        assert one.read_bytes() == two.read_bytes()
    assert "a $ &lt;b&gt;" in first[1].read_text(encoding="utf-8")


def test_the_third_coordinate_points_upwards():
    positions = np.array([[0, 0, 1.0], [0, 0, -1], [1, 0, 0], [-1, 0, 0]])
    seen = projected(positions)
    assert seen[0, 1] > 0.85
    assert seen[2, 0] > 0.7
    assert np.linalg.norm(seen, axis=1).max() <= 1
    plane = np.random.default_rng(0).normal(size=(4, 2))
    assert projected(plane) is plane


def test_the_largest_of_no_values_is_zero():
    assert largest(np.zeros(0)) == 0
    assert largest(np.array([0.25, 0.5])) == pytest.approx(0.5)
