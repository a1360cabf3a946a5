import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lfds.data.encodings import rwse as module
from lfds.data.encodings.rwse import RWSE, rwse
from tests.data.encodings.graphs import (
    assert_permutation_equivariant,
    named,
    random_graph,
    random_graphs,
)


def rwse_slowly(graph, steps):
    """Dense powers of the walk matrix, as the definition says."""
    dense = graph.toarray()
    walk = dense / np.maximum(dense.sum(axis=1, keepdims=True), 1)
    return np.stack([np.diag(np.linalg.matrix_power(walk, k + 1)) for k in range(steps)], axis=1)


@given(random_graphs(), st.integers(1, 17))
def test_agrees_with_powers_of_the_walk_matrix(graph, steps):
    np.testing.assert_allclose(rwse(graph, steps), rwse_slowly(graph, steps), atol=1e-10)


@pytest.mark.parametrize("block", [1, 700, 10**9])
def test_blocks_and_sparse_products_change_nothing(monkeypatch, block):
    graph = random_graph(130, 0.05, 0)
    monkeypatch.setattr(module, "_BLOCK_NUMBERS", block)
    np.testing.assert_allclose(rwse(graph, 9), rwse_slowly(graph, 9), atol=1e-10)


@given(random_graphs())
def test_does_not_depend_on_the_order_of_nodes(graph):
    assert_permutation_equivariant(RWSE(steps=8).encode, graph)


def test_an_encoding_that_depends_on_the_order_is_detected():
    def with_position(graph):
        return np.arange(graph.shape[0])[:, None] * rwse(graph, 4)

    with pytest.raises(AssertionError, match="order of nodes"):
        assert_permutation_equivariant(with_position, random_graph(9, 0.5, 0))


def test_a_walk_on_an_even_ring_returns_after_even_steps_only():
    back = rwse(named(nx.cycle_graph(8)), 5)
    np.testing.assert_allclose(back, np.tile([0, 1 / 2, 0, 3 / 8, 0], (8, 1)), atol=1e-12)


def test_an_isolated_node_has_return_probability_zero():
    assert not rwse(named(nx.empty_graph(3)), 4).any()
