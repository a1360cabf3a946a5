import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close

from lfds.data.batch import as_rows, select, take
from tests.data.graphs import graph_sets


@given(data=st.data(), graphs=graph_sets())
def test_selected_rows_are_those_of_the_graphs_in_order(data, graphs):
    numbers = st.integers(0, len(graphs) - 1)
    chosen = np.array(data.draw(st.lists(numbers, max_size=6)), dtype=np.int64)
    selected = select(graphs.ptr, graphs.edge_ptr, chosen)
    nodes = [n for g in chosen for n in range(int(graphs.ptr[g]), int(graphs.ptr[g + 1]))]
    edges = [e for n in nodes for e in range(int(graphs.edge_ptr[n]), int(graphs.edge_ptr[n + 1]))]
    assert selected.nodes.tolist() == nodes
    assert selected.edges.tolist() == edges
    assert np.diff(selected.ptr).tolist() == graphs.sizes[torch.from_numpy(chosen)].tolist()
    assert np.diff(selected.edge_ptr).tolist() == graphs.degrees[nodes].tolist()


@given(data=st.data(), graphs=graph_sets())
def test_a_slice_selects_the_same_rows_as_its_indices(data, graphs):
    start = data.draw(st.integers(0, len(graphs)))
    stop = data.draw(st.integers(start, len(graphs)))
    sliced = select(graphs.ptr, graphs.edge_ptr, slice(start, stop))
    numbered = select(graphs.ptr, graphs.edge_ptr, np.arange(start, stop))
    assert sliced.ptr.tolist() == numbered.ptr.tolist()
    assert sliced.edge_ptr.tolist() == numbered.edge_ptr.tolist()
    assert sliced.edge_counts.tolist() == numbered.edge_counts.tolist()
    rows = torch.arange(graphs.num_nodes)
    assert_close(take(rows, sliced.nodes), take(rows, numbered.nodes))
    edges = torch.arange(graphs.num_edges)
    assert_close(take(edges, sliced.edges), take(edges, numbered.edges))


def test_contiguous_rows_are_taken_without_a_copy():
    table = torch.arange(6).reshape(3, 2)
    assert take(table, slice(1, 3)).data_ptr() == table[1:].data_ptr()


@given(start=st.integers(-7, 7), stop=st.integers(-7, 7), step=st.sampled_from([-2, -1, 1, 2]))
def test_slices_select_like_those_of_lists(start, stop, step):
    rows = as_rows(slice(start, stop, step), 5)
    assert take(torch.arange(5), rows).tolist() == list(range(5))[start:stop:step]


def test_negative_indices_and_masks_are_supported():
    assert as_rows(-1, 5) == as_rows(np.int64(4), 5) == as_rows(torch.tensor(4), 5) == slice(4, 5)
    assert as_rows([-1, 0], 5).tolist() == [4, 0]
    assert as_rows([True, False, True], 3).tolist() == [0, 2]


@pytest.mark.parametrize(
    ("indices", "message"),
    [
        (5, "use 0 to 4"),
        (-6, "use 0 to 4"),
        ([0, 5], "use 0 to 4"),
        ([-6], "use 0 to 4"),
        ([True, False], "needs 5 values"),
        ([0.5], "whole numbers or a mask"),
        ([[0]], "one dimension"),
        ("a", "one dimension"),
        (None, "one dimension"),
    ],
)
def test_invalid_indices_are_index_errors(indices, message):
    with pytest.raises(IndexError, match=message):
        as_rows(indices, 5)
