import networkx as nx
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from pydantic import ValidationError

from lfds.data.encodings import NetMF
from lfds.data.encodings import distances as module
from lfds.data.encodings.distances import Distances, complete_eigenspaces, to_neighbours, to_others
from lfds.data.encodings.netmf import netmf
from tests.data.encodings.graphs import (
    assert_permutation_equivariant,
    named,
    random_graph,
    random_graphs,
)
from tests.data.encodings.test_netmf import matrix_slowly

SYMMETRIC = {
    "ring": nx.cycle_graph(30),
    "star": nx.star_graph(20),
    "complete": nx.complete_graph(20),
    "triangles": nx.disjoint_union_all([nx.cycle_graph(3)] * 15),
    "large tree": nx.balanced_tree(5, 3),
    "large rings": nx.disjoint_union_all([nx.cycle_graph(50)] * 4),
    "large cube": nx.hypercube_graph(8),
}


def apart_slowly(graph, settings):
    """All distances, from a dense decomposition, by the inner products of the embedding."""
    values, vectors = np.linalg.eigh(matrix_slowly(graph, NetMF(window=settings.window)))
    sizes = np.sort(np.abs(values))[::-1]
    cut = sizes[settings.dimensions] if len(sizes) > settings.dimensions else 0
    taken = np.abs(values) > cut + 1e-6 * sizes[0]
    gram = (vectors[:, taken] * np.abs(values[taken])) @ vectors[:, taken].T
    own = np.diag(gram)
    return np.sqrt(np.maximum(own[:, None] + own - 2 * gram, 0))


def distances_slowly(graph, settings):
    apart = apart_slowly(graph, settings)
    shares = (np.arange(settings.quantiles) + 0.5) / settings.quantiles
    rows = []
    for node, line in enumerate(graph.toarray() > 0):
        near = apart[node][line] if line.any() else np.zeros(1)
        others = np.delete(apart[node], node)
        rest = np.quantile(others, shares) if len(others) else np.zeros(settings.quantiles)
        rows.append([near.mean(), near.min(), near.max(), *rest])
    return np.array(rows)


@given(random_graphs(), st.integers(1, 30), st.integers(1, 6), st.integers(1, 7))
def test_agrees_with_a_slow_reference(graph, dimensions, window, quantiles):
    assume(graph.shape[0] > 0 and graph.nnz > 0)
    settings = Distances(dimensions=dimensions, window=window, quantiles=quantiles)
    expected = distances_slowly(graph, settings)
    # The inner products lose half of the digits of a small distance.
    np.testing.assert_allclose(settings.encode(graph), expected, atol=1e-6)


def test_a_node_among_its_own_distances_is_detected():
    graph = random_graph(20, 0.3, 0)
    embedding = complete_eigenspaces(graph, 12, 5)
    apart = np.linalg.norm(embedding[:, None] - embedding, axis=2)
    with_itself = np.quantile(apart, [0.1, 0.3, 0.5, 0.7, 0.9], axis=1).T
    expected = distances_slowly(graph, Distances())[:, 3:]
    np.testing.assert_allclose(to_others(embedding, 5), expected, atol=1e-6)
    assert np.abs(with_itself - expected).max() > 0.01


@given(random_graphs(), st.integers(1, 12))
def test_does_not_depend_on_the_order_of_nodes(graph, dimensions):
    assert_permutation_equivariant(Distances(dimensions=dimensions).encode, graph)


@pytest.mark.parametrize("graph", SYMMETRIC.values(), ids=SYMMETRIC)
def test_does_not_depend_on_the_order_of_nodes_with_equal_eigenvalues(graph):
    for seed in range(3):
        assert_permutation_equivariant(Distances().encode, named(graph), seed)


def test_a_cut_eigenspace_is_detected():
    def cut(graph):
        return to_others(netmf(graph, NetMF(dimensions=4)), 5)

    with pytest.raises(AssertionError, match="order of nodes"):
        assert_permutation_equivariant(cut, named(SYMMETRIC["ring"]))


@pytest.mark.parametrize(
    ("dimensions", "kept"), [(1, 1), (2, 1), (3, 3), (4, 3), (5, 5)], ids=lambda n: str(n)
)
def test_a_double_eigenvalue_of_a_ring_is_used_completely_or_not_at_all(dimensions, kept):
    assert complete_eigenspaces(named(nx.cycle_graph(30)), dimensions, 5).shape == (30, kept)


def test_all_distinct_eigenvalues_are_used():
    graph = random_graph(40, 0.2, 3)
    expected = netmf(graph, NetMF(dimensions=7, window=3))
    found = complete_eigenspaces(graph, 7, 3)
    np.testing.assert_allclose(found @ found.T, expected @ expected.T, atol=1e-9)


def features(graph, embedding):
    return np.hstack([to_neighbours(graph, embedding), to_others(embedding, 5)])


def sums_of_differences(graph, embedding):
    return np.abs(embedding[:, None] - embedding).sum(axis=2).mean(axis=1, keepdims=True)


def assert_rotation_invariant(describe):
    """Assert that rotations and reflections of the embedding change nothing."""
    graph = random_graph(30, 0.2, 1)
    embedding = complete_eigenspaces(graph, 12, 5)
    turn = np.linalg.qr(np.random.default_rng(0).normal(size=(12, 12)))[0]
    for change in (turn, np.diag([-1.0] * 5 + [1.0] * 7)):
        found = describe(graph, embedding @ change)
        np.testing.assert_allclose(found, describe(graph, embedding), atol=1e-9)


def test_does_not_depend_on_rotations_of_the_embedding():
    assert_rotation_invariant(features)


@pytest.mark.parametrize("wrong", [lambda graph, embedding: embedding, sums_of_differences])
def test_coordinates_and_other_norms_are_detected(wrong):
    with pytest.raises(AssertionError):
        assert_rotation_invariant(wrong)


@pytest.mark.parametrize("block", [1, 170, 10**9])
def test_blocks_change_nothing(monkeypatch, block):
    embedding = np.random.default_rng(0).normal(size=(60, 4))
    expected = to_others(embedding, 5)
    monkeypatch.setattr(module, "_BLOCK_NUMBERS", block)
    np.testing.assert_array_equal(to_others(embedding, 5), expected)


def test_blocks_have_a_limited_size(monkeypatch):
    sizes = []
    real = module.cdist
    monkeypatch.setattr(module, "cdist", lambda a, b: sizes.append(len(a) * len(b)) or real(a, b))
    to_others(np.zeros((2000, 3)), 2)
    assert sum(sizes) == 2000**2
    assert max(sizes) <= module._BLOCK_NUMBERS


@pytest.mark.parametrize("count", [0, 1, 2, 5])
def test_without_edges_all_distances_are_zero(count):
    assert Distances().encode(named(nx.empty_graph(count))).tolist() == [[0] * 8] * count


def test_an_isolated_node_has_distances_to_other_nodes_only():
    graph = nx.path_graph(4)
    graph.add_node("lonely")
    rows = Distances().encode(named(graph))
    assert not rows[4, :3].any()
    assert (rows[4, 3:] > 0).all()
    assert (rows[:4, :3] > 0).all()
    assert np.isfinite(rows).all()


def test_two_nodes_have_one_distance_in_every_column():
    rows = Distances(quantiles=2).encode(named(nx.path_graph(2)))
    np.testing.assert_allclose(rows, np.full((2, 5), rows[0, 0]))
    assert rows[0, 0] > 0.1


def test_neighbors_are_nearer_than_other_nodes():
    rows = Distances(quantiles=1).encode(random_graph(120, 0.03, 2))
    assert rows[:, 0].mean() < 0.8 * rows[:, 3].mean()


def test_width():
    settings = Distances(dimensions=3, quantiles=2)
    assert settings.encode(random_graph(9, 0.5, 0)).shape == (9, settings.width) == (9, 5)


@pytest.mark.parametrize("wrong", [{"quantiles": 0}, {"window": 0}, {"dimensions": 0}, {"dim": 3}])
def test_invalid_settings_are_errors(wrong):
    with pytest.raises(ValidationError, match=next(iter(wrong))):
        Distances(**wrong)
