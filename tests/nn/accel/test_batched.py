"""The batched backend against the CPU's, which is tested against the slow reference."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.testing import assert_close

from lfds.nn import LFDSPool, distribute
from lfds.nn.accel import batched
from lfds.nn.accel.dispatch import use_backend
from lfds.nn.ops.distribute_device import distribute_on_device
from lfds.nn.ops.ragged import Ragged
from lfds.nn.ops.segment_matmul import ragged_gram, ragged_matmul, weighted_sums
from lfds.nn.projection import place_and_weigh

SIZES = st.lists(st.sampled_from([0, 1, 3, 16, 40]), min_size=1, max_size=5)


def boundaries(sizes):
    return torch.tensor([0, *sizes]).cumsum(0)


@given(sizes=SIZES, rows=st.integers(1, 5), columns=st.integers(1, 5))
def test_products_are_those_of_the_cpu(sizes, rows, columns):
    ptr = boundaries(sizes)
    a, b = torch.randn(sum(sizes), rows), torch.randn(sum(sizes), columns)
    matrices = torch.randn(len(sizes), rows, columns)
    expected = ragged_gram(a, b, ptr), ragged_matmul(a, matrices, ptr)
    with use_backend("batched"):
        found = ragged_gram(a, b, ptr), ragged_matmul(a, matrices, ptr)
    assert_close(found, expected)


def gradients(run, *inputs):
    inputs = [one.clone().requires_grad_() for one in inputs]
    outputs = run(*inputs)
    outputs = outputs if isinstance(outputs, tuple) else (outputs,)
    torch.manual_seed(1)
    loss = sum((one * torch.randn(one.shape)).sum() for one in outputs)
    return *outputs, *torch.autograd.grad(loss, inputs)


@pytest.mark.parametrize("per_graph", [False, True])
@pytest.mark.parametrize("reduction", ["sum", "mean", "mass"])
@settings(max_examples=8)
@given(sizes=SIZES, slots=st.integers(1, 9), channels=st.integers(1, 9), chunk=st.booleans())
def test_distribute_is_that_of_the_cpu(reduction, per_graph, sizes, slots, channels, chunk):
    ptr, dtype = boundaries(sizes), torch.float64
    x = torch.randn(sum(sizes), channels, dtype=dtype)
    anchors = torch.randn(*((len(sizes),) if per_graph else ()), slots, channels, dtype=dtype)

    def run(x, anchors):
        both = place_and_weigh(Ragged(x, ptr, None), anchors, reduction, False)
        return distribute(x, anchors, ptr, reduction=reduction), *both

    expected = gradients(run, x, anchors)
    with use_backend("batched"), pytest.MonkeyPatch.context() as patch:
        patch.setattr(batched, "CHUNK", 64 if chunk else batched.CHUNK)
        found = gradients(run, x, anchors)
    assert_close(found, expected)


def test_weights_count_a_node_as_often():
    """A node of weight 3 is three nodes; one of weight 0 is none."""
    x, anchors = torch.randn(5, 4, dtype=torch.float64), torch.randn(3, 4, dtype=torch.float64)
    counts = torch.tensor([3, 1, 0, 2, 1])
    often, ptr = x.repeat_interleave(counts, dim=0), torch.tensor([0, 4, 7])
    with use_backend("batched"):
        expected = distribute_on_device(often, anchors, ptr, "mass")
        weighed = distribute_on_device(x, anchors, torch.tensor([0, 3, 5]), "mass", counts.double())
    # The mass of the first two: 3 + 1 + 0 and 2 + 1 nodes.
    assert_close(weighed, expected)


@pytest.mark.parametrize("reduction", ["sum", "mean", "mass"])
def test_gradients_of_weights(reduction):
    ptr = torch.tensor([0, 2, 2, 5])
    inputs = (torch.randn(5, 4), torch.randn(3, 4), torch.rand(5) + 0.1)
    inputs = [one.double().requires_grad_() for one in inputs]
    with use_backend("batched"):
        assert torch.autograd.gradcheck(
            lambda x, anchors, weight: distribute_on_device(x, anchors, ptr, reduction, weight),
            inputs,
        )


@pytest.mark.parametrize(("per_graph", "weight"), [(False, True), (True, False)])
def test_the_operator_passes_the_checks_of_torch(per_graph, weight):
    x = torch.randn(5, 4, requires_grad=True)
    anchors = torch.randn(*((3,) if per_graph else ()), 8, 4, requires_grad=True)
    amount = torch.rand(5, requires_grad=True) if weight else None
    with use_backend("batched"):
        torch.library.opcheck(
            torch.ops.lfds.distribute_on_device,
            (x, anchors, torch.tensor([0, 2, 2, 5]), amount, "mass"),
        )


def test_a_nan_stays_in_its_graph():
    x, ptr = torch.randn(40, 4), torch.tensor([0, 20, 40])
    x[25] = torch.nan
    with use_backend("batched"):
        slots, _ = distribute_on_device(x, torch.randn(3, 4), ptr, "sum")
        sums = weighted_sums(torch.ones(40, 1), x, ptr)
    assert slots[0].isfinite().all()
    assert slots[1].isnan().all()
    assert sums[0].isfinite().all()


def test_low_precision_is_rounded_once():
    x, anchors, ptr = torch.randn(50, 8), torch.randn(4, 8), torch.tensor([0, 20, 50])
    x = x.bfloat16()
    with use_backend("batched"):
        slots = distribute(x, anchors.bfloat16(), ptr)
    exact = distribute(x.float(), anchors.bfloat16().float(), ptr)
    assert torch.equal(slots, exact.bfloat16())


def test_a_second_derivative_is_refused():
    x, anchors = torch.randn(5, 4, requires_grad=True), torch.randn(8, 4)
    with use_backend("batched"):
        slots = distribute(x, anchors, torch.tensor([0, 5]))
        (grad,) = torch.autograd.grad(slots.square().sum(), x, create_graph=True)
    with pytest.raises(RuntimeError, match="no second derivative"):
        grad.sum().backward()


@pytest.mark.plain
def test_the_layer_is_compiled_in_one_piece():
    pool = LFDSPool(8, "loop", num_slots=4).eval()
    x, index = torch.randn(30, 8), torch.arange(3).repeat_interleave(10)
    expected = pool(x, index, dim_size=3)
    with use_backend("batched"):
        compiled = torch.compile(pool, fullgraph=True, backend="aot_eager")
        assert_close(compiled(x, index, dim_size=3), expected)
