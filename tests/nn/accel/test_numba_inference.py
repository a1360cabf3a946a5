"""What a frozen network does between its products, compiled and as plain Python alike."""

import numpy as np
import pytest

pytest.importorskip("numba", reason="native kernels need numba: pip install 'lfds[fast]'")

from lfds.nn.accel import numba_inference as frozen

# Two graphs that follow others in a set, one without nodes between them.
PTR = np.array([10, 13, 13, 14])
EDGE_PTR = np.array([70, 72, 72, 73, 73])
SOURCE = np.array([1, 2, 0], dtype=np.int32)


def heard(way, rows, scale, shift):
    out, largest = np.full((4, 1), 99.0), np.full((3, 1), 99.0)
    way(rows, scale, shift, PTR, EDGE_PTR, SOURCE, out, largest)
    return out[:, 0].tolist(), largest[:, 0].tolist()


@pytest.mark.parametrize("way", [frozen.hear, frozen.hear.py_func])
def test_hear(way):
    # What a node keeps beside what it sends; what is negative is neither kept nor sent.
    rows = np.array([[1.0, 10.0], [-2.0, 20.0], [3.0, -30.0], [4.0, 40.0]])
    one, none = np.ones(2), np.zeros(2)
    assert heard(way, rows, one, none) == ([21, 0, 13, 4], [21, 0, 4])
    # A shift arrives once with every edge.
    shifted = heard(way, rows, np.array([-1.0, 2.0]), np.array([0.0, 100.0]))
    assert shifted == ([-1 + 240, 0, -3 + 120, -4], [239, 0, -4])


@pytest.mark.parametrize("way", [frozen.hear, frozen.hear.py_func])
@pytest.mark.parametrize("node", [0, 1, 2])
def test_a_nan_is_kept_and_is_larger_than_everything(way, node):
    rows = np.ones((4, 2))
    rows[node, 0] = np.nan
    out, largest = heard(way, rows, np.ones(2), np.zeros(2))
    assert np.isnan(out).tolist() == [k == node for k in range(4)]
    assert np.isnan(largest).tolist() == [True, False, False]


@pytest.mark.parametrize("sizes", [[0], [1], [3, 4, 5], [8, 0, 9]])
@pytest.mark.parametrize("compiled", [True, False])
def test_place(sizes, compiled, monkeypatch):
    if not compiled:
        for name in ("_place_one", "_place_four"):
            monkeypatch.setattr(frozen, name, getattr(frozen, name).py_func)
    draw, ptr = np.random.default_rng(0), np.cumsum([7, *sizes])
    x, share = draw.standard_normal((sum(sizes), 3)), draw.random((sum(sizes), 5))
    slots, mass = np.full((len(sizes), 5, 3), 99.0), np.full((len(sizes), 5), 99.0)
    (frozen.place if compiled else frozen.place.py_func)(x, share, ptr, slots, mass)
    for g, (start, end) in enumerate(zip(ptr[:-1] - 7, ptr[1:] - 7, strict=True)):
        np.testing.assert_allclose(slots[g], share[start:end].T @ x[start:end])
        np.testing.assert_allclose(mass[g], share[start:end].sum(axis=0))
