import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close

from lfds.nn import accel
from lfds.nn.ops import segment_matmul as products
from lfds.nn.ops.segment_matmul import ragged_gram, ragged_matmul, rows_at_once, takes_grouped

SIZES = st.lists(st.integers(0, 6), min_size=1, max_size=5)
WIDTHS = st.integers(1, 9)
DTYPES = st.sampled_from([torch.float32, torch.float64])


def boundaries(sizes):
    return torch.tensor([0, *sizes]).cumsum(0)


@pytest.fixture(params=["native", "torch"], autouse=True)
def way(request):
    """Every product by kernels and, without them, by torch."""
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "torch":
            patch.setattr(accel, "numba_installed", lambda: False)
        elif not accel.numba_installed():
            pytest.skip("needs numba")
        yield request.param


@given(sizes=SIZES, rows=WIDTHS, columns=WIDTHS, dtype=DTYPES)
def test_gram_is_a_product_for_each_graph(sizes, rows, columns, dtype):
    a, b = torch.randn(sum(sizes), rows, dtype=dtype), torch.randn(sum(sizes), columns, dtype=dtype)
    found = ragged_gram(a, b, boundaries(sizes))
    expected = [one.T @ other for one, other in zip(a.split(sizes), b.split(sizes), strict=True)]
    assert_close(found, torch.stack(expected), rtol=1e-4, atol=1e-5)


@given(sizes=SIZES, inner=WIDTHS, columns=WIDTHS, dtype=DTYPES, turned=st.booleans())
def test_matmul_takes_the_matrix_of_the_graph(sizes, inner, columns, dtype, turned):
    a = torch.randn(sum(sizes), inner, dtype=dtype)
    matrices = torch.randn(len(sizes), inner, columns, dtype=dtype)
    if turned:
        matrices = matrices.mT.contiguous().mT
    found = ragged_matmul(a, matrices, boundaries(sizes))
    expected = [rows @ matrix for rows, matrix in zip(a.split(sizes), matrices, strict=True)]
    assert_close(found, torch.cat(expected), rtol=1e-4, atol=1e-5)


def test_the_fast_route_is_taken_where_it_can_be():
    assert takes_grouped(torch.randn(5, 64), torch.randn(3, 64, 8), torch.randn(3, 8, 64).mT)


@pytest.mark.parametrize(
    "operand",
    [
        torch.randn(5, 6),
        torch.randn(5, 8).double(),
        torch.randn(0, 8),
        torch.randn(41)[1:].view(5, 8),  # starts off a multiple of 16 bytes
        torch.randn(1, 1, 8).expand(3, 5, 8),  # one row for all
    ],
    ids=["width", "dtype", "empty", "alignment", "expanded"],
)
def test_the_fast_route_is_left_where_grouped_mm_would_refuse(operand):
    assert not takes_grouped(operand)
    good = torch.randn(operand.shape[-2], 8, dtype=operand.dtype)
    if operand.dim() == 2:
        ragged_gram(operand, good, torch.tensor([0, len(operand)]))


@pytest.mark.parametrize(
    ("a", "other", "taken"),
    [
        (torch.randn(5, 6), torch.randn(5, 3), True),
        (torch.randn(5, 6).double(), torch.randn(5, 3).double(), True),
        (torch.randn(5, 6), torch.randn(5, 3).double(), False),
        (torch.randn(6, 5).t(), torch.randn(5, 3), False),
        (torch.randn(5, 6), torch.randn(3, 5).t(), False),
        (torch.randn(0, 6), torch.randn(0, 3), False),
        (torch.randn(5, 6).half(), torch.randn(5, 3).half(), False),
    ],
)
def test_kernels_take_what_lies_in_a_row(a, other, taken, way):
    ptr = torch.tensor([0, len(a)])
    assert products._fit_native(a, other, ptr) == (taken and way == "native")


def test_large_graphs_are_left_to_torch(way, monkeypatch):
    monkeypatch.setattr(products, "LARGE", 5)
    a = torch.randn(11, 4)
    assert not products._fit_native(a, a, torch.tensor([0, 4, 11]))
    assert products._fit_native(a, a, torch.tensor([0, 4, 9, 11])) == (way == "native")


def test_products_are_too_small_for_threads_of_blas(way, monkeypatch):
    assert rows_at_once(64 * 64) * 64 * 64 <= products.MOST
    monkeypatch.setattr(
        "lfds.nn.accel.numba_segment_matmul.gram", lambda *_: pytest.fail("too large")
    )
    wide = torch.randn(3, 256)
    gram = ragged_gram(wide, wide, torch.tensor([0, 3]))
    assert_close(gram[0], wide.T @ wide, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("columns", [7, 8, 9, 30])
def test_rows_have_no_gaps(columns):
    ptr, a = torch.tensor([0, 2, 5]), torch.randn(5, 8)
    assert ragged_matmul(a, torch.randn(2, columns, 8).mT, ptr).is_contiguous()
    assert ragged_matmul(a, torch.randn(2, 8, columns), ptr).is_contiguous()
    assert ragged_gram(a, torch.randn(5, columns), ptr).is_contiguous()


def test_a_tensor_that_learns_is_multiplied_too():
    a = torch.randn(5, 4, requires_grad=True)
    with torch.no_grad():  # as inside of an operator
        assert_close(ragged_gram(a, a, torch.tensor([0, 5])), (a.T @ a)[None])
