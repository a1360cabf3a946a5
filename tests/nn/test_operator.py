import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from lfds.nn import operator
from lfds.nn.operator import blocks


@given(
    sizes=st.lists(st.integers(0, 9), min_size=1, max_size=6),
    size=st.integers(1, 40),
)
def test_blocks_cover_every_node_once_with_its_graph(sizes, size):
    ptr = torch.tensor([0, *sizes]).cumsum(0)
    index = torch.repeat_interleave(torch.tensor(sizes))
    seen, graphs = [], []
    for block in blocks(ptr, sum(sizes), size):
        nodes = range(sum(sizes))[block.nodes]
        assert len(nodes) <= size
        seen += nodes
        inside = torch.repeat_interleave(block.ptr.diff())
        graphs += (torch.arange(len(sizes))[block.graphs])[inside].tolist()
    assert seen == list(range(sum(sizes)))
    assert graphs == index.tolist()


@pytest.mark.parametrize("reduction", ["sum", "mean", "mass"])
@pytest.mark.parametrize("low_memory", [False, True])
@pytest.mark.parametrize("per_graph", [False, True])
def test_the_operator_is_well_formed(reduction, low_memory, per_graph, monkeypatch):
    monkeypatch.setattr(operator, "BLOCK", 2)
    x = torch.randn(5, 4, requires_grad=True)
    anchors = torch.randn(*((3,) if per_graph else ()), 8, 4, requires_grad=True)
    arguments = (x, anchors, torch.tensor([0, 2, 2, 5]), reduction, low_memory)
    torch.library.opcheck(torch.ops.lfds.distribute, arguments)


def test_low_memory_keeps_no_shares():
    x, anchors, ptr = torch.randn(100, 4), torch.randn(8, 4), torch.tensor([0, 100])
    _, kept, _ = torch.ops.lfds.distribute(x, anchors, ptr, "sum", False)
    assert kept.shape == (100, 8)
    _, kept, _ = torch.ops.lfds.distribute(x, anchors, ptr, "sum", True)
    assert kept.numel() == 0


def test_a_second_derivative_is_refused_in_words():
    x, anchors = torch.randn(5, 4, requires_grad=True), torch.randn(8, 4)
    slots, _, _ = torch.ops.lfds.distribute(x, anchors, torch.tensor([0, 5]), "sum", False)
    (pull,) = torch.autograd.grad(slots.square().sum(), x, create_graph=True)
    with pytest.raises(RuntimeError, match=r"no second derivative.*without create_graph"):
        pull.sum().backward()
