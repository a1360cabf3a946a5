"""The kernels say what NumPy says, compiled and as plain Python alike."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("numba", reason="native kernels need numba: pip install 'lfds[fast]'")

from lfds.nn.accel import numba_spatial as layer

WAYS = ("compiled", "plain")


def kernel(name, way):
    found = getattr(layer, name)
    return found if way == "compiled" else found.py_func


def drawn(nodes, width, dtype, seed):
    """Rows that are rectified already, an adjacency, and its entries by rows and by columns."""
    rng = np.random.default_rng(seed)
    rows = np.maximum(rng.normal(size=(nodes, 2 * width)), 0).astype(dtype)
    adjacency = (rng.normal(size=(nodes, nodes)) * (rng.random((nodes, nodes)) < 0.3)).astype(dtype)
    return rng, rows, adjacency


def entries(matrix):
    row, column = matrix.nonzero()
    ptr = np.searchsorted(row, np.arange(len(matrix) + 1)).astype(np.int32)
    return ptr, column.astype(np.int32), matrix[row, column]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("rows", [2, 64, 65, 150])  # around the end of a run
def test_rectified_rows_and_their_moments(way, dtype, rows):
    given_rows = np.random.default_rng(rows).normal(size=(rows, 6)).astype(dtype)
    expected = np.maximum(given_rows, 0)
    mean, variance = np.empty((2, 6), dtype)
    kernel("rectify_and_measure", way)(given_rows, mean, variance)
    np.testing.assert_array_equal(given_rows, expected)
    np.testing.assert_allclose(mean, expected.mean(0), rtol=1e-5)
    np.testing.assert_allclose(variance, expected.var(0), rtol=1e-5)


def test_moments_keep_their_digits_far_from_zero():
    # Mean of squares minus square of mean has no digit left here in float32.
    rows = np.float32(10_000) + np.random.default_rng(0).integers(0, 3, (100, 2)).astype("f4")
    expected = rows.astype("f8").var(0)
    mean, variance = np.empty((2, 2), "f4")
    layer.rectify_and_measure(rows, mean, variance)
    np.testing.assert_allclose(variance, expected, rtol=1e-5)
    assert (rows**2).mean(0) - mean**2 != pytest.approx(expected, rel=0.1)


@pytest.mark.parametrize("way", WAYS)
def test_rectified_rows(way):
    rows = np.array([[-1.0, 2.0], [0.0, -3.0]])
    kernel("rectify", way)(rows)
    assert rows.tolist() == [[0, 2], [0, 0]]


@pytest.mark.parametrize("way", WAYS)
def test_running_statistics_move_as_those_of_batch_norm(way):
    mean, variance, run_mean, run_variance = np.array([[2.0], [4.0], [0.0], [1.0]])
    kernel("learn_statistics", way)(5, 0.1, mean, variance, run_mean, run_variance)
    assert run_mean == pytest.approx([0.2])
    assert run_variance == pytest.approx([1 + 0.1 * (4 * 5 / 4 - 1)])  # of 5 rows, one is spent


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("masked", [True, False])
@given(nodes=st.integers(1, 9), seed=st.integers(0, 99))
def test_what_arrives(way, masked, nodes, seed):
    rng, rows, adjacency = drawn(nodes, 3, np.float64, seed)
    gamma, beta, mean = rng.normal(size=(3, 6))
    spread = 1 + rng.random(6)
    kept = (rng.random(nodes) < 0.5).astype(float) if masked else np.empty(0)
    out = np.empty((nodes, 3))
    arguments = (rows, gamma, beta, mean, spread, *entries(adjacency), kept, out)
    kernel("arrive", way)(*arguments)
    own, sent = np.split((rows - mean) / spread * gamma + beta, 2, axis=1)
    expected = own + adjacency @ sent
    np.testing.assert_allclose(out, expected * kept[:, None] if masked else expected)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("masked", [True, False])
@given(nodes=st.integers(1, 9), seed=st.integers(0, 99))
def test_what_is_given_back_and_its_sums(way, masked, nodes, seed):
    rng, rows, adjacency = drawn(nodes, 3, np.float64, seed)
    grad, kept = rng.normal(size=(nodes, 3)), (rng.random(nodes) < 0.5).astype(float)
    both, sums = np.empty((nodes, 6)), np.zeros((2, 6))
    factors = kept if masked else np.empty(0)
    kernel("give_back", way)(grad, factors, rows, *entries(adjacency.T), both, *sums)
    grad = grad * kept[:, None] if masked else grad
    expected = np.concatenate([grad, adjacency.T @ grad], axis=1)
    np.testing.assert_allclose(both, expected, atol=1e-12)
    np.testing.assert_allclose(sums, [expected.sum(0), (expected * rows).sum(0)], atol=1e-12)


@pytest.mark.parametrize("way", WAYS)
def test_fixed_statistics_pull_at_nothing(way):
    rows, grad = np.array([[1.0, 0.0], [2.0, 3.0]]), np.ones((2, 2))
    gamma, mean, spread = np.array([[6.0, 6.0], [1.0, 1.0], [2.0, 2.0]])
    total, product = grad.sum(0), (grad * rows).sum(0)
    of_norm = np.empty((2, 2))
    through = kernel("through_norm", way)
    through(rows, grad, gamma, mean, spread, False, total, product, *of_norm)
    assert grad.tolist() == [[3, 0], [3, 3]]  # gamma / spread, where there was something
    assert of_norm.tolist() == [[0.5, 0.5], [2, 2]]


@pytest.mark.parametrize("way", WAYS)
def test_own_statistics_leave_no_mean_and_no_slope(way):
    rng, rows, _ = drawn(40, 2, np.float64, 3)
    rows += 0.1  # nothing is rectified away
    mean, spread = rows.mean(0), np.sqrt(rows.var(0))
    grad = rng.normal(size=rows.shape)
    sums = grad.sum(0), (grad * rows).sum(0)
    through = kernel("through_norm", way)
    through(rows, grad, np.ones(4), mean, spread, True, *sums, *np.empty((2, 4)))
    np.testing.assert_allclose(grad.sum(0), 0, atol=1e-12)
    np.testing.assert_allclose((grad * rows).sum(0), 0, atol=1e-12)
