"""Transposing by counting, compiled and as plain Python alike."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

pytest.importorskip("numba", reason="native kernels need numba: pip install 'lfds[fast]'")

from lfds.nn.accel.numba_transpose import transpose


@pytest.mark.parametrize("way", [transpose, transpose.py_func])
@given(nodes=st.integers(0, 7), density=st.floats(0, 1), seed=st.integers(0, 99))
def test_it_is_the_transposed_matrix_of_scipy(way, nodes, density, seed):
    rng = np.random.default_rng(seed)
    matrix = csr_array(rng.normal(size=(nodes, nodes)) * (rng.random((nodes, nodes)) < density))
    flipped = matrix.tocsc()
    expected = flipped.indptr, flipped.indices, flipped.data
    parts = [part.astype(kind) for part, kind in zip(expected, ("i4", "i4", "f4"), strict=True)]
    made = [np.zeros_like(part) for part in parts]
    way(matrix.indptr.astype("i4"), matrix.indices.astype("i4"), matrix.data.astype("f4"), *made)
    for mine, theirs in zip(made, parts, strict=True):
        np.testing.assert_array_equal(mine, theirs)


def test_entries_that_are_there_twice_keep_their_order():
    ptr, column, weight = np.array([0, 2, 2], "i4"), np.array([1, 1], "i4"), np.array([5.0, 7.0])
    made = np.zeros(3, "i4"), np.zeros(2, "i4"), np.zeros(2)
    transpose(ptr, column, weight, *made)
    assert [part.tolist() for part in made] == [[0, 0, 2], [0, 0], [5, 7]]
