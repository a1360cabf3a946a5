from dataclasses import replace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close

import lfds
from lfds.data import DataError
from lfds.data.concat import concat
from tests.data.graphs import edge_list, graph_sets, three_graphs


def test_repr_shows_counts():
    assert repr(three_graphs()) == (
        "GraphSet('three', graphs=3, nodes=5, edges=7, features=2, attributes=2, "
        "labels=1, classes=2)"
    )


def test_y_holds_indices_of_classes():
    graphs = three_graphs()
    assert graphs.classes == (-1, 1)
    assert graphs.y.tolist() == [0, 1, 1]
    assert graphs.label_values == ((5, 7, 9),)


def test_rows_hold_the_senders_of_each_receiver():
    assert edge_list(three_graphs()) == [
        [(1, 0), (0, 1), (2, 1), (1, 2)],
        [],
        [(1, 0), (0, 1), (1, 1)],
    ]


@given(data=st.data(), graphs=graph_sets())
def test_selecting_twice_is_selecting_once(data, graphs):
    some = data.draw(st.lists(st.integers(0, len(graphs) - 1), min_size=1, max_size=5))
    again = data.draw(st.lists(st.integers(0, len(some) - 1), max_size=5))
    assert graphs[some][again].equals(graphs[[some[number] for number in again]])


@given(graphs=graph_sets())
def test_selecting_all_graphs_returns_an_equal_set(graphs):
    everyone = torch.arange(len(graphs))
    assert graphs[:].equals(graphs)
    assert graphs[everyone].equals(graphs)
    assert graphs[everyone >= 0].equals(graphs)


@given(graphs=graph_sets())
def test_a_selected_graph_keeps_its_edges(graphs):
    assert [edge_list(graph)[0] for graph in graphs] == edge_list(graphs)


def test_a_slice_shares_memory():
    graphs = three_graphs()
    assert graphs[1:].x.data_ptr() == graphs.x[3:].data_ptr()
    assert graphs[[0, 2]].x is not graphs[[0, 2]].attributes
    chosen = graphs[[0, 2]]
    assert chosen.x is chosen.attributes


def test_a_selection_keeps_all_classes():
    assert three_graphs()[:1].num_classes == 2


def test_with_features_keeps_the_attributes():
    graphs = three_graphs()
    seen = graphs.with_features(torch.ones(5, 3, dtype=torch.float64))
    assert seen.x.dtype == torch.float32
    assert_close(seen.attributes, graphs.attributes)
    assert seen[[2]].x.shape == (2, 3)


@pytest.mark.parametrize("shape", [(4, 1), (5,), (6, 2)])
def test_features_need_a_row_per_node(shape):
    with pytest.raises(DataError, match="one row for each of 5 nodes"):
        three_graphs().with_features(torch.zeros(shape))


def test_features_are_finite_in_single_precision():
    wide = torch.zeros(5, 3, dtype=torch.float64)
    wide[4, 2] = 1e300
    with pytest.raises(DataError, match="x: column 2 of node 4 is not finite in single"):
        three_graphs().with_features(wide)


def test_equality_compares_every_field():
    graphs = three_graphs()
    assert graphs.equals(three_graphs())
    assert not graphs.equals(graphs.with_features(torch.zeros(5, 0)))
    assert not graphs.equals(graphs[[0, 2, 1]])
    assert not graphs.equals(graphs[:2])


def test_the_package_exports_names_lazily():
    assert lfds.GraphSet is lfds.data.GraphSet
    assert callable(lfds.load_dataset)
    with pytest.raises(AttributeError, match="it offers"):
        _ = lfds.data.nothing
    assert "GraphSet" in dir(lfds.data)


def test_coordinates_are_selected_but_not_part_of_batches():
    graphs = lfds.GraphSet.from_arrays([2, 3], [[], []], coordinates=torch.arange(15.0).view(5, 3))
    assert graphs[1].coordinates.tolist() == [[6, 7, 8], [9, 10, 11], [12, 13, 14]]
    assert graphs[[1, 0]].coordinates[:, 0].tolist() == [6, 9, 12, 0, 3]
    assert graphs.x.shape == (5, 0)
    assert not hasattr(graphs.batch([0]), "coordinates")
    assert three_graphs().coordinates.shape == (5, 0)
    with pytest.raises(DataError, match="coordinates: needs 5 rows"):
        lfds.GraphSet.from_arrays([5], [[], []], coordinates=[[0.0, 1.0]])


def test_coordinates_are_concatenated_if_all_sets_have_them():
    flat = lfds.GraphSet.from_arrays([2], [[], []], coordinates=[[0, 1], [2, 3]])
    none = lfds.GraphSet.from_arrays([1], [[], []])
    assert concat([flat, flat]).coordinates.tolist() == 2 * [[0, 1], [2, 3]]
    assert concat([flat, none]).coordinates.shape == (3, 0)


@given(graphs=graph_sets())
def test_the_edge_index_is_numbered_over_the_whole_set(graphs):
    first = graphs.ptr.tolist()
    pairs = [
        [first[graph] + sender, first[graph] + receiver]
        for graph, edges in enumerate(edge_list(graphs))
        for sender, receiver in edges
    ]
    assert graphs.edge_index.T.tolist() == pairs
    assert graphs.edge_index.T.tolist() == graphs.batch(slice(None)).edge_index.T.tolist()


@pytest.mark.parametrize("names", [{"name": "a\udce9"}, {"classes": ("a", "\ud800")}])
def test_names_that_no_file_can_hold_are_refused(names):
    """Otherwise a set, or a model fitted on it, is saved but cannot be loaded again."""
    with pytest.raises(DataError, match=f"{next(iter(names))}: .* is not valid Unicode"):
        replace(three_graphs(), **names)
