import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close

from lfds.nn.accel.dispatch import use_backend
from lfds.nn.ops.segment import (
    ragged_max,
    ragged_mean,
    ragged_moments,
    ragged_sum,
    slot_max,
)

SIZES = st.lists(st.integers(0, 6), min_size=1, max_size=5)


def ragged_variance(x, ptr):
    return ragged_moments(x, ptr)[1]


REDUCTIONS = {
    ragged_max: lambda part: part.amax(0),
    ragged_sum: lambda part: part.sum(0),
    ragged_mean: lambda part: part.mean(0),
    ragged_variance: lambda part: part.var(0, correction=0),
}


@pytest.mark.parametrize("reduce", REDUCTIONS, ids=lambda reduce: reduce.__name__)
@given(sizes=SIZES, seed=st.integers(0, 99))
def test_values_and_gradients_are_those_of_one_graph_at_a_time(reduce, sizes, seed):
    generator = torch.Generator().manual_seed(seed)
    # Few different values, so that there are ties.
    x = torch.randint(-2, 3, (sum(sizes), 3), generator=generator).double().requires_grad_()
    ptr = torch.tensor([0, *sizes]).cumsum(0)
    parts = [REDUCTIONS[reduce](part) if len(part) else part.sum(0) for part in x.split(sizes)]
    expected = torch.stack(parts)
    weights = torch.randn(expected.shape, dtype=torch.float64, generator=generator)
    found = reduce(x, ptr)
    assert_close(found, expected)
    (grad,) = torch.autograd.grad(expected, x, weights)
    assert_close(torch.autograd.grad(found, x, weights)[0], grad)


def test_nodes_that_tie_have_equal_parts_of_the_gradient():
    x = torch.tensor([[1.0], [3.0], [3.0]], requires_grad=True)
    for upstream in (6.0, -6.0):
        (grad,) = torch.autograd.grad(ragged_max(x, torch.tensor([0, 3])).sum() * upstream, x)
        assert grad.flatten().tolist() == [0, upstream / 2, upstream / 2]


@given(sizes=SIZES, seed=st.integers(0, 99))
def test_the_moments_are_those_of_their_definition(sizes, seed):
    x = torch.randn(sum(sizes), 3, generator=torch.Generator().manual_seed(seed)).double()
    x = (10 + x).requires_grad_()
    ptr = torch.tensor([0, *sizes]).cumsum(0)
    weights = torch.randn(2, len(sizes), 3, dtype=torch.float64)
    with use_backend("batched"):  # autograd differentiates the definition there
        expected = ragged_moments(x, ptr)
        (grad,) = torch.autograd.grad(expected, x, tuple(weights))
    found = ragged_moments(x, ptr)
    assert_close(found, expected)
    assert_close(torch.autograd.grad(found, x, tuple(weights))[0], grad)


def test_deviations_from_a_large_mean_keep_their_digits():
    x = 1000 + torch.tensor([[-0.25], [0.25], [0.5], [-0.5]])
    mean, variance = ragged_moments(x, torch.tensor([0, 2, 4]))
    assert mean.flatten().tolist() == [1000, 1000]
    assert variance.flatten().tolist() == [0.0625, 0.25]


def test_nodes_that_are_alike_get_no_gradient_of_their_variance():
    # In float32 the mean of three of them is not quite their value.
    x = torch.full((3, 50), 0.1).mul_(torch.arange(1, 51)).requires_grad_()
    _, variance = ragged_moments(x, torch.tensor([0, 3]))
    (grad,) = torch.autograd.grad((variance + 1e-8).sqrt().sum(), x)
    assert grad.abs().max() < 1e-6


@given(seed=st.integers(0, 99))
def test_slots_that_tie_have_equal_parts_of_the_gradient(seed):
    generator = torch.Generator().manual_seed(seed)
    slots = torch.randint(-2, 3, (2, 5, 3), generator=generator).double().requires_grad_()
    weights = torch.randn(2, 3, dtype=torch.float64, generator=generator)
    found, expected = slot_max(slots), slots.amax(dim=1)
    assert torch.equal(found, expected)
    (grad,) = torch.autograd.grad(expected, slots, weights)
    assert_close(torch.autograd.grad(found, slots, weights)[0], grad)


@pytest.mark.parametrize("ptr", [[0, 2], [0, 3, 2, 4], [1, 4]])
@pytest.mark.parametrize("reduce", [ragged_sum, ragged_moments])
def test_boundaries_that_do_not_fit_are_refused(reduce, ptr):
    with pytest.raises(ValueError, match="ptr must"):
        reduce(torch.ones(4, 2), torch.tensor(ptr))


def test_sums_and_moments_have_second_derivatives():
    x = torch.randn(6, 2, dtype=torch.float64, requires_grad=True)
    ptr = torch.tensor([0, 4, 4, 6])
    assert torch.autograd.gradgradcheck(lambda x: ragged_sum(x, ptr).square(), (x,))
    assert torch.autograd.gradgradcheck(lambda x: ragged_moments(x, ptr)[0].square(), (x,))
    assert torch.autograd.gradgradcheck(lambda x: ragged_moments(x, ptr)[1].square(), (x,))


def test_maxima_have_second_derivatives():
    x = torch.randn(6, 2, dtype=torch.float64, requires_grad=True)
    ptr = torch.tensor([0, 4, 4, 6])
    assert torch.autograd.gradgradcheck(lambda x: ragged_max(x, ptr).square(), (x,))
    assert torch.autograd.gradgradcheck(lambda x: slot_max(x.view(2, 3, 2)).square(), (x,))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_many_ties_in_low_precision(dtype):
    x = torch.ones(5000, 1, dtype=dtype, requires_grad=True)
    ragged_max(x, torch.tensor([0, 5000])).sum().backward()
    assert_close(x.grad, torch.full_like(x, 1 / 5000))


def test_a_matrix_of_any_layout():
    x, ptr = torch.randn(8, 6), torch.tensor([0, 3, 3, 8])
    for layout in (x.T.contiguous().T, torch.stack([x, x], dim=-1)[..., 0]):
        for reduce in REDUCTIONS:
            assert_close(reduce(layout, ptr), reduce(x, ptr))


def test_a_value_that_is_not_finite_stays_in_its_graph():
    x = torch.tensor([[1.0], [torch.nan], [2.0], [-torch.inf]])
    found = ragged_max(x, torch.tensor([0, 2, 3, 4]))
    assert found[0].isnan()
    assert found[1:].flatten().tolist() == [2.0, -torch.inf]
