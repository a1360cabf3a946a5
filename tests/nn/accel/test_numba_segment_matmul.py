"""Products of one graph after the other, compiled and as plain Python alike."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("numba", reason="native kernels need numba: pip install 'lfds[fast]'")

from lfds.nn.accel.numba_segment_matmul import gram, multiply

SIZES = st.lists(st.integers(0, 9), min_size=1, max_size=5)
DTYPES = st.sampled_from([np.float32, np.float64])


def drawn(*shape, dtype):
    return np.random.default_rng(0).standard_normal(shape).astype(dtype)


def graphs(sizes):
    ptr = np.cumsum([0, *sizes])
    return ptr, [slice(*bounds) for bounds in pairwise(ptr)]


@pytest.mark.parametrize("way", [gram, gram.py_func])
@given(sizes=SIZES, most=st.integers(1, 10), dtype=DTYPES)
def test_gram(way, sizes, most, dtype):
    ptr, rows = graphs(sizes)
    a, b = drawn(ptr[-1], 3, dtype=dtype), drawn(ptr[-1], 5, dtype=dtype)
    out = np.full((len(sizes), 3, 5), np.nan, dtype)
    way(a, b, ptr, most, out)
    np.testing.assert_allclose(out, [a[r].T @ b[r] for r in rows], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("way", [multiply, multiply.py_func])
@pytest.mark.parametrize("turned", [False, True])
@given(sizes=SIZES, most=st.integers(1, 10), dtype=DTYPES)
def test_matrices_of_graphs(way, turned, sizes, most, dtype):
    ptr, rows = graphs(sizes)
    a, matrices = drawn(ptr[-1], 3, dtype=dtype), drawn(len(sizes), 3, 5, dtype=dtype)
    out = np.full((ptr[-1], 5), np.nan, dtype)
    laid = matrices.swapaxes(1, 2).copy() if turned else matrices
    way(a, laid, turned, ptr, most, out)
    expected = [a[r] @ matrix for r, matrix in zip(rows, matrices, strict=True)]
    np.testing.assert_allclose(out, np.concatenate(expected), rtol=1e-4, atol=1e-5)


def test_more_rows_than_are_taken_at_a_time_are_added_up_not_replaced():
    ones = np.ones((7, 2))
    out = np.empty((1, 2, 2))
    gram(ones, ones, np.array([0, 7]), 3, out)
    assert (out == 7).all()
