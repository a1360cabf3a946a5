import numpy as np
import pytest
import torch
from matplotlib.path import Path

import lfds
from lfds.explain.drawing import (
    draw_basis,
    draw_circle,
    draw_graph,
    draw_grid,
    draw_line,
    draw_structure,
)

ALL = [
    draw_grid(3, 5, "Image"),
    draw_circle(3, "Loop"),
    draw_circle(64, "Loop"),
    draw_line(2, "Sequence", boxes=False),
    draw_line(64, "Array", boxes=True),
    draw_graph(np.ones((6, 6)) - np.eye(6), "Graph"),
    draw_graph(np.zeros((4, 4)), "Graph"),
    draw_basis(np.eye(7), "Spectrum"),
]


@pytest.mark.parametrize("drawing", ALL, ids=lambda drawing: drawing.title)
def test_slots_are_apart_and_inside_the_picture(drawing):
    positions = drawing.positions
    assert np.abs(positions).max() <= 1
    distances = np.linalg.norm(positions[:, None] - positions[None], axis=2)
    assert (distances + 9 * np.eye(len(positions))).min() >= 2 * drawing.size * 0.99
    if drawing.outlines.size:
        assert len(drawing.outlines) == len(positions)
        assert np.abs(drawing.outlines).max() <= 1 + 1e-9
        for outline, position in zip(drawing.outlines, positions, strict=True):
            assert Path(outline).contains_point(position)
    assert drawing.label_positions.shape == positions.shape
    assert len(drawing.edges) == len(drawing.weights)
    assert ((drawing.weights >= 0) & (drawing.weights <= 1)).all()


def test_a_grid_is_drawn_row_by_row():
    first, second, third, fourth = draw_grid(2, 3, "Image").positions[:4]
    assert first[0] < second[0] < third[0]
    assert first[1] == second[1] > fourth[1]
    assert first[0] == fourth[0]


def test_a_circle_runs_clockwise_from_the_top():
    top, right, bottom, left = draw_circle(4, "Loop").positions
    assert top[1] == pytest.approx(0.84)
    assert right[0] == pytest.approx(0.84)
    assert bottom[1] == pytest.approx(-0.84)
    assert left[0] == pytest.approx(-0.84)


def test_neighbours_on_a_folded_line_are_close():
    drawing = draw_line(64, "Sequence", boxes=False)
    steps = np.linalg.norm(np.diff(drawing.positions, axis=0), axis=1)
    assert steps.max() < 3 * steps.min()
    np.testing.assert_array_equal(drawing.edges, [(i, i + 1) for i in range(63)])


def test_strong_edges_are_short_and_drawn_first():
    rng = np.random.default_rng(0)
    weights = rng.uniform(0.2, 0.3, size=(30, 30))
    weights[:15, :15] += 0.6
    weights[15:, 15:] += 0.6
    adjacency = np.triu(weights, 1) + np.triu(weights, 1).T
    drawing = draw_graph(adjacency, "Learned graph")
    positions = drawing.positions
    distances = np.linalg.norm(positions[:, None] - positions[None], axis=2)
    assert distances[:15, :15].mean() < 0.8 * distances[:15, 15:].mean()
    assert len(drawing.edges) == 90
    drawn = adjacency[tuple(drawing.edges.T)]
    assert drawn.min() >= np.sort(adjacency[np.triu_indices(30, 1)])[-90]
    assert "strongest 90 of 435" in drawing.note


def test_all_edges_of_a_small_graph_are_drawn():
    path = np.diag(np.ones(4), 1)
    drawing = draw_graph(path + path.T, "Graph")
    assert drawing.edges.tolist() == [[0, 1], [1, 2], [2, 3], [3, 4]]
    assert drawing.note == ""


@pytest.mark.parametrize(
    ("structure", "title"),
    [
        (lfds.Image(2, 3), "Image of 2 x 3 slots"),
        (lfds.Loop(5), "Loop of 5 slots"),
        (lfds.Sequence(5), "Sequence of 5 slots"),
        (lfds.Array(5), "Array of 5 slots"),
        (lfds.LearnedGraph(5), "Learned graph of 5 slots"),
        (lfds.LatentGraph(torch.ones(4, 4) - torch.eye(4)), "Graph of 4 slots"),
        (lfds.LearnedSpectrum(5), "Spectrum of 5 slots"),
        (lfds.LearnedSpectrum(5, orthonormal="exact"), "Spectrum of 5 slots"),
    ],
    ids=repr,
)
def test_every_structure_is_drawn(structure, title):
    drawing = draw_structure(structure)
    assert drawing.title == title
    assert len(drawing.positions) == structure.num_slots


def test_every_registered_structure_is_drawn():
    for structure in lfds.STRUCTURES.values():
        settings = lfds.nn.NetworkSettings(pool="loop", slots=9)
        assert len(draw_structure(structure.from_settings(settings)).positions) == 9


def test_a_learned_graph_is_drawn_by_its_weights():
    structure = lfds.LearnedGraph(4)
    with torch.no_grad():
        structure.logits.fill_(-1.0)
        structure.logits[1, 2] = 4.0
    drawing = draw_structure(structure)
    strongest = drawing.edges[drawing.weights.argmax()]
    assert strongest.tolist() == [1, 2]
    assert drawing.weights.max() == 1


def test_a_spectrum_is_drawn_with_its_basis():
    structure = lfds.LearnedSpectrum(6)
    found = draw_structure(structure).basis
    np.testing.assert_allclose(found, structure.basis.detach().numpy())
