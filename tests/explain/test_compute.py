import numpy as np
import pytest
import torch

import lfds
from lfds.explain.capture import latent_pools
from lfds.explain.compute import BESIDE, atlas_numbers, places_of, spread_over_classes, undirected
from lfds.nn.pool import READOUTS
from tests.explain.models import clouds, fitted, nodes_as_pooled, strings


def numbers_of(model, graphs, shown):
    return atlas_numbers(model.network_, model.encoder_, graphs, model.meaning_, shown)


@pytest.mark.parametrize("structure", lfds.STRUCTURES)
def test_shares_are_those_of_the_pooling(structure):
    model = fitted(structure)
    made = numbers_of(model, clouds(), [11, 2])
    batch = model.encoder_.transform(clouds()).batch([11, 2])
    network = model.network_.eval()
    (pool,) = latent_pools(network)
    with torch.no_grad():
        nodes = nodes_as_pooled(network, batch)
        together = pool.shares(nodes, ptr=batch.ptr).numpy()
    for view, rows in zip(made.graphs, (together[:20], together[20:]), strict=True):
        np.testing.assert_allclose(view.shares[0], rows, atol=1e-6)
        np.testing.assert_allclose(made.pools[0].mass[view.number], rows.mean(axis=0), atol=1e-6)
    assert [view.number for view in made.graphs] == [11, 2]


def test_everything_adds_up():
    model = fitted()
    made = numbers_of(model, clouds(), [0])
    pool = made.pools[0]
    assert pool.mass.shape == (16, 9)
    np.testing.assert_allclose(pool.mass.sum(axis=1), 1, rtol=1e-5)
    np.testing.assert_allclose(pool.picks.sum(axis=2), 8, rtol=1e-5)  # channels
    np.testing.assert_allclose(made.graphs[0].deciding[0].sum(), 1, rtol=1e-4)
    assert made.through == (32, 48)  # maxima and weighted sums of two layers, and of the base
    np.testing.assert_allclose(made.probabilities, model.predict_proba(clouds()), atol=1e-6)
    assert made.target.tolist() == clouds().y.tolist()


def test_several_structures_stand_side_by_side():
    model = fitted("image+loop+learned-spectral")
    made = numbers_of(model, clouds(), [4])
    assert [pool.name for pool in made.pools] == ["Image", "Loop", "LearnedSpectrum"]
    batch = model.encoder_.transform(clouds()).batch([4])
    network = model.network_.eval()
    with torch.no_grad():
        nodes = nodes_as_pooled(network, batch)
        for pool, shares in zip(latent_pools(network), made.graphs[0].shares, strict=True):
            np.testing.assert_allclose(shares, pool.shares(nodes, ptr=batch.ptr), atol=1e-6)
    assert made.through == (32, 32, 32, 112)


def test_what_is_read_of_all_slots_beside_their_maxima_is_told():
    assert set(BESIDE) == set(READOUTS)
    assert numbers_of(fitted(), clouds(), [0]).pools[0].beside == "sums by learned weights"


def test_batches_make_no_difference(monkeypatch):
    model = fitted()
    whole = numbers_of(model, clouds(), [0]).pools[0]
    monkeypatch.setattr("lfds.explain.compute._NODES_OF_A_BATCH", 45)
    monkeypatch.setattr("lfds.explain.compute._NODES_OF_A_PIECE", 100)
    pieces = numbers_of(model, clouds(), [0]).pools[0]
    np.testing.assert_allclose(pieces.mass, whole.mass, atol=1e-6)
    np.testing.assert_allclose(pieces.picks, whole.picks, atol=1e-6)


def test_clouds_are_drawn_where_their_points_are():
    made = numbers_of(fitted(), clouds(), [3])
    view = made.graphs[0]
    assert view.true_place
    assert view.xy.shape == (20, 3)
    own = clouds().coordinates[60:80].numpy()
    ratio = np.linalg.norm(view.xy[0] - view.xy[1]) / np.linalg.norm(own[0] - own[1])
    apart = np.linalg.norm(view.xy[:, None] - view.xy[None], axis=2)
    np.testing.assert_allclose(
        apart, ratio * np.linalg.norm(own[:, None] - own[None], axis=2), rtol=1e-3, atol=1e-5
    )


def test_graphs_of_other_sizes_are_laid_out():
    graphs = strings()
    made = numbers_of(fitted(), graphs, range(len(graphs)))
    assert [len(view.xy) for view in made.graphs] == [1, 2, 3, 4, 5, 6, 0]
    assert not any(view.true_place for view in made.graphs)
    assert made.graphs[3].edges.tolist() == [[0, 1], [1, 2], [2, 3]]
    assert made.target.tolist() == [-1] * 7


@pytest.mark.parametrize(("width", "drawn"), [(1, 2), (2, 2), (3, 3), (5, 3)])
def test_coordinates_of_any_width_are_drawn_in_two_or_three(width, drawn):
    places = np.random.default_rng(0).normal(size=(4, width))
    graph = lfds.GraphSet.from_arrays([4], [[], []], coordinates=places)
    assert places_of(graph, undirected(graph)).shape == (4, drawn)


def test_edges_are_listed_once_and_loops_not():
    graph = lfds.GraphSet.from_arrays([3], [[0, 1, 2, 1, 2], [1, 0, 1, 1, 2]])
    assert undirected(graph).tolist() == [[0, 1], [1, 2]]


def test_classes_are_shown_in_turn():
    target = [0, 0, 0, 0, 1, 2, 1]
    assert spread_over_classes(target, 3) == [0, 4, 5]
    assert spread_over_classes(target, 5) == [0, 1, 4, 5, 6]
    assert spread_over_classes(target, 99) == list(range(7))
