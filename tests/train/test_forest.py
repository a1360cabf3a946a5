"""The random forest: histograms against a slow reference, targets of all kinds, the same bits."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from lfds.config.forest import ForestSettings
from lfds.data.graphset import GraphSet
from lfds.data.node_order import shuffle_nodes
from lfds.train.forest import Forest, GraphHistograms

SMALL = ForestSettings(trees=20, steps=3, bins=4)


def graph_set(count=30, seed=0):
    """Paths and cycles with labels, attributes, and labels and attributes of edges."""
    random = np.random.default_rng(seed)
    sizes, edges, start = [], [], 0
    for graph in range(count):
        size = int(random.integers(4, 9))
        ring = [(k, (k + 1) % size) for k in range(size if graph % 2 else size - 1)]
        edges += [(start + a, start + b) for a, b in ring] + [
            (start + b, start + a) for a, b in ring
        ]
        sizes.append(size)
        start += size
    nodes, pairs = start, np.array(edges).T
    weight = (pairs[0] + pairs[1]) % 3
    return GraphSet.from_arrays(
        sizes,
        pairs,
        np.arange(count) % 2,
        labels=random.integers(0, 3, size=(nodes, 1)),
        attributes=random.normal(size=(nodes, 2)),
        edge_labels=weight[:, None],
        edge_attributes=weight[:, None] / 2.0,
    )


def test_label_and_degree_histograms_are_those_of_a_slow_reference():
    graphs = graph_set()
    found = GraphHistograms(SMALL).fit(graphs).transform(graphs)
    ptr, labels, degrees = graphs.ptr.tolist(), graphs.labels[:, 0], graphs.degrees
    for number in range(len(graphs)):
        rows = slice(ptr[number], ptr[number + 1])
        size = ptr[number + 1] - ptr[number]
        wanted = [size, int(degrees[rows].sum())]
        for values, column in (([1, 2], degrees), ([0, 1, 2], labels)):
            counts = [sum(int(one) == value for one in column[rows]) for value in values] + [0]
            wanted += counts + [count / size for count in counts]
        assert found[number, : len(wanted)].tolist() == pytest.approx(wanted)


def test_vectors_depend_on_neither_the_order_of_nodes_nor_other_graphs():
    graphs = graph_set()
    histograms = GraphHistograms(SMALL).fit(graphs)
    whole = histograms.transform(graphs)
    np.testing.assert_allclose(histograms.transform(shuffle_nodes(graphs, 3)), whole, atol=1e-12)
    np.testing.assert_allclose(histograms.transform(graphs[5:8]), whole[5:8], atol=1e-12)


@pytest.mark.parametrize("table", ["labels", "attributes", "edge_labels", "edge_attributes"])
def test_every_kind_of_data_is_seen(table):
    graphs = graph_set()
    other = getattr(graphs, table).clone()
    other[:9] = other[:9] + 1
    histograms = GraphHistograms(SMALL).fit(graphs)
    changed = histograms.transform(replace(graphs, **{table: other}))
    assert not np.allclose(changed, histograms.transform(graphs))


def test_labels_that_training_graphs_did_not_have_fall_into_a_bin_of_their_own():
    graphs = graph_set()
    histograms = GraphHistograms(SMALL).fit(graphs)
    strange = replace(graphs, labels=torch.full_like(graphs.labels, 99))
    found = histograms.transform(strange)
    assert found.shape == histograms.transform(graphs).shape
    assert np.isfinite(found).all()


def test_classes_are_learned_and_one_without_training_graphs_has_probability_zero():
    graphs = graph_set(60)
    y = np.where(graphs.y.numpy() == 1, 2, 0)
    forest = Forest(SMALL, seed=0).fit(graphs, y, classes=3)
    found = forest.predict(graphs)
    assert found.shape == (60, 1, 3)
    assert (found[:, 0].argmax(axis=1) == y).mean() > 0.95
    assert (found[:, 0, 1] == 0).all()
    assert forest.nodes > SMALL.trees


def test_values_and_missing_targets():
    graphs = graph_set(60)
    size = graphs.sizes.numpy().astype(np.float64)
    y = np.stack([size, -size], axis=1)
    y[::3, 1] = np.nan
    found = Forest(SMALL, seed=0).fit(graphs, y).predict(graphs)
    assert np.abs(found - np.stack([size, -size], axis=1)).mean() < 0.3
    labels = np.stack([graphs.y.numpy(), np.where(np.arange(60) % 3, graphs.y.numpy(), -1)], axis=1)
    found = Forest(SMALL, seed=0).fit(graphs, labels, classes=2).predict(graphs)
    assert ((found[:, :, 1] > 0.5) == graphs.y.numpy()[:, None]).mean() > 0.95


def test_the_same_seed_gives_the_same_forest():
    graphs = graph_set()
    first, same, other = (
        Forest(SMALL, seed).fit(graphs, graphs.y.numpy(), classes=2).predict(graphs)
        for seed in (1, 1, 2)
    )
    assert np.array_equal(first, same)
    assert not np.array_equal(first, other)
