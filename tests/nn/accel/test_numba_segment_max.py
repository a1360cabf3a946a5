"""The largest values of runs of rows, compiled and as plain Python alike."""

import numpy as np
import pytest

pytest.importorskip("numba", reason="native kernels need numba: pip install 'lfds[fast]'")

from lfds.nn.accel.numba_segment_max import largest, share_out

PTR = np.array([0, 3, 3, 4])
ROWS = np.array([[1.0, 5.0], [2.0, 5.0], [2.0, -1.0], [-7.0, np.nan]])


def found(way, rows=ROWS, ptr=PTR):
    out, count = np.full((2, len(ptr) - 1, rows.shape[1]), 99.0)
    way(rows, ptr, out, count)
    return out, count


@pytest.mark.parametrize("way", [largest, largest.py_func])
def test_largest_values_and_how_many_rows_hold_them(way):
    out, count = found(way)
    np.testing.assert_array_equal(out, [[2, 5], [0, 0], [-7, np.nan]])
    np.testing.assert_array_equal(count, [[2, 2], [1, 1], [1, 1]])


@pytest.mark.parametrize("way", [largest, largest.py_func])
@pytest.mark.parametrize("order", [[0, 1, 2], [1, 0, 2], [2, 1, 0]])
def test_a_nan_is_larger_than_everything_wherever_it_stands(way, order):
    rows = np.array([[np.nan], [1.0], [2.0]])[order]
    out, _ = found(way, rows, np.array([0, 3]))
    assert np.isnan(out).all()


@pytest.mark.parametrize("way", [share_out, share_out.py_func])
def test_what_rows_get(way):
    pull, grad = np.array([[10.0, 20.0], [30.0, 40.0], [50.0, 60.0]]), np.full((4, 2), 99.0)
    way(ROWS, PTR, found(largest)[0], pull, grad)
    assert grad.tolist() == [[0, 20], [10, 20], [10, 0], [50, 0]]
