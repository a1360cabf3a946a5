import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close

from lfds.nn.ops.ragged import index_from_ptr, ptr_from_index, ragged, runs_of_nodes

SIZES = st.lists(st.integers(0, 6), min_size=1, max_size=6)


@given(sizes=SIZES)
def test_index_and_ptr_are_converted_into_each_other(sizes):
    index = torch.repeat_interleave(torch.tensor(sizes))
    ptr = torch.tensor([0, *sizes]).cumsum(0)
    assert_close(ptr_from_index(index, len(sizes)), ptr)
    assert_close(index_from_ptr(ptr, sum(sizes)), index)


@given(sizes=SIZES, seed=st.integers(0, 99))
def test_nodes_in_any_order_are_grouped_by_graph(sizes, seed):
    order = torch.randperm(sum(sizes), generator=torch.Generator().manual_seed(seed))
    index = torch.repeat_interleave(torch.tensor(sizes))[order]
    x = torch.arange(len(index), dtype=torch.float32)[:, None]
    batch = ragged(x, index, num_graphs=len(sizes))
    for graph in range(len(sizes)):
        nodes = batch.x[batch.ptr[graph] : batch.ptr[graph + 1], 0].long()
        # The nodes of this graph, in their original order.
        assert nodes.tolist() == (index == graph).nonzero()[:, 0].tolist()
    if batch.order is not None:
        assert_close(x[batch.order], batch.x)


def test_sorted_nodes_are_not_copied():
    x = torch.randn(5, 2)
    assert ragged(x, torch.tensor([0, 0, 2, 2, 3])).x is x
    assert ragged(x, ptr=torch.tensor([0, 5])).x is x


def test_neither_index_nor_ptr_means_one_graph():
    assert ragged(torch.randn(3, 2)).ptr.tolist() == [0, 3]
    assert ragged(torch.randn(0, 2)).ptr.tolist() == [0, 0]


def test_the_largest_index_counts_the_graphs():
    batch = ragged(torch.randn(2, 2), torch.tensor([3, 1], dtype=torch.int32))
    assert batch.ptr.tolist() == [0, 0, 1, 1, 2]
    assert ragged(torch.randn(0, 2), torch.zeros(0, dtype=torch.long)).ptr.tolist() == [0]


@given(st.lists(st.integers(0, 9), max_size=30), st.integers(1, 20), st.integers(0, 3))
def test_runs_hold_every_graph_once_and_a_limited_number_of_nodes(sizes, most, each):
    ptr = torch.tensor([0, *sizes]).cumsum(0)
    runs = list(runs_of_nodes(ptr, most, each))
    assert [k for run in runs for k in range(run.start, run.stop)] == list(range(len(sizes)))
    for part in runs:
        nodes = sum(size + each for size in sizes[part])
        assert nodes <= most or part.stop - part.start == 1
        if part.stop < len(sizes):  # no run ends before it must
            assert nodes + sizes[part.stop] + each > most
