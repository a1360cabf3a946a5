import networkx as nx
import numpy as np
import pytest
from hypothesis import given

from lfds.data.encodings.laplacian import Laplacian, laplacian, laplacian_matrix
from tests.data.encodings.graphs import named, random_graph, random_graphs


def laplacian_slowly(graph):
    dense = graph.toarray()
    degree = dense.sum(axis=1)
    scale = np.where(degree > 0, 1 / np.sqrt(np.maximum(degree, 1)), 0)
    return np.diag((degree > 0).astype(float)) - scale[:, None] * dense * scale


def assert_slowest_vibrations(graph, vectors):
    """Columns are orthonormal eigenvectors, of the smallest eigenvalues after the first."""
    dense = laplacian_slowly(graph)
    count = min(vectors.shape[1], max(graph.shape[0] - 1, 0))
    kept = vectors[:, :count]
    values = np.einsum("ni,nm,mi->i", kept, dense, kept)
    np.testing.assert_allclose(kept.T @ kept, np.eye(count), atol=1e-8)
    np.testing.assert_allclose(dense @ kept, kept * values, atol=1e-7)
    np.testing.assert_allclose(values, np.linalg.eigvalsh(dense)[1 : count + 1], atol=1e-8)
    assert not vectors[:, count:].any()


@given(random_graphs())
def test_columns_are_eigenvectors_of_the_smallest_eigenvalues(graph):
    assert_slowest_vibrations(graph, laplacian(graph, 5))


@pytest.mark.parametrize("count", [150, 400])
def test_does_not_depend_on_the_order_of_nodes_of_large_graphs(count):
    graph = random_graph(count, 4 / count, 5)
    assert_slowest_vibrations(graph, laplacian(graph, 8))


def test_the_trivial_eigenvector_is_detected():
    graph = named(nx.path_graph(9))
    trivial = np.linalg.eigh(laplacian_slowly(graph))[1][:, :5]
    with pytest.raises(AssertionError):
        assert_slowest_vibrations(graph, trivial)


@given(random_graphs())
def test_the_laplacian_equals_its_definition(graph):
    found = laplacian_matrix(graph).toarray()
    np.testing.assert_allclose(found, laplacian_slowly(graph), atol=1e-12)


def test_connected_components_are_distinguished():
    """Isolated nodes have eigenvalue zero each, which an iteration cannot separate."""
    graph = named(nx.disjoint_union(nx.path_graph(120), nx.empty_graph(20)))
    vectors = laplacian(graph, 8)
    assert_slowest_vibrations(graph, vectors)
    assert np.flatnonzero(np.abs(vectors[:, 0]) > 1e-9).tolist() == [120]


def test_the_first_eigenvector_of_a_path_is_monotonic():
    vector = laplacian(named(nx.path_graph(20)), 1)[:, 0]
    inner = np.diff(vector[1:-1])
    assert (inner > 0).all() or (inner < 0).all()


@pytest.mark.parametrize("count", [0, 1])
def test_graphs_with_fewer_than_two_nodes_are_zero(count):
    assert laplacian(named(nx.empty_graph(count)), 4).tolist() == [[0] * 4] * count


def test_width():
    assert Laplacian(dimensions=3).encode(random_graph(9, 0.5, 0)).shape == (9, 3)
