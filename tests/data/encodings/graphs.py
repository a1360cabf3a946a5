"""Small graphs to test encodings with, and the assertion of equivariance."""

import networkx as nx
import numpy as np
from hypothesis import strategies as st
from scipy.sparse import csr_array

from lfds.data.edges import adjacency


def matrix(dense):
    """Return the adjacency of a dense 0/1 matrix."""
    rows = np.asarray(dense) > 0
    ptr = np.concatenate([[0], rows.sum(axis=1).cumsum()])
    return adjacency(ptr, np.nonzero(rows)[1])


def random_graph(count, density, seed):
    drawn = np.random.default_rng(seed).random((count, count)) < density
    return matrix(np.triu(drawn, 1) | np.triu(drawn, 1).T)


def random_graphs(largest=25):
    return st.builds(
        random_graph, st.integers(0, largest), st.floats(0.0, 0.6), st.integers(0, 2**32 - 1)
    )


def named(graph):
    return matrix(nx.to_numpy_array(graph))


def permuted(graph, order):
    """Return the same graph with node ``order[i]`` at position ``i``."""
    return csr_array(graph[order][:, order])


def assert_permutation_equivariant(encode, graph, seed=0):
    """Assert that permuting the nodes permutes the rows."""
    order = np.random.default_rng(seed).permutation(graph.shape[0])
    np.testing.assert_allclose(
        encode(permuted(graph, order)),
        encode(graph)[order],
        atol=1e-9,
        err_msg="order of nodes",
    )
