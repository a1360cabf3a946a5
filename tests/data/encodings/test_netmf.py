import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lfds.data.encodings import netmf as module
from lfds.data.encodings.netmf import NetMF, netmf
from tests.data.encodings.graphs import named, random_graph, random_graphs


def matrix_slowly(graph, settings):
    """The definition with dense powers of the walk matrix."""
    dense = graph.toarray()
    degree = np.maximum(dense.sum(axis=1), 1)
    walk = dense / degree[:, None]
    powers = sum(np.linalg.matrix_power(walk, r + 1) for r in range(settings.window))
    weight = dense.sum() / (settings.negatives * settings.window)
    return np.log(np.maximum(weight * powers / degree, 1))


def gram_slowly(graph, settings):
    """What does not depend on signs, nor on which vectors of an eigenspace are taken."""
    left, values, _ = np.linalg.svd(matrix_slowly(graph, settings))
    kept = left[:, : settings.dimensions] * np.sqrt(values[: settings.dimensions])
    return kept @ kept.T, values


@given(random_graphs(), st.integers(1, 7), st.sampled_from([0.5, 1.0, 5.0]))
def test_the_matrix_equals_its_definition(graph, window, negatives):
    settings = NetMF(window=window, negatives=negatives)
    if graph.nnz:
        found = module._walk_matrix(graph, settings).toarray()
        np.testing.assert_allclose(found, matrix_slowly(graph, settings), atol=1e-9)


@pytest.mark.parametrize("count", [30, 250])
def test_agrees_with_a_dense_singular_value_decomposition(count):
    settings = NetMF(dimensions=6)
    graph = random_graph(count, 5 / count, 3)
    gram, values = gram_slowly(graph, settings)
    # Where two values are equal the choice of vectors is free, and no comparison possible.
    assert values[5] - values[6] > 1e-3
    embedding = netmf(graph, settings)
    np.testing.assert_allclose(embedding @ embedding.T, gram, atol=1e-6)


@pytest.mark.parametrize("block", [1, 1000, 10**9])
def test_blocks_change_nothing(monkeypatch, block):
    graph = random_graph(60, 0.1, 0)
    monkeypatch.setattr(module, "_BLOCK_NUMBERS", block)
    expected = matrix_slowly(graph, NetMF())
    np.testing.assert_allclose(module._walk_matrix(graph, NetMF()).toarray(), expected, atol=1e-9)


def test_signs_are_fixed():
    embedding = netmf(random_graph(40, 0.2, 1), NetMF())
    leaders = embedding[np.abs(embedding).argmax(axis=0), np.arange(12)]
    assert (leaders >= 0).all()


def test_missing_columns_are_zero_and_graphs_without_edges_all_zero():
    embedding = netmf(named(nx.path_graph(3)), NetMF())
    assert embedding.shape == (3, 12)
    assert not embedding[:, 3:].any()
    assert not netmf(named(nx.empty_graph(4)), NetMF()).any()
    assert netmf(named(nx.empty_graph(0)), NetMF()).shape == (0, 12)


def test_two_communities_are_separated():
    graph = nx.disjoint_union(nx.complete_graph(10), nx.complete_graph(10))
    graph.add_edge(0, 10)
    embedding = netmf(named(graph), NetMF(dimensions=4))
    unit = embedding / np.linalg.norm(embedding, axis=1, keepdims=True)
    cosine = unit @ unit.T
    assert cosine[:10, :10].mean() > cosine[:10, 10:].mean() + 0.5
