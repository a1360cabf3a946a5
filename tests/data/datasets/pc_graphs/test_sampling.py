import numpy as np
import pytest
from numpy.testing import assert_allclose

from lfds.data.datasets.pc_graphs.sampling import sample_surface, triangle_areas
from lfds.data.datasets.pc_graphs.surfaces import box

TWO = np.array([[[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 0, 5], [3, 0, 5], [0, 3, 5]]], dtype=float)


def share_on_the_large_triangle(sample):
    points = sample(TWO, 20_000, np.random.default_rng(0))
    return (points[:, 2] > 2).mean()


def by_triangle_number(triangles, count, rng):  # the culprit: forgets the areas
    chosen = triangles[rng.integers(0, len(triangles), count)]
    return np.einsum("nc,ncd->nd", rng.dirichlet((1, 1, 1), count), chosen)


def test_triangles_get_points_by_their_area():
    assert_allclose(share_on_the_large_triangle(sample_surface), 0.9, atol=0.01)


def test_the_law_of_areas_catches_a_sampler_that_forgets_them():
    assert abs(share_on_the_large_triangle(by_triangle_number) - 0.9) > 0.1


def test_points_lie_evenly_on_a_triangle():
    points = sample_surface(TWO[:1], 40_000, np.random.default_rng(0))
    assert (points[:, :2] >= 0).all()
    assert (points[:, 0] + points[:, 1] <= 1 + 1e-12).all()
    # The middle of a triangle is the mean of its corners; a corner cut off at half has 1/4.
    assert_allclose(points.mean(axis=0), [1 / 3, 1 / 3, 0], atol=0.01)
    assert_allclose((points[:, 0] > 0.5).mean(), 0.25, atol=0.01)


def test_points_lie_on_the_surface_of_a_box():
    points = sample_surface(box((2.0, 2.0, 2.0)), 1000, np.random.default_rng(1))
    assert_allclose(np.abs(points).max(axis=1), 1.0)


@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_triangle_without_area_gets_no_point(place):
    flat = np.insert(TWO, place, np.full((3, 3), 77.0), axis=0)
    assert triangle_areas(flat)[place] == 0
    points = sample_surface(flat, 5000, np.random.default_rng(0))
    assert points.max() < 10
