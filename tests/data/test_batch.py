from dataclasses import fields

import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.testing import assert_close
from torch_geometric.loader import DataLoader

from tests.data.graphs import edge_list, graph_sets, three_graphs


@given(data=st.data(), graphs=graph_sets())
def test_a_batch_is_its_graphs_concatenated_and_renumbered(data, graphs):
    chosen = data.draw(st.lists(st.integers(0, len(graphs) - 1), max_size=5))
    batch = graphs.batch(chosen)
    pairs, first = [], 0
    for number in chosen:
        pairs += [(s + first, r + first) for s, r in edge_list(graphs)[number]]
        first += int(graphs.sizes[number])
    assert batch.edge_index.T.tolist() == [list(pair) for pair in pairs]
    assert len(batch) == len(chosen)
    assert_close(batch.y, graphs.y[chosen])
    assert_close(batch.index, torch.repeat_interleave(graphs.sizes[chosen]))
    assert_close(batch.edge_attributes, graphs[chosen].edge_attributes)
    assert_close(batch.edge_labels, graphs[chosen].edge_labels)


def test_missing_renumbering_is_detected():
    graphs = three_graphs()
    batch = graphs.batch([2, 0])
    not_renumbered = torch.cat([graphs[2].edge_dst, graphs[0].edge_dst])
    assert batch.edge_dst.tolist() != not_renumbered.tolist()


@given(graphs=graph_sets(min_nodes=1))
@settings(max_examples=30)
def test_a_batch_equals_that_of_pyg(graphs):
    theirs = next(iter(DataLoader(graphs.to_pyg(), batch_size=len(graphs))))
    ours = graphs.batch(slice(None))
    assert_close(ours.edge_index, theirs.edge_index)
    assert_close(ours.index, theirs.batch)
    assert_close(ours.ptr, theirs.ptr)
    assert_close(ours.y, theirs.y)


def test_a_batch_of_no_graphs_is_empty():
    batch = three_graphs().batch([])
    assert len(batch) == 0
    assert batch.x.shape == (0, 2)
    assert batch.edge_dst.dtype == torch.int64


def test_all_tensors_of_a_batch_move_to_a_device():
    batch = three_graphs().batch([0, 2])
    assert batch.to("cpu") is batch
    moved = batch.to("meta")
    assert {getattr(moved, entry.name).device.type for entry in fields(moved)} == {"meta"}
    assert moved.edge_attributes.shape == batch.edge_attributes.shape == (7, 1)
