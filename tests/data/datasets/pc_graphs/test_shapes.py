"""Properties of every shape."""

import numpy as np
import pytest

from lfds.data.datasets.pc_graphs.generate import SHAPES
from lfds.data.readers.meshes import sample_surface, triangle_areas

EACH = pytest.mark.parametrize("shape", list(SHAPES))


def drawn(shape, count=30):
    return [SHAPES[shape](np.random.default_rng(seed)) for seed in range(count)]


def extent(triangles):
    return np.ptp(triangles.reshape(-1, 3), axis=0)


def test_the_eight_shapes_are_there():
    assert set(SHAPES) == set(
        ["table", "airplane", "car", "guitar", "knife", "lamp", "chair", "laptop"]
    )


@EACH
def test_surfaces_are_finite_and_of_limited_size(shape):
    for triangles in drawn(shape):
        assert triangles.ndim == 3
        assert triangles.shape[1:] == (3, 3)
        assert np.isfinite(triangles).all()
        assert 0.05 < triangle_areas(triangles).sum() < 50
        assert extent(triangles).max() < 4


@EACH
def test_shapes_of_a_class_differ_in_parts_and_proportions(shape):
    surfaces = drawn(shape)
    assert len({len(triangles) for triangles in surfaces}) >= 3
    proportions = np.array([extent(triangles) / extent(triangles).max() for triangles in surfaces])
    assert proportions.std(axis=0).max() > 0.05


@EACH
def test_the_same_stream_draws_the_same_shape(shape):
    first, second = (SHAPES[shape](np.random.default_rng(7)) for _ in range(2))
    np.testing.assert_array_equal(first, second)


@EACH
def test_all_parts_of_a_shape_are_connected(shape):
    """The widest gap between a point and all others is small beside the shape."""
    from scipy.sparse.csgraph import minimum_spanning_tree
    from scipy.spatial.distance import pdist, squareform

    for triangles in drawn(shape, 12):
        points = sample_surface(triangles, 500, np.random.default_rng(0))
        tree = minimum_spanning_tree(squareform(pdist(points)))
        assert tree.data.max() < 0.3 * extent(triangles).max()


def test_shapes_have_plausible_proportions():
    """Compare the extents along the axes."""
    for triangles in drawn("knife"):
        x, y, z = extent(triangles)
        assert z < 0.35 * max(x, y)
    for triangles in drawn("guitar"):
        x, y, z = extent(triangles)
        assert x > y > z or y > x > z
    for triangles in drawn("car"):
        x, y, z = extent(triangles)
        assert x > y
        assert x > z
    for triangles in drawn("airplane"):
        x, y, z = extent(triangles)
        assert z < max(x, y)


def test_most_of_the_surface_of_tables_is_above_the_middle():
    shares = []
    for triangles in drawn("table"):
        points = sample_surface(triangles, 400, np.random.default_rng(0))
        middle = (points[:, 2].min() + points[:, 2].max()) / 2
        shares.append((points[:, 2] > middle).mean())
    assert np.median(shares) > 0.6


def test_laptops_are_two_plates():
    """Nearly all points lie on two planes that meet at the hinge."""
    for seed in range(20):
        triangles = SHAPES["laptop"](np.random.default_rng(seed))
        points = sample_surface(triangles, 400, np.random.default_rng(0))
        base = np.abs(points[:, 2]) < 0.1
        lid = points[~base]
        assert base.mean() > 0.3
        flat = np.linalg.svd(lid - lid.mean(axis=0), compute_uv=False)
        assert flat[2] < 0.25 * flat[1]
