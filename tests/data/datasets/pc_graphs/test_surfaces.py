import numpy as np
import pytest
from numpy.testing import assert_allclose

from lfds.data.datasets.pc_graphs.surfaces import (
    box,
    circle,
    joined,
    lathe,
    loft,
    mirrored,
    move,
    slab,
    tube,
    turn,
)
from lfds.data.readers.meshes import triangle_areas


def area(triangles):
    return triangle_areas(triangles).sum()


def test_a_box_has_the_area_of_a_box():
    assert_allclose(area(box((2.0, 3.0, 5.0))), 2 * (6 + 10 + 15))


def test_a_box_extends_half_its_size_from_its_centre():
    corners = box((2.0, 3.0, 5.0), (10.0, 20.0, 30.0)).reshape(-1, 3)
    assert_allclose(corners.min(axis=0), [9, 18.5, 27.5])
    assert_allclose(corners.max(axis=0), [11, 21.5, 32.5])


def test_a_rotated_profile_approximates_a_cylinder():
    skin = lathe([(1.0, 0.0), (1.0, 2.0)], sides=100, closed=False)
    assert_allclose(area(skin), 2 * np.pi * 2, rtol=1e-3)
    lids = area(lathe([(1.0, 0.0), (1.0, 2.0)], sides=100)) - area(skin)
    assert_allclose(lids, 2 * np.pi, rtol=1e-2)


def test_a_tube_is_a_cylinder_in_any_direction():
    along_z = tube([(0, 0, 0), (0, 0, 3)], 0.5, sides=60)
    askew = tube([(1, 1, 1), (1 + 1, 1 + 2, 1 + 2)], 0.5, sides=60)
    assert_allclose(area(along_z), 2 * np.pi * 0.5 * 3 + 2 * np.pi * 0.25, rtol=1e-2)
    assert_allclose(area(askew), area(along_z), rtol=1e-6)


def test_a_tube_may_change_its_radius():
    cone = tube([(0, 0, 0), (0, 0, 1)], [1.0, 0.0], sides=200)
    assert_allclose(area(cone), np.pi * np.sqrt(2) + np.pi, rtol=1e-2)


def test_a_slab_has_two_faces_and_a_rim():
    outline = circle(100)
    assert_allclose(area(slab(outline, 0.1)), 2 * np.pi + 2 * np.pi * 0.1, rtol=1e-2)


def test_an_open_loft_has_sides_only():
    square = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]], dtype=float)
    rings = np.stack([square, square + np.array([0, 0, 2])])
    assert_allclose(area(loft(rings, closed=False)), 8)
    assert_allclose(area(loft(rings)), 10)


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_rotations_keep_areas_and_the_axis_and_can_be_inverted(axis):
    shape = box((1.0, 2.0, 3.0), (0.3, 0.2, 0.1))
    turned = turn(shape, axis, 30, (1.0, 2.0, 3.0))
    assert_allclose(area(turned), area(shape))
    assert_allclose(turned[..., axis], shape[..., axis])
    assert_allclose(turn(turned, axis, 330, (1.0, 2.0, 3.0)), shape, atol=1e-12)


def test_a_rotation_by_90_degrees_about_z_maps_x_to_y():
    assert_allclose(turn(np.array([[[1.0, 0, 0]] * 3]), 2, 90)[0, 0], [0, 1, 0], atol=1e-12)


def test_a_rotation_by_90_degrees_about_y_maps_z_to_x():
    assert_allclose(turn(np.array([[[0.0, 0, 1]] * 3]), 1, 90)[0, 0], [1, 0, 0], atol=1e-12)


def test_a_mirrored_surface_has_both_sides():
    both = mirrored(move(box((1, 1, 1)), (0, 5, 0)), 1)
    assert_allclose(area(both), 12)
    assert_allclose(both.mean(axis=(0, 1)), 0, atol=1e-12)


def test_joined_surfaces_add_their_areas():
    assert_allclose(area(joined([box((1, 1, 1)), box((2, 2, 2))])), 6 + 24)
