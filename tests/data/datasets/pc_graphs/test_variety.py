import numpy as np
from numpy.testing import assert_allclose

from lfds.data.datasets.pc_graphs.surfaces import box
from lfds.data.datasets.pc_graphs.variety import bent, scanned, stretched


def rng():
    return np.random.default_rng(3)


def test_stretching_scales_axes_and_nothing_else():
    before = box((1.0, 1.0, 1.0), (1, 1, 1))
    ratio = stretched(before, rng(), 0.3) / before
    assert_allclose(ratio, np.broadcast_to(ratio[0, 0], ratio.shape))
    assert np.ptp(ratio[0, 0]) > 0.05


def test_bending_keeps_lengths_along_the_middle():
    along = np.linspace(-1, 1, 201)
    line = np.stack([along, np.zeros(201), np.zeros(201)], axis=1)
    curved = bent(line, rng(), 1.5)
    assert_allclose(np.linalg.norm(np.diff(curved, axis=0), axis=1), 0.01, rtol=1e-3)
    straight = np.linalg.norm(curved[-1] - curved[0])
    assert straight < 1.99


def test_no_bend_changes_nothing():
    points = rng().normal(size=(20, 3))
    assert_allclose(bent(points, rng(), 0.0), points)


def test_a_scan_is_centred_and_of_unit_size():
    points = scanned(box((1, 2, 3)), 400, rng(), hidden=0.3, noise=0.0, bend=0.2)
    assert points.shape == (400, 3)
    assert_allclose(points.mean(axis=0), 0, atol=1e-12)
    assert_allclose((points**2).sum(axis=1).mean(), 1.0)


def test_a_partial_view_lacks_one_side_of_a_ball():
    directions = rng().normal(size=(4000, 3, 3)) * 1e-6 + rng().normal(size=(4000, 1, 3))
    ball = directions / np.linalg.norm(directions, axis=2, keepdims=True)
    lost = []
    for seed in range(30):
        points = scanned(ball, 300, np.random.default_rng(seed), hidden=0.5, noise=0, bend=0)
        # The mean was moved to the middle: a whole ball reaches equally far on all sides.
        reach = np.linalg.norm(points, axis=1)
        lost.append(reach.max() / reach.min())
    assert min(lost) < 1.3
    assert max(lost) > 1.8


def test_noise_moves_points_by_as_much_as_it_says():
    still = scanned(box((1, 1, 1)), 2000, rng(), hidden=0, noise=0.0, bend=0)
    noisy = scanned(box((1, 1, 1)), 2000, rng(), hidden=0, noise=0.05, bend=0)
    assert_allclose((noisy - still).std(), 0.05, rtol=0.05)
