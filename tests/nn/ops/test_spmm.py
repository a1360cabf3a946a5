import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close

from lfds.nn.ops.edges import Edges, Rows
from lfds.nn.ops.spmm import multiply, multiply_by_index, sum_of_neighbours


def one_by_one(x, index, weight, own):
    """The equation, edge by edge."""
    rows = list(own.unbind())
    for (source, target), value in zip(index.T.tolist(), weight, strict=True):
        rows[target] = rows[target] + value * x[source]
    return torch.stack(rows)


@given(
    nodes=st.integers(1, 7),
    count=st.integers(0, 15),
    dtype=st.sampled_from([torch.float32, torch.float64]),
    with_own=st.booleans(),
    seed=st.integers(0, 99),
)
def test_sum_and_gradient_match_the_equation(nodes, count, dtype, with_own, seed):
    generator = torch.Generator().manual_seed(seed)
    index = torch.randint(0, nodes, (2, count), generator=generator)
    weight = torch.randn(count, generator=generator, dtype=dtype)
    x, own, upstream = torch.randn(3, nodes, 4, generator=generator, dtype=dtype).unbind()
    x, own = x.requires_grad_(), (own * with_own).requires_grad_()
    edges = Edges.from_index(index, nodes, weight)
    expected = one_by_one(x, index, weight, own) + 0 * x  # so that x counts without edges too
    found = sum_of_neighbours(x, edges, own) if with_own else sum_of_neighbours(x, edges)
    assert_close(found, expected)
    assert found.dtype == dtype
    (grad,) = torch.autograd.grad(expected, x, upstream)
    assert_close(torch.autograd.grad(found, x, upstream)[0], grad)


def some_edges(nodes=6):
    index = torch.tensor([[0, 1, 2, 3, 3], [1, 2, 0, 0, 1]])  # directed; 4 and 5 have none
    return Edges.from_index(index, nodes, torch.tensor([1.0, 2.0, -1.0, 0.5, 3.0]).double())


def test_gradients_of_first_and_second_order():
    x = torch.randn(6, 3, dtype=torch.float64, requires_grad=True)
    own = torch.randn(6, 3, dtype=torch.float64, requires_grad=True)
    edges = some_edges()
    call = lambda x, own: sum_of_neighbours(x, edges, own)  # noqa: E731
    assert torch.autograd.gradcheck(call, (x, own))
    assert torch.autograd.gradgradcheck(call, (x, own))


@pytest.mark.parametrize("with_own", [True, False])
def test_forward_derivatives_of_torch_func(with_own):
    x, own, along = torch.randn(3, 6, 4, dtype=torch.float64).unbind()
    edges = some_edges()
    call = lambda x: sum_of_neighbours(x, edges, own if with_own else None)  # noqa: E731
    found, slope = torch.func.jvp(call, (x,), (along,))
    assert_close(found, call(x))
    assert_close(slope, sum_of_neighbours(along, edges))


def test_columns_of_a_matrix_and_expanded_gradients():
    wide = torch.randn(6, 8, dtype=torch.float64, requires_grad=True)
    own, sent = wide.chunk(2, dim=1)
    sum_of_neighbours(sent, some_edges(), own).sum().backward()
    expected = torch.ones(6, 8, dtype=torch.float64)
    expected[:, 4:] = torch.tensor([1, 2, -1, 3.5, 0, 0]).double()[:, None]
    assert_close(wide.grad, expected)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_low_precision_is_rounded_once(dtype):
    x = torch.randn(6, 3).to(dtype)
    exact = sum_of_neighbours(x.double(), some_edges())
    assert_close(sum_of_neighbours(x, some_edges()), exact.to(dtype))


def test_autocast_does_not_lower_the_precision():
    x = torch.randn(6, 3)
    with torch.autocast("cpu", torch.bfloat16):
        found = sum_of_neighbours(x, some_edges())
    assert_close(found, sum_of_neighbours(x, some_edges()))


def test_a_batch_without_nodes():
    edges = Edges.from_rows(torch.tensor([0]), torch.zeros(0).long())
    assert sum_of_neighbours(torch.zeros(0, 3), edges).shape == (0, 3)


def test_edges_of_another_batch_are_refused():
    with pytest.raises(ValueError, match="edges are between 6 nodes, but x has 5 rows"):
        sum_of_neighbours(torch.zeros(5, 3), some_edges())


def test_the_operator_passes_the_checks_of_torch():
    edges = some_edges()
    x = torch.randn(6, 3, requires_grad=True)
    parts = [
        part.float() if part.is_floating_point() else part for part in (*edges.rows, *edges.columns)
    ]
    torch.library.opcheck(torch.ops.lfds.sum_of_neighbours, (x, *parts))


def test_edges_for_inference_give_the_same_sum():
    edges = Edges.from_index(torch.tensor([[0, 1, 2, 3, 3], [1, 2, 0, 0, 1]]), 6)
    forward_only = Edges.forward_only(edges.rows.ptr, edges.rows.column)
    x = torch.randn(6, 3)
    assert torch.equal(sum_of_neighbours(x, forward_only), sum_of_neighbours(x, edges))


def test_the_sum_by_index_is_the_same():
    rows = Rows(torch.tensor([0, 2, 2, 3]).int(), torch.tensor([1, 2, 0]).int(), torch.rand(3))
    x = torch.randn(3, 4)
    assert_close(multiply_by_index(rows, x), multiply(rows, x))
