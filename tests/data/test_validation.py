from dataclasses import replace

import pytest
import torch
from hypothesis import given

from lfds.data import DataError
from lfds.data.validation import check_valid
from tests.data.graphs import graph_sets, three_graphs


@given(graphs=graph_sets())
def test_sets_made_by_readers_are_valid(graphs):
    check_valid(graphs, source="drawn")
    check_valid(graphs[[0]], source="drawn")


@pytest.mark.parametrize("chunk_size", [1, 4, 100])
def test_the_graph_of_an_invalid_edge_is_named(chunk_size):
    graphs = three_graphs()
    edges = graphs.edge_dst.clone()
    edges[-1] = 2
    with pytest.raises(DataError, match="edge 6 names node 2 of graph 2, which has 2 nodes"):
        check_valid(replace(graphs, edge_dst=edges), source="set", chunk_size=chunk_size)


def test_targets_of_three_dimensions_are_an_error():
    graphs = replace(three_graphs(), classes=(), y=torch.zeros(3, 1, 1))
    with pytest.raises(DataError, match="one or two dimensions"):
        check_valid(graphs, source="set")
