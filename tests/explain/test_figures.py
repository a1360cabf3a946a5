import numpy as np
import pytest
from matplotlib.colors import to_rgb
from PIL import Image

import lfds
from lfds.explain.figures import draw_class_maps, draw_landing, draw_usage, write_figures
from lfds.explain.matplotlib_render import HIGH
from tests.explain.models import clouds, fitted, strings


@pytest.fixture(scope="module")
def numbers():
    return lfds.atlas(fitted(classes="odd"), clouds(), show=[4]).numbers


def test_figures_come_as_png_and_svg(numbers, tmp_path):
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
    assert "$x_1" in text  # a name is no formula


def test_several_structures_have_figures_each(tmp_path):
    numbers = lfds.atlas(fitted("image+loop"), clouds(), show=[4]).numbers
    names = {path.stem for path in write_figures(numbers, tmp_path)}
    parts = ("graph-0004", "usage", "classes")
    assert names == {f"{part}{end}" for part in parts for end in ("-0-image", "-1-loop")}


def test_the_slot_with_the_largest_share_is_the_strongest(numbers):
    graph = numbers.graphs[0]
    figure = draw_landing(numbers, graph, node=7)
    slots = next(c for c in figure.axes[1].collections if len(c.get_facecolors()) == 9)
    strongest = int(graph.shares[0][7].argmax())
    np.testing.assert_allclose(slots.get_facecolors()[strongest][:3], to_rgb(HIGH), atol=1e-6)
    dark = slots.get_facecolors()[:, 0]
    # The colours of shares next to nothing differ by rounding alone.
    by_share = dark[np.argsort(-graph.shares[0][7])]
    assert (np.diff(by_share) > -1e-6).all()
    assert len(np.unique(dark)) > 3


def test_usage_bars_are_as_high_as_the_usage(numbers):
    upper = draw_usage(numbers, numbers.pools[0]).axes[0]
    heights = [bar.get_height() for bar in upper.patches]
    np.testing.assert_allclose(heights, numbers.pools[0].usage)


def test_every_class_has_its_map(numbers):
    figure = draw_class_maps(numbers, numbers.pools[0])
    assert sum(axes.axison is False and bool(axes.collections) for axes in figure.axes) == 8


@pytest.mark.parametrize("structure", ["learned-spectral", "learned-spatial", "sequence"])
def test_odd_graphs_on_every_structure_are_drawn(structure):
    numbers = lfds.atlas(fitted(structure), strings()).numbers
    for graph in numbers.graphs:
        draw_landing(numbers, graph).canvas.draw()
    draw_class_maps(numbers, numbers.pools[0]).canvas.draw()
