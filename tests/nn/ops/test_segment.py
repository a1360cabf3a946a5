from unittest.mock import patch

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close

from lfds.nn.ops import segment as maximum
from lfds.nn.ops.segment import _scattered_max, ragged_max, slot_max


@given(
    sizes=st.lists(st.integers(0, 6), min_size=1, max_size=5),
    seed=st.integers(0, 99),
    at_once=st.sampled_from([1, 20, 2**19]),
)
def test_both_routes_are_the_maximum_and_its_gradient(sizes, seed, at_once):
    generator = torch.Generator().manual_seed(seed)
    # Few different values, so that there are ties.
    x = torch.randint(-2, 3, (sum(sizes), 3), generator=generator).double().requires_grad_()
    ptr = torch.tensor([0, *sizes]).cumsum(0)
    expected = torch.stack([part.amax(0) if len(part) else part.sum(0) for part in x.split(sizes)])
    weights = torch.randn(expected.shape, dtype=torch.float64, generator=generator)
    (pull,) = torch.autograd.grad(expected, x, weights)
    for route in (ragged_max, _scattered_max):
        found = route(x, ptr)
        assert_close(found, expected)
        with patch("lfds.nn.ops.segment.AT_ONCE", at_once):
            assert_close(torch.autograd.grad(found, x, weights)[0], pull)


@given(shape=st.tuples(*3 * [st.integers(1, 4)]), seed=st.integers(0, 99))
def test_the_maximum_over_slots_and_its_gradient(shape, seed):
    generator = torch.Generator().manual_seed(seed)
    slots = torch.randint(-2, 3, shape, generator=generator).double().requires_grad_()
    expected = slots.amax(dim=1)
    weights = torch.randn(expected.shape, dtype=torch.float64, generator=generator)
    assert_close(slot_max(slots), expected)
    (found,) = torch.autograd.grad(slot_max(slots), slots, weights)
    assert_close(found, torch.autograd.grad(expected, slots, weights)[0])


def test_nodes_that_tie_share_the_gradient():
    x = torch.tensor([[1.0], [3.0], [3.0]], requires_grad=True)
    ragged_max(x, torch.tensor([0, 3])).backward(torch.tensor([[6.0]]))
    assert x.grad.flatten().tolist() == [0, 3, 3]


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_many_ties_in_low_precision(dtype):
    x = torch.ones(5000, 1, dtype=dtype, requires_grad=True)
    ragged_max(x, torch.tensor([0, 5000])).sum().backward()
    assert_close(x.grad, torch.full_like(x, 1 / 5000))


@pytest.mark.parametrize("of", [torch.square, torch.negative], ids=["square", "linear"])
@pytest.mark.parametrize(
    "run",
    [ragged_max, maximum._Eagerly.apply, torch.ops.lfds.ragged_max],
    ids=["natively", "eagerly", "operator"],
)
def test_a_second_derivative_is_refused_in_words(run, of):
    x = torch.randn(5, 3, requires_grad=True)
    largest = of(run(x, torch.tensor([0, 2, 5]))).sum()
    (pull,) = torch.autograd.grad(largest, x, create_graph=True)
    with pytest.raises(RuntimeError, match=r"^the maximum over each graph .*no second derivative"):
        pull.sum().backward()


def test_the_operator_is_well_formed():
    x, ptr = torch.randn(5, 3, requires_grad=True), torch.tensor([0, 2, 2, 5])
    torch.library.opcheck(torch.ops.lfds.ragged_max, (x, ptr))
