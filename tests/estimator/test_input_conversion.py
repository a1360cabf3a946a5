from dataclasses import replace
from pathlib import Path
from types import FunctionType

import networkx as nx
import numpy as np
import pytest
import torch
from torch_geometric.data import Data

from lfds.data.errors import DataError
from lfds.estimator.input_conversion import as_graphs
from tests.estimator.small import drawn, graphs, names


def test_every_kind_of_graph_becomes_the_same_set():
    known = graphs()
    by_name = as_graphs(drawn(), node_attributes=["weight"], node_label="kind")
    assert torch.equal(by_name.edge_dst, known.edge_dst)
    assert torch.equal(by_name.labels, known.labels)
    assert torch.equal(by_name.attributes, known.attributes)
    of_data = as_graphs(known.to_pyg())
    assert torch.equal(of_data.edge_dst, known.edge_dst)
    assert torch.equal(of_data.labels, known.labels)
    assert as_graphs(known) is known


def test_a_list_of_parts_is_the_set_they_are_parts_of():
    """scikit-learn takes single graphs out of a set, one by one."""
    known = graphs()
    assert as_graphs([known[k] for k in range(len(known))]).equals(known)
    assert as_graphs(iter([known])).equals(known)


def test_arrays_are_sets_of_points_without_edges():
    rows = [np.arange(6.0).reshape(3, 2), torch.ones(1, 2), [[4, 5]], np.zeros((0, 2))]
    known = as_graphs(rows)
    assert known.sizes.tolist() == [3, 1, 1, 0]
    assert known.num_edges == 0
    assert known.attributes.tolist() == [[0, 1], [2, 3], [4, 5], [1, 1], [4, 5]]
    assert len(as_graphs(np.zeros((5, 3, 2)))) == 5


def test_features_of_ones_own_are_all_that_is_learned_from():
    own = graphs().with_features(torch.randn(graphs().num_nodes, 3))
    seen = as_graphs(own)
    assert torch.equal(seen.attributes, own.x)
    assert seen.labels.shape[1] == 0


def test_targets_of_the_graphs_are_read_or_passed_over():
    bad = [Data(x=torch.ones(2, 1), y=torch.tensor([float("nan")])) for _ in range(3)]
    assert len(as_graphs(bad, targets=False)) == 3
    with pytest.raises(DataError, match="finite"):
        as_graphs(bad)
    some = [nx.path_graph(2), nx.path_graph(2)]
    some[0].graph["y"] = "a"
    assert len(as_graphs(some, targets=False)) == 2
    with pytest.raises(DataError, match='lacks graph\\["y"\\]'):
        as_graphs(some)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([], "graphs: needs at least one graph, and the list is empty"),
        (lambda: graphs()[[]], "graphs: needs at least one graph, and the set is empty"),
        ("graphs.jsonl", "needs graphs, not the path 'graphs.jsonl'; read it with"),
        (Path("graphs.jsonl"), "needs graphs, not the path"),
        (nx.path_graph(3), r"put a single one in \[ \]"),
        (Data(x=torch.ones(1, 1)), r"put a single one in \[ \]"),
        (7, "needs a GraphSet or a list of graphs, not int"),
        ([np.ones(3)], r"graph 0: is no graph .* array \[n, d\] of numbers, not ndarray of shape"),
        ([np.ones((2, 2)), "x"], "graph 1: is no graph"),
        ([np.array([["a", "b"]])], "graph 0: is no graph"),
        ([np.ones((2, 2)), np.ones((2, 3))], "set 1: needs 2 columns as set 0 has, not 3"),
        ([np.array([[np.nan, 1.0]])], "attributes: row 0 holds .* finite"),
        (lambda: [graphs(), 3], "set 1: needs a GraphSet, not int"),
        (lambda: [Data(x=torch.ones(1, 1)), 3], "graph 1: needs torch_geometric.data.Data"),
    ],
)
def test_what_is_no_list_of_graphs_is_named(given, message):
    with pytest.raises(DataError, match=message):
        as_graphs(given() if isinstance(given, FunctionType) else given)


def test_names_come_along():
    assert as_graphs(replace(graphs(), name="mine")).name == "mine"
    assert as_graphs(graphs()).classes == tuple(sorted(set(names())))
