import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close

from lfds.nn.ops.segment_matmul import ragged_gram, ragged_matmul, takes_grouped, weighted_sums

SIZES = st.lists(st.integers(0, 6), min_size=1, max_size=5)
WIDTHS = st.integers(1, 9)
DTYPES = st.sampled_from([torch.float32, torch.float64])


def boundaries(sizes):
    return torch.tensor([0, *sizes]).cumsum(0)


@given(sizes=SIZES, rows=WIDTHS, columns=WIDTHS, dtype=DTYPES)
def test_gram_is_a_product_for_each_graph(sizes, rows, columns, dtype):
    a, b = torch.randn(sum(sizes), rows, dtype=dtype), torch.randn(sum(sizes), columns, dtype=dtype)
    found = ragged_gram(a, b, boundaries(sizes))
    expected = [one.T @ other for one, other in zip(a.split(sizes), b.split(sizes), strict=True)]
    assert_close(found, torch.stack(expected), rtol=1e-4, atol=1e-5)


@given(sizes=SIZES, inner=WIDTHS, columns=WIDTHS, dtype=DTYPES, transposed=st.booleans())
def test_matmul_takes_the_matrix_of_the_graph(sizes, inner, columns, dtype, transposed):
    a = torch.randn(sum(sizes), inner, dtype=dtype)
    matrices = torch.randn(len(sizes), inner, columns, dtype=dtype)
    if transposed:
        matrices = matrices.mT.contiguous().mT
    found = ragged_matmul(a, matrices, boundaries(sizes))
    expected = [rows @ matrix for rows, matrix in zip(a.split(sizes), matrices, strict=True)]
    assert_close(found, torch.cat(expected), rtol=1e-4, atol=1e-5)


def test_grouped_mm_is_used_where_it_can_be():
    assert takes_grouped(torch.randn(5, 64), torch.randn(3, 64, 8), torch.randn(3, 8, 64).mT)


@pytest.mark.parametrize(
    "operand",
    [
        torch.randn(5, 6),
        torch.randn(5, 8).double(),
        torch.randn(0, 8),
        torch.randn(41)[1:].view(5, 8),  # does not start at a multiple of 16 bytes
        torch.randn(1, 1, 8).expand(3, 5, 8),  # one row for all
    ],
    ids=["width", "dtype", "empty", "alignment", "expanded"],
)
def test_grouped_mm_is_not_used_where_it_would_refuse(operand):
    assert not takes_grouped(operand)
    good = torch.randn(operand.shape[-2], 8, dtype=operand.dtype)
    if operand.dim() == 2:
        ragged_gram(operand, good, torch.tensor([0, len(operand)]))


@pytest.mark.parametrize("columns", [7, 8, 9, 30])
def test_results_are_contiguous(columns):
    ptr, a = torch.tensor([0, 2, 5]), torch.randn(5, 8)
    assert ragged_matmul(a, torch.randn(2, columns, 8).mT, ptr).is_contiguous()
    assert ragged_matmul(a, torch.randn(2, 8, columns), ptr).is_contiguous()
    assert ragged_gram(a, torch.randn(5, columns), ptr).is_contiguous()


@given(sizes=SIZES, width=st.integers(1, 5), dtype=DTYPES, seed=st.integers(0, 99))
def test_weighted_sums_and_gradients_are_those_of_one_graph_at_a_time(sizes, width, dtype, seed):
    generator = torch.Generator().manual_seed(seed)

    def draw(*shape):
        return torch.randn(*shape, generator=generator, dtype=dtype)

    weights, x = draw(sum(sizes), 4).requires_grad_(), draw(sum(sizes), width).requires_grad_()
    parts = zip(weights.split(sizes), x.split(sizes), strict=True)
    expected = torch.stack([a.T @ b for a, b in parts])
    found = weighted_sums(weights, x, boundaries(sizes))
    assert_close(found, expected)
    upstream = draw(*expected.shape)
    assert_close(
        torch.autograd.grad(found, (weights, x), upstream),
        torch.autograd.grad(expected, (weights, x), upstream),
    )


def test_weighted_sums_of_parts_of_a_matrix_with_expanded_gradients():
    wide = torch.randn(5, 8, requires_grad=True)
    a, b = wide.chunk(2, dim=1)
    weighted_sums(a, b, torch.tensor([0, 2, 5])).sum().backward()
    assert_close(wide.grad[:, :4], b.sum(1, keepdim=True).expand(5, 4))


@pytest.mark.parametrize("ptr", [[0, 2, 40], [0, 4, 2, 5], [1, 5]])
def test_weighted_sums_refuse_a_wrong_ptr(ptr):
    with pytest.raises(ValueError, match="ptr must"):
        weighted_sums(torch.randn(5, 4), torch.randn(5, 4), torch.tensor(ptr))


def test_the_operator_passes_the_checks_of_torch():
    weights, x = (torch.randn(5, 4, requires_grad=True) for _ in range(2))
    torch.library.opcheck(torch.ops.lfds.weighted_sums, (weights, x, torch.tensor([0, 2, 2, 5])))


def test_older_releases_of_torch_have_no_grouped_product(monkeypatch):
    a, b, ptr = torch.randn(5, 4), torch.randn(5, 8), torch.tensor([0, 2, 2, 5])
    assert takes_grouped(a, b)
    expected = ragged_gram(a, b, ptr)
    monkeypatch.delattr(torch.nn.functional, "grouped_mm")
    assert not takes_grouped(a, b)
    assert_close(ragged_gram(a, b, ptr), expected)
    assert ragged_matmul(a, torch.randn(3, 4, 8), ptr).shape == (5, 8)
