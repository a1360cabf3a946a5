import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.nn.cases import no_edges
from torch import nn
from torch.testing import assert_close
from torch_geometric.nn import aggr

from lfds.nn.baselines.sort import SortPool, first_nodes, sorted_order

PTR = torch.tensor([0, 3, 3, 15, 16])


def test_nodes_without_ties_are_those_of_pyg():
    x = torch.randn(16, 6)
    expected = aggr.SortAggregation(k=10)(x, torch.repeat_interleave(PTR.diff()), dim_size=4)
    assert_close(first_nodes(x, PTR, 10).flatten(1), expected)


@given(sizes=st.lists(st.integers(0, 7), min_size=1, max_size=4), seed=st.integers(0, 99))
def test_ties_are_broken_channel_by_channel_from_the_last(sizes, seed):
    generator = torch.Generator().manual_seed(seed)
    x = torch.randint(0, 2, (sum(sizes), 3), generator=generator).float()
    ptr = torch.tensor([0, *sizes]).cumsum(0)
    expected = [
        node
        for nodes in torch.arange(sum(sizes)).split(sizes)
        for node in sorted(nodes.tolist(), key=lambda node: x[node].tolist()[::-1], reverse=True)
    ]
    assert_close(x[sorted_order(x, ptr)], x[torch.tensor(expected, dtype=torch.long)])


def test_ties_do_not_depend_on_the_order_of_the_nodes_as_in_pyg():
    x = torch.tensor([[1.0, 0.0], [2.0, 0.0]])
    index, ptr = torch.zeros(2).long(), torch.tensor([0, 2])
    both = [first_nodes(x[order], ptr, 2) for order in ([0, 1], [1, 0])]
    theirs = [aggr.SortAggregation(k=2)(x[order], index) for order in ([0, 1], [1, 0])]
    assert both[0].equal(both[1])
    assert not theirs[0].equal(theirs[1])


def test_the_convolutions_are_those_of_dgcnn():
    pool = SortPool(6, 30)
    x = torch.randn(16, 6)
    # As in DGCNN: one long row of numbers, a kernel as wide as a node, a stride of one node.
    over_nodes = nn.Conv1d(1, 16, kernel_size=6, stride=6)
    over_nodes.weight.data.copy_(pool.by_node.weight[:, None])
    over_nodes.bias.data.copy_(pool.by_node.bias)
    row = first_nodes(x, PTR, 30).view(4, 1, -1)
    paired = nn.MaxPool1d(2, 2)(over_nodes(row).relu())
    expected = pool.along(paired).relu().flatten(1)
    assert_close(pool(x, PTR, no_edges(16)), expected)
    assert expected.shape[1] == pool.out_channels == 352


def test_too_few_nodes_for_the_convolutions_are_refused():
    with pytest.raises(ValueError, match="sorted_nodes must be at least 10, got 9"):
        SortPool(6, 9)
