import builtins
import hashlib
import os
import subprocess
import sys

import networkx as nx
import numpy as np
import pytest

from lfds.data import DataError
from lfds.data.encodings.deepwalk import DeepWalk, deepwalk, random_walks, walk_length
from tests.data.encodings.graphs import named, random_graph

pytest.importorskip("gensim", reason="deepwalk is computed by the extra 'deepwalk'")


def graphs():
    yield named(nx.grid_2d_graph(8, 8))
    yield named(nx.cycle_graph(40))
    yield named(nx.random_geometric_graph(100, 0.18, seed=1))
    yield named(nx.random_labeled_tree(30, seed=0))


def closeness(graph, embedding):
    """Mean cosine of neighbours, and of pairs that are not."""
    length = np.maximum(np.linalg.norm(embedding, axis=1, keepdims=True), 1e-12)
    cosine = (embedding / length) @ (embedding / length).T
    joined = graph.toarray() > 0
    apart = ~joined & ~np.eye(len(joined), dtype=bool)
    return cosine[joined].mean(), cosine[apart].mean()


def assert_neighbours_are_closer(encode):
    for graph in graphs():
        near, far = closeness(graph, encode(graph))
        assert near > far + 0.3, f"neighbours {near:.2f}, strangers {far:.2f}"


def test_neighbors_are_closer_than_other_nodes():
    assert_neighbours_are_closer(DeepWalk().encode)


def test_too_little_training_is_detected():
    hasty = DeepWalk(walks=10, epochs=1, learning_rate=0.025)
    with pytest.raises(AssertionError, match="strangers"):
        assert_neighbours_are_closer(hasty.encode)


def test_a_noisy_encoding_is_detected():
    with pytest.raises(AssertionError, match="strangers"):
        assert_neighbours_are_closer(lambda graph: np.random.rand(graph.shape[0], 12))


def test_walks_follow_edges_and_start_equally_often_at_each_node():
    graph = random_graph(20, 0.2, 0)
    paths = random_walks(graph, 7, 6, np.random.default_rng(0))
    dense = graph.toarray()
    assert (dense[paths[:, :-1], paths[:, 1:]] == 1).all()
    lonely = dense.sum(axis=1) == 0
    starts = np.bincount(paths[:, 0], minlength=20)
    assert (starts == np.where(lonely, 0, 7)).all()


def test_walks_take_every_edge_equally_often():
    star = named(nx.star_graph(4))
    paths = random_walks(star, 4000, 3, np.random.default_rng(0))
    from_the_middle = paths[paths[:, 0] == 0][:, 1]
    np.testing.assert_allclose(np.bincount(from_the_middle)[1:] / 4000, 0.25, atol=0.03)


@pytest.mark.parametrize(("nodes", "length"), [(1, 4), (40, 4), (49, 4), (50, 5), (9999, 10)])
def test_length_of_walks(nodes, length):
    assert walk_length(nodes) == length


def test_the_same_graph_gives_the_same_bits_and_another_seed_others():
    graph = random_graph(30, 0.2, 0)
    first = deepwalk(graph, DeepWalk())
    np.testing.assert_array_equal(first, deepwalk(graph, DeepWalk()))
    assert not np.array_equal(first, deepwalk(graph, DeepWalk(seed=1)))


def test_scale_multiplies_the_embedding():
    graph = random_graph(30, 0.2, 0)
    small = deepwalk(graph, DeepWalk(scale=0.1))
    np.testing.assert_array_equal(small, 0.1 * deepwalk(graph, DeepWalk()))


SCRIPT = """
import hashlib, networkx as nx, numpy as np
from lfds.data.encodings import DeepWalk
from scipy.sparse import csr_array
graph = csr_array(nx.to_numpy_array(nx.cycle_graph(20)))
print(hashlib.sha256(DeepWalk().encode(graph).tobytes()).hexdigest())
"""


@pytest.mark.parametrize("hash_seed", ["1", "2"])
def test_bits_do_not_depend_on_pythons_hash(hash_seed):
    expected = hashlib.sha256(DeepWalk().encode(named(nx.cycle_graph(20))).tobytes()).hexdigest()
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", SCRIPT],
        env={**os.environ, "PYTHONHASHSEED": hash_seed},
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout.strip() == expected


def test_only_isolated_nodes_are_zero():
    graph = named(nx.disjoint_union(nx.empty_graph(2), nx.path_graph(5)))
    embedding = deepwalk(graph, DeepWalk())
    assert not embedding[:2].any()
    assert embedding[2:].any(axis=1).all()


@pytest.mark.parametrize("count", [0, 1, 5])
def test_graphs_without_edges_are_zero(count):
    assert deepwalk(named(nx.empty_graph(count)), DeepWalk()).shape == (count, 12)


def test_without_gensim_the_error_names_the_extra(monkeypatch):
    real = builtins.__import__

    def without(name, *rest):
        if name.startswith("gensim"):
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(DataError, match="choose netmf"):
        deepwalk(named(nx.path_graph(3)), DeepWalk())
