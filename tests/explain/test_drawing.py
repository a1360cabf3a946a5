import numpy as np
import pytest
from matplotlib.path import Path

from lfds.explain.drawing import draw_basis, draw_circle, draw_graph, draw_grid, draw_line

ALL = [
    draw_grid(3, 5),
    draw_circle(3),
    draw_circle(64),
    draw_line(2, "Sequence", boxes=False),
    draw_line(64, "Array", boxes=True),
    draw_graph(np.ones((6, 6)) - np.eye(6), "Graph"),
    draw_graph(np.zeros((4, 4)), "Graph"),
    draw_basis(np.eye(7)),
]


@pytest.mark.parametrize("drawing", ALL, ids=lambda drawing: drawing.words)
def test_slots_are_apart_and_inside_the_picture(drawing):
    places = drawing.places
    assert np.abs(places).max() <= 1
    apart = np.linalg.norm(places[:, None] - places[None], axis=2) + 9 * np.eye(len(places))
    assert apart.min() >= 2 * drawing.size * 0.99
    if drawing.outlines.size:
        assert len(drawing.outlines) == len(places)
        assert np.abs(drawing.outlines).max() <= 1 + 1e-9
        for outline, place in zip(drawing.outlines, places, strict=True):
            assert Path(outline).contains_point(place)
    assert drawing.label_places.shape == places.shape
    assert len(drawing.edges) == len(drawing.weights)
    assert ((drawing.weights >= 0) & (drawing.weights <= 1)).all()


def test_an_image_is_read_like_text():
    places = draw_grid(2, 3).places
    first, second, third, fourth = places[:4]
    assert first[0] < second[0] < third[0]
    assert first[1] == second[1] > fourth[1]
    assert first[0] == fourth[0]


def test_a_loop_runs_clockwise_from_the_top():
    top, right, bottom, left = draw_circle(4).places
    assert top[1] == pytest.approx(0.84)
    assert right[0] == pytest.approx(0.84)
    assert bottom[1] == pytest.approx(-0.84)
    assert left[0] == pytest.approx(-0.84)


def test_neighbours_on_a_folded_line_are_near():
    drawing = draw_line(64, "Sequence", boxes=False)
    steps = np.linalg.norm(np.diff(drawing.places, axis=0), axis=1)
    assert steps.max() < 3 * steps.min()
    np.testing.assert_array_equal(drawing.edges, [(i, i + 1) for i in range(63)])


def test_strong_edges_are_short_and_drawn_first():
    rng = np.random.default_rng(0)
    weights = rng.uniform(0.2, 0.3, size=(30, 30))
    weights[:15, :15] += 0.6
    weights[15:, 15:] += 0.6
    adjacency = np.triu(weights, 1) + np.triu(weights, 1).T
    drawing = draw_graph(adjacency, "Learned graph")
    places = drawing.places
    apart = np.linalg.norm(places[:, None] - places[None], axis=2)
    assert apart[:15, :15].mean() < 0.8 * apart[:15, 15:].mean()
    assert len(drawing.edges) == 90
    drawn = adjacency[tuple(drawing.edges.T)]
    assert drawn.min() >= np.sort(adjacency[np.triu_indices(30, 1)])[-90]
    assert "strongest 90 of 435" in drawing.note


def test_all_edges_of_a_small_graph_are_drawn():
    path = np.diag(np.ones(4), 1)
    drawing = draw_graph(path + path.T, "Graph")
    assert drawing.edges.tolist() == [[0, 1], [1, 2], [2, 3], [3, 4]]
    assert drawing.note == ""
