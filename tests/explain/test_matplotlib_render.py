import numpy as np
import pytest

from lfds.explain.matplotlib_render import entitle, flat, most, new_figure, write_figure


def small_figure():
    figure = new_figure(2, 1)
    entitle(figure.subplots(), "a $ <b>", "$\\frac{")
    return figure


def test_the_same_figure_gives_the_same_files(tmp_path):
    first, second = (write_figure(small_figure(), tmp_path / name, "one") for name in ("a", "b"))
    assert [path.suffix for path in first] == [".png", ".svg"]
    for one, two in zip(first, second, strict=True):
        assert one.read_bytes() == two.read_bytes()
    assert "a $ &lt;b&gt;" in first[1].read_text(encoding="utf-8")


def test_clouds_are_seen_upright_and_from_the_side():
    places = np.array([[0, 0, 1.0], [0, 0, -1], [1, 0, 0], [-1, 0, 0]])
    seen = flat(places)
    assert seen[0, 1] > 0.85  # the third coordinate points upwards
    assert seen[2, 0] > 0.7
    assert np.linalg.norm(seen, axis=1).max() <= 1
    plane = np.random.default_rng(0).normal(size=(4, 2))
    assert flat(plane) is plane


def test_nothing_has_no_maximum_but_zero():
    assert most(np.zeros(0)) == 0
    assert most(np.array([0.25, 0.5])) == pytest.approx(0.5)
