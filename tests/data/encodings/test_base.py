import networkx as nx
import numpy as np
from hypothesis import given

from lfds.data.encodings.base import degrees, fingerprint, normalized
from tests.data.encodings.graphs import matrix, named, permuted, random_graph, random_graphs


@given(random_graphs())
def test_normalized_is_the_textbook_formula(graph):
    dense = graph.toarray()
    scale = np.diag(1 / np.sqrt(np.maximum(dense.sum(axis=1), 1)))
    np.testing.assert_allclose(normalized(graph).toarray(), scale @ dense @ scale, atol=1e-12)
    np.testing.assert_array_equal(degrees(graph), dense.sum(axis=1))


def test_different_graphs_have_different_fingerprints():
    graphs = [random_graph(8, 0.4, seed) for seed in range(20)]
    graphs += [matrix(np.zeros((n, n))) for n in range(4)]
    assert len({fingerprint(graph) for graph in graphs}) == 24
    assert fingerprint(random_graph(8, 0.4, 0)) == fingerprint(random_graph(8, 0.4, 0))


def test_fingerprints_depend_on_the_edges():
    ring = named(nx.cycle_graph(4))
    assert fingerprint(ring) != fingerprint(permuted(ring, [0, 2, 1, 3]))
