import numpy as np
import pytest
import torch

import lfds
from lfds.explain.topography import expected_error, scattered_nodes

RING = np.roll(np.eye(8), 1, axis=0) + np.roll(np.eye(8), -1, axis=0) > 0


def shares_of(nodes, slots, rng):
    """A node in a random place of a ring, whose shares fall with the distance from it."""
    place = rng.uniform(0, slots, nodes)[:, None]
    away = np.abs(place - np.arange(slots))
    shares = np.exp(-(np.minimum(away, slots - away) ** 2))
    return shares / shares.sum(axis=1, keepdims=True)


def test_nodes_on_a_ring_have_no_error_and_on_a_shuffled_one_that_of_chance():
    rng = np.random.default_rng(0)
    shares = shares_of(4000, 8, rng)
    assert scattered_nodes(shares, RING).mean() == 0
    found = [scattered_nodes(shares[:, rng.permutation(8)], RING).mean() for _ in range(60)]
    assert np.mean(found) == pytest.approx(expected_error(RING), abs=0.05)


def test_two_slots_are_enough():
    near = ~np.eye(2, dtype=bool)
    assert not scattered_nodes(np.array([[0.4, 0.6], [1.0, 0.0]]), near).any()


@pytest.fixture(scope="module")
def sets():
    rng = np.random.default_rng(0)
    return [rng.normal(size=(12, 2)) for _ in range(20)]


@pytest.mark.parametrize("structure", ["loop", "image"])
def test_the_atlas_counts_scattered_nodes_as_the_layer_shares_them(sets, structure):
    torch.manual_seed(0)
    model = lfds.LFDSClassifier(structure, epochs=1, options={"width": 8}).fit(sets, [0, 1] * 10)
    numbers = lfds.atlas(model, sets, show=list(range(20))).numbers
    pool = numbers.pools[0]
    shares = np.concatenate([graph.shares[0] for graph in numbers.graphs])
    scattered = 0
    for row in shares:  # as the definition says
        first, second = np.argsort(-row)[:2]
        if structure == "loop":
            near = abs(first - second) in (1, 15)
        else:
            near = abs(first // 4 - second // 4) + abs(first % 4 - second % 4) == 1
        scattered += not near
    assert pool.topographic_error == pytest.approx(scattered / len(shares))
    assert 0 < pool.random_error < 1


def test_where_neighbours_are_learned_there_is_no_error(sets):
    model = lfds.LFDSClassifier("learned-spatial", epochs=1, options={"width": 8})
    pool = lfds.atlas(model.fit(sets, [0, 1] * 10), sets).numbers.pools[0]
    assert pool.topographic_error is None
    assert pool.random_error is None
