import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close

from lfds.nn import distribute
from lfds.nn.ops import distribute as operator
from lfds.nn.ops.distribute import blocks


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
def test_the_operator_passes_the_checks_of_torch(reduction, low_memory, per_graph, monkeypatch):
    monkeypatch.setattr(operator, "BLOCK", 2)
    x = torch.randn(5, 4, requires_grad=True)
    anchors = torch.randn(*((3,) if per_graph else ()), 8, 4, requires_grad=True)
    arguments = (x, anchors, torch.tensor([0, 2, 2, 5]), reduction, low_memory)
    torch.library.opcheck(torch.ops.lfds.distribute, arguments)


@pytest.mark.parametrize("reduction", ["sum", "mean", "mass"])
@pytest.mark.parametrize("low_memory", [False, True])
def test_the_operator_and_the_eager_function_are_the_same(reduction, low_memory):
    ptr = torch.tensor([0, 20, 20, 50])
    x, anchors = torch.randn(50, 8), torch.randn(4, 8)
    weights = torch.randn(3, 4, 8)
    found = []
    for run in (torch.ops.lfds.distribute, operator._Eagerly.apply):
        inputs = [x.clone().requires_grad_(), anchors.clone().requires_grad_()]
        slots = run(*inputs, ptr, reduction, low_memory)[0]
        found.append((slots, *torch.autograd.grad(slots, inputs, weights)))
    assert all(torch.equal(*pair) for pair in zip(*found, strict=True))


@pytest.mark.parametrize("ptr", [[0, 2, 4], [0, 2, 40], [0, 4, 2, 6], [1, 3, 6]])
def test_the_operator_refuses_a_wrong_ptr(ptr):
    with pytest.raises(ValueError, match="ptr must"):
        torch.ops.lfds.distribute(
            torch.randn(6, 8), torch.randn(4, 8), torch.tensor(ptr), "sum", False
        )


def test_low_memory_keeps_no_shares():
    x, anchors, ptr = torch.randn(100, 4), torch.randn(8, 4), torch.tensor([0, 100])
    _, kept, _ = torch.ops.lfds.distribute(x, anchors, ptr, "sum", False)
    assert kept.shape == (100, 8)
    _, kept, _ = torch.ops.lfds.distribute(x, anchors, ptr, "sum", True)
    assert kept.numel() == 0


@pytest.mark.parametrize(
    "run", [torch.ops.lfds.distribute, operator._Eagerly.apply], ids=["operator", "eagerly"]
)
def test_a_second_derivative_is_refused_with_the_way_out(run):
    x, anchors = torch.randn(5, 4, requires_grad=True), torch.randn(8, 4)
    slots = run(x, anchors, torch.tensor([0, 5]), "sum", False)[0]
    (grad,) = torch.autograd.grad(slots.square().sum(), x, create_graph=True)
    with pytest.raises(RuntimeError, match=r"no second derivative.*do not pass create_graph"):
        grad.sum().backward()


@pytest.mark.parametrize("slots", [8, 9, 10, 30])
@pytest.mark.parametrize("channels", [8, 12, 64])
def test_gradients_in_float32_for_any_number_of_slots(slots, channels):
    x = torch.randn(6, channels, requires_grad=True)
    anchors = torch.randn(slots, channels, requires_grad=True)
    grad = torch.randn(2, slots, channels)
    share = (x @ anchors.T).softmax(dim=-1)
    plain = torch.stack([share[:2].T @ x[:2], share[2:].T @ x[2:]])
    expected = torch.autograd.grad(plain, (x, anchors), grad)
    found = torch.autograd.grad(distribute(x, anchors, torch.tensor([0, 2, 6])), (x, anchors), grad)
    assert_close(found, expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("slots", [8, 9, 30])
def test_anchors_of_each_graph_in_float32_for_any_number_of_slots(slots):
    x = torch.randn(6, 12, requires_grad=True)
    anchors = torch.randn(2, slots, 12, requires_grad=True)
    grad = torch.randn(2, slots, 12)
    parts = zip(x.split([2, 4]), anchors, strict=True)
    plain = torch.stack([(part @ own.T).softmax(dim=-1).T @ part for part, own in parts])
    found = distribute(x, anchors, torch.tensor([0, 2, 6]))
    assert_close(found, plain, rtol=1e-4, atol=1e-4)
    expected = torch.autograd.grad(plain, (x, anchors), grad)
    assert_close(torch.autograd.grad(found, (x, anchors), grad), expected, rtol=1e-4, atol=1e-4)
