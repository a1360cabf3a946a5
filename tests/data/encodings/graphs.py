"""Small graphs for the laws of encodings, and the laws themselves."""

import networkx as nx
import numpy as np
from hypothesis import strategies as st
from scipy.sparse import csr_array

from lfds.data.encodings.adjacency import adjacency


def matrix(dense):
    """A dense 0/1 matrix as encodings get it."""
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
    """The same graph, its node ``order[i]`` now called ``i``."""
    return csr_array(graph[order][:, order])


def assert_order_free(encode, graph, seed=0):
    """Renaming the nodes must rename the rows and change nothing else."""
    order = np.random.default_rng(seed).permutation(graph.shape[0])
    np.testing.assert_allclose(
        encode(permuted(graph, order)), encode(graph)[order], atol=1e-9, err_msg="order matters"
    )
