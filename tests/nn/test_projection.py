import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.autograd import gradcheck
from torch.testing import assert_close

from lfds.nn import REDUCTIONS, distribute, projection, shares
from lfds.nn.ops import distribute as operator

LOW_PRECISION = {torch.float16: 2e-3, torch.bfloat16: 2e-2}


def slow_distribute(x, anchors, ptr, reduction):
    """The equation, one node and one slot at a time."""
    graphs = []
    for graph in range(len(ptr) - 1):
        own = anchors if anchors.dim() == 2 else anchors[graph]
        total, mass = torch.zeros_like(own), torch.zeros(len(own), dtype=x.dtype)
        nodes = x[ptr[graph] : ptr[graph + 1]]
        for node in nodes:
            weight = torch.stack([torch.exp(node @ anchor) for anchor in own])
            for slot in range(len(own)):
                share = weight[slot] / weight.sum()
                total[slot] = total[slot] + share * node
                mass[slot] = mass[slot] + share
        if len(nodes) and reduction == "mean":
            total = total / len(nodes)
        if len(nodes) and reduction == "mass":
            total = total / mass[:, None]
        graphs.append(total)
    return torch.stack(graphs)


@given(
    sizes=st.lists(st.integers(0, 6), min_size=1, max_size=5),
    slots=st.integers(1, 9),
    channels=st.integers(1, 9),
    reduction=st.sampled_from(REDUCTIONS),
    per_graph=st.booleans(),
    block=st.sampled_from([1, 2, 5, operator.BLOCK]),
    low_memory=st.booleans(),
    dtype=st.sampled_from([torch.float32, torch.float64]),
    seed=st.integers(0, 999),
)
def test_distribute_matches_its_equation(
    sizes, slots, channels, reduction, per_graph, block, low_memory, dtype, seed
):
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(sum(sizes), channels, dtype=dtype, generator=generator)
    shape = (*((len(sizes),) if per_graph else ()), slots, channels)
    anchors = torch.randn(shape, dtype=dtype, generator=generator)
    ptr = torch.tensor([0, *sizes]).cumsum(0)
    usual = operator.BLOCK
    operator.BLOCK = block
    try:
        found = distribute(x, anchors, ptr, reduction=reduction, low_memory=low_memory)
    finally:
        operator.BLOCK = usual
    assert found.dtype == dtype
    assert_close(found, slow_distribute(x, anchors, ptr, reduction), rtol=1e-4, atol=1e-5)
    # Under transforms of torch.func, basic operations replace the operator.
    literal, _ = torch.func.jvp(
        lambda x: distribute(x, anchors, ptr, reduction=reduction), (x,), (torch.zeros_like(x),)
    )
    assert_close(found, literal, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("low_memory", [False, True])
@pytest.mark.parametrize("per_graph", [False, True])
def test_gradients(reduction, low_memory, per_graph, monkeypatch):
    monkeypatch.setattr(operator, "BLOCK", 2)
    sizes = [2, 0, 1, 4]  # less than, nothing of, and more than a block
    ptr = torch.tensor([0, *sizes]).cumsum(0)
    x = torch.randn(7, 2, dtype=torch.float64, requires_grad=True)
    shape = (*((4,) if per_graph else ()), 3, 2)
    anchors = torch.randn(shape, dtype=torch.float64, requires_grad=True)
    assert gradcheck(
        lambda *inputs: distribute(*inputs, ptr, reduction=reduction, low_memory=low_memory),
        (x, anchors),
    )


@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_a_reduction_needs_no_operator_of_its_own(reduction, monkeypatch):
    ptr = torch.tensor([0, 3, 3, 9])
    x = torch.randn(9, 5, dtype=torch.float64, requires_grad=True)
    anchors = torch.randn(4, 5, dtype=torch.float64, requires_grad=True)

    def slots_and_gradients():
        slots = distribute(x, anchors, ptr, reduction=reduction)
        return slots, *torch.autograd.grad(slots.square().sum(), (x, anchors))

    by_operator = slots_and_gradients()
    monkeypatch.setattr(projection, "OPERATOR_REDUCTIONS", ("sum",))
    assert_close(slots_and_gradients(), by_operator)


@pytest.mark.parametrize(("slots", "channels"), [(64, 64), (8, 4), (7, 5), (1, 1)])
def test_float32_gradients_match_float64(slots, channels):
    ptr = torch.tensor([0, 40, 40, 41, 100])
    x, anchors = torch.randn(100, channels), torch.randn(slots, channels)
    weights = torch.randn(4, slots, channels)
    found = {}
    for dtype in (torch.float32, torch.float64):
        inputs = [tensor.to(dtype).requires_grad_() for tensor in (x, anchors)]
        grads = torch.autograd.grad(distribute(*inputs, ptr), inputs, weights.to(dtype))
        found[dtype] = [grad.double() for grad in grads]
    assert_close(found[torch.float32], found[torch.float64], rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("dtype", LOW_PRECISION)
@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("low_memory", [False, True])
def test_low_precision_is_rounded_once(dtype, reduction, low_memory):
    ptr = torch.tensor([0, 3, 3, 9])
    x = torch.randn(9, 8).to(dtype).requires_grad_()
    anchors = torch.randn(4, 8).to(dtype).requires_grad_()
    options = {"reduction": reduction, "low_memory": low_memory}
    found = distribute(x, anchors, ptr, **options)
    grads = torch.autograd.grad(found.float().square().sum(), (x, anchors))
    assert [tensor.dtype for tensor in (found, *grads)] == [dtype] * 3
    exact = distribute(x.float(), anchors.float(), ptr, **options)
    assert_close(found.float(), exact, rtol=LOW_PRECISION[dtype], atol=LOW_PRECISION[dtype])


def test_upstream_gradients_of_any_memory_layout():
    ptr = torch.tensor([0, 2, 5])
    x = torch.randn(5, 8, requires_grad=True)
    anchors = torch.randn(4, 8)
    (summed,) = torch.autograd.grad(distribute(x, anchors, ptr).sum(), x)
    (weighted,) = torch.autograd.grad(distribute(x, anchors, ptr), x, torch.ones(2, 4, 8))
    assert_close(summed, weighted)
    transposed = torch.randn(2, 8, 4).mT
    (strided,) = torch.autograd.grad(distribute(x, anchors, ptr), x, transposed)
    (dense,) = torch.autograd.grad(distribute(x, anchors, ptr), x, transposed.contiguous())
    assert_close(strided, dense)


@pytest.mark.parametrize("layout", ["transposed", "strided", "offset"])
def test_nodes_of_any_memory_layout(layout):
    ptr = torch.tensor([0, 2, 6])
    x = torch.randn(6, 8)
    odd = {
        "transposed": x.T.contiguous().T,
        "strided": torch.stack([x, x], dim=-1)[..., 0],
        "offset": torch.cat([torch.zeros(1), x.flatten()])[1:].view(6, 8),
    }[layout]
    anchors = torch.randn(4, 8)
    assert_close(distribute(odd, anchors, ptr), distribute(x, anchors, ptr))


@pytest.mark.parametrize("dtype", [torch.int32, torch.int8])
@pytest.mark.parametrize("low_memory", [False, True])
def test_ptr_of_any_integer_dtype(dtype, low_memory, monkeypatch):
    monkeypatch.setattr(operator, "BLOCK", 2)
    x, anchors, ptr = torch.randn(6, 8), torch.randn(2, 4, 8), torch.tensor([0, 2, 6])
    expected = distribute(x, anchors, ptr)
    assert_close(distribute(x, anchors, ptr.to(dtype), low_memory=low_memory), expected)
    assert_close(shares(x, anchors, ptr.to(dtype)), shares(x, anchors, ptr))


def test_a_slot_without_mass_stays_finite():
    x = torch.tensor([[60.0, 0.0], [50.0, 0.0]], requires_grad=True)
    anchors = torch.tensor([[4.0, 0.0], [-4.0, 0.0]], requires_grad=True)
    slots = distribute(x, anchors, torch.tensor([0, 2]), reduction="mass")
    slots.sum().backward()
    assert slots.isfinite().all()
    assert x.grad.isfinite().all()
    assert anchors.grad.isfinite().all()


def test_no_graphs():
    assert distribute(torch.randn(0, 4), torch.randn(3, 4), torch.tensor([0])).shape == (0, 3, 4)


@pytest.mark.parametrize("per_graph", [False, True])
def test_shares_are_a_softmax_over_the_slots(per_graph):
    x, ptr = torch.randn(6, 4), torch.tensor([0, 2, 2, 6])
    anchors = torch.randn(3, 5, 4) if per_graph else torch.randn(5, 4)
    found = shares(x, anchors, ptr)
    assert_close(found.sum(dim=1), torch.ones(6))
    for node, graph in enumerate([0, 0, 2, 2, 2, 2]):
        own = anchors[graph] if per_graph else anchors
        weight = torch.exp(own @ x[node])
        assert_close(found[node], weight / weight.sum())


@pytest.mark.parametrize("dtype", LOW_PRECISION)
@pytest.mark.parametrize("per_graph", [False, True])
def test_shares_are_rounded_once(dtype, per_graph):
    x, ptr = torch.randn(20, 8).to(dtype), torch.tensor([0, 8, 20])
    anchors = torch.randn(*((2,) if per_graph else ()), 5, 8).to(dtype)
    exact = shares(x.float(), anchors.float(), ptr)
    assert torch.equal(shares(x, anchors, ptr), exact.to(dtype))
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert torch.equal(shares(x.float(), anchors.float(), ptr), exact)


@pytest.mark.parametrize("low_memory", [False, True])
def test_autocast_does_not_lower_the_precision(low_memory):
    x, anchors, ptr = torch.randn(50, 8), torch.randn(4, 8), torch.tensor([0, 20, 50])
    exact = distribute(x, anchors, ptr, low_memory=low_memory)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert_close(distribute(x, anchors, ptr, low_memory=low_memory), exact)


@pytest.mark.plain
def test_an_unknown_reduction_is_refused():
    with pytest.raises(ValueError, match="one of sum, mean, mass, got 'median'"):
        distribute(torch.randn(2, 4), torch.randn(3, 4), torch.tensor([0, 2]), reduction="median")
