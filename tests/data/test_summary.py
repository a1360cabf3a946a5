from dataclasses import replace

import networkx
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from lfds.data import GraphSet
from lfds.data.datasets.catalog import Published
from lfds.data.summary import (
    Distribution,
    TargetCounts,
    differences,
    distribution,
    missing,
    summarize,
)
from tests.data.graphs import edge_list, graph_sets, three_graphs


@given(graphs=graph_sets())
def test_counts_agree_with_networkx(graphs):
    summary = summarize(graphs)
    directed = [networkx.DiGraph(edges) for edges in edge_list(graphs)]
    for graph, size in zip(directed, graphs.sizes.tolist(), strict=True):
        graph.add_nodes_from(range(size))
    assert summary.undirected_edges == sum(g.to_undirected().number_of_edges() for g in directed)
    assert summary.self_loops == sum(networkx.number_of_selfloops(g) for g in directed)
    assert summary.one_way_edges == sum(not g.has_edge(b, a) for g in directed for a, b in g.edges)
    for graph in directed:
        graph.remove_edges_from(list(networkx.selfloop_edges(graph)))
    assert summary.isolated_nodes == sum(networkx.number_of_isolates(g) for g in directed)
    assert summary.empty_graphs == graphs.sizes.tolist().count(0)
    assert sum(summary.class_counts.values()) == (len(graphs) if graphs.classes else 0)


def test_a_distribution_has_quartiles_mean_and_histogram():
    assert distribution(torch.tensor([5, 1, 3, 2, 4])) == Distribution(
        1, 2, 3, 4, 5, 3.0, (1, 1, 1, 1, 1)
    )
    assert distribution(torch.tensor([], dtype=torch.int64)) == Distribution(0, 0, 0, 0, 0, 0.0, ())


@given(numbers=st.lists(st.integers(0, 300), min_size=1))
def test_a_histogram_counts_every_value_once(numbers):
    found = distribution(torch.tensor(numbers))
    assert sum(found.histogram) == len(numbers)
    assert len(found.histogram) <= 24
    assert found.histogram[0] > 0
    assert found.histogram[-1] > 0


@pytest.mark.parametrize(
    ("graphs", "found"),
    [
        (
            GraphSet.from_arrays([2], [[0], [1]]),
            ["no node features", "no targets"],
        ),
        (
            GraphSet.from_arrays([1, 1], [[], []], [0, 1], labels=[1, 2]),
            ["no node attr", "no edges"],
        ),
        (
            GraphSet.from_arrays([2, 0], [[0], [1]], [0, 1], attributes=[[1, 2], [1, 3]])[:1],
            ["no node labels", "constant attributes: column 0", "no graph of class 1"],
        ),
        (three_graphs(), []),
    ],
)
def test_missing_features_and_targets_are_listed(graphs, found):
    phrases = missing(graphs, summarize(graphs))
    assert len(phrases) == len(found)
    assert all(part in phrase for part, phrase in zip(found, phrases, strict=True))


def test_differences_beyond_rounding_are_reported():
    graphs = three_graphs()
    summary = summarize(graphs)
    assert differences(graphs, summary, Published(3, 2, 1.67, 1.33, "")) == []
    different = differences(graphs, summary, Published(4, 3, 1.68, 1.35, ""))
    assert [line.split(":")[0] for line in different] == [
        "graphs",
        "classes",
        "nodes per graph",
        "edges per graph",
    ]
    assert different[0] == "graphs: 3, published 4"


def test_several_targets_are_counted_one_by_one():
    bare = GraphSet.from_arrays(
        [2, 1, 1], [[0], [1]], attributes=[[1], [2], [3], [4]], labels=4 * [1]
    )
    y = torch.tensor([[0, 1], [-1, 1], [1, -1]])
    graphs = replace(bare, y=y, classes=("no", "yes"), target_names=("a", "b"))
    summary = summarize(graphs)
    assert summary.class_counts == {}
    assert summary.targets == (
        TargetCounts("a", {"no": 1, "yes": 1}, 1),
        TargetCounts("b", {"no": 0, "yes": 2}, 1),
    )
    assert missing(graphs, summary) == ["no graph of class no in target b"]
    values = bare.with_targets(torch.tensor([[0.5, torch.nan]] * 3))
    assert summarize(values).targets == (
        TargetCounts("target0", {}, 0),
        TargetCounts("target1", {}, 3),
    )
