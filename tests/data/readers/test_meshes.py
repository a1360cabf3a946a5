import builtins
import sys
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose

from lfds.data import DataError
from lfds.data.datasets.pc_graphs.surfaces import box
from lfds.data.readers.clouds import read_cloud
from lfds.data.readers.meshes import read_mesh, sample_surface, triangle_areas

trimesh = pytest.importorskip("trimesh", reason="meshes are read by the extra 'meshes'")
FORMATS = pytest.mark.parametrize("suffix", ["ply", "off", "obj", "stl"])
TETRAHEDRON = "OFF\n4 4 0\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n3 0 1 2\n3 0 1 3\n3 0 2 3\n3 1 2 3\n"


@FORMATS
def test_a_box_written_by_trimesh_is_a_box(tmp_path, suffix):
    path = tmp_path / f"box.{suffix}"
    trimesh.creation.box((2, 2, 2)).export(path)
    triangles = read_mesh(path)
    assert triangles.shape == (12, 3, 3)
    assert_allclose(triangle_areas(triangles).sum(), 24)
    points = read_cloud(path, 500, np.random.default_rng(0))
    assert_allclose(np.abs(points).max(axis=1), 1, atol=1e-6)


def test_the_suffix_may_be_upper_case(tmp_path):
    (tmp_path / "A.OFF").write_text(TETRAHEDRON)
    assert read_mesh(tmp_path / "A.OFF").shape == (4, 3, 3)


def test_a_file_of_several_objects_is_one_surface(tmp_path):
    scene = trimesh.Scene([trimesh.creation.box((1, 1, 1)), trimesh.creation.box((2, 2, 2))])
    (tmp_path / "two.obj").write_text(trimesh.exchange.obj.export_obj(scene))
    assert_allclose(triangle_areas(read_mesh(tmp_path / "two.obj")).sum(), 30)


def test_squares_are_split_into_triangles(tmp_path):
    (tmp_path / "a.off").write_text("OFF\n4 1 0\n0 0 0\n1 0 0\n1 1 0\n0 1 0\n4 0 1 2 3\n")
    assert_allclose(triangle_areas(read_mesh(tmp_path / "a.off")).sum(), 1)


def test_a_ply_without_faces_is_a_scan(tmp_path):
    points = np.random.default_rng(0).normal(size=(40, 3))
    trimesh.PointCloud(points).export(tmp_path / "scan.ply")
    assert read_mesh(tmp_path / "scan.ply").shape == (40, 3)
    assert read_cloud(tmp_path / "scan.ply", 10, np.random.default_rng(0)).shape == (10, 3)
    with pytest.raises(DataError, match="holds 40 points, 50 are needed"):
        read_cloud(tmp_path / "scan.ply", 50, np.random.default_rng(0))


# The last vertex fits into no integer, which numpy warns of.
PLY = (
    "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\n"
    "property float z\nelement face 1\nproperty list uchar int vertex_indices\nend_header\n"
    f"0 0 0\n1 0 0\n0 1 0\n3 0 1 {'9' * 400}\n"
)
STL = (
    "solid\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex inf 0 0\nvertex 0 inf 0\nendloop\n"
    "endfacet\nendsolid\n"
)
BROKEN = {
    "no faces": ("a.off", "OFF\n3 0 0\n0 0 0\n1 0 0\n0 1 0\n", "without faces"),
    "no faces, obj": ("a.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\n", "without faces"),
    "no area": ("a.off", "OFF\n3 1 0\n0 0 0\n1 1 1\n2 2 2\n3 0 1 2\n", "without area"),
    "not finite": ("a.off", "OFF\n3 1 0\n0 0 0\n1 nan 0\n0 1 0\n3 0 1 2\n", "not finite|cannot"),
    "a vertex that is not there": ("a.off", "OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 7\n", "vertex"),
    "a vertex that is no integer": ("a.ply", PLY, "vertex|cannot"),
    "infinite": ("a.stl", STL, "not finite|cannot"),
    "too large": ("a.off", "OFF\n3 1 0\n0 0 0\n1e200 0 0\n0 1 0\n3 0 1 2\n", "below 1e"),
    "cut off": ("a.off", TETRAHEDRON[:40], "truncated"),
    "cut by a face": ("a.off", TETRAHEDRON.rstrip().rpartition("\n")[0], "4 faces but holds 3"),
    "cut in a face": ("a.off", TETRAHEDRON.rstrip()[:-2], "4 faces but holds 3; it is truncated"),
    "another format": ("a.ply", TETRAHEDRON, "cannot be read as ply"),
    "empty": ("a.stl", "", "without faces|cannot be read"),
}


@pytest.mark.parametrize(("name", "text", "message"), BROKEN.values(), ids=BROKEN)
def test_invalid_meshes_are_errors_of_one_line(tmp_path, name, text, message, caplog, capfd):
    (tmp_path / name).write_text(text)
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")  # as an error it would be taken for one of trimesh
        with pytest.raises(DataError, match=message) as caught:
            read_mesh(tmp_path / name)
    assert not warned
    assert name in str(caught.value)
    assert "\n" not in str(caught.value)
    assert not caplog.records
    assert capfd.readouterr() == ("", "")


def test_without_trimesh_the_error_names_the_extra(tmp_path, monkeypatch):
    (tmp_path / "a.off").write_text(TETRAHEDRON)
    real = builtins.__import__

    def without(name, *rest):
        if name == "trimesh":
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.delitem(sys.modules, "trimesh", raising=False)
    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(DataError, match=r"pip install 'lfds\[meshes\]'"):
        read_mesh(tmp_path / "a.off")


TWO = np.array([[[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 0, 5], [3, 0, 5], [0, 3, 5]]], dtype=float)


def share_on_the_large_triangle(sample):
    points = sample(TWO, 20_000, np.random.default_rng(0))
    return (points[:, 2] > 2).mean()


def by_triangle_number(triangles, count, rng):  # wrong: ignores the areas
    chosen = triangles[rng.integers(0, len(triangles), count)]
    return np.einsum("nc,ncd->nd", rng.dirichlet((1, 1, 1), count), chosen)


def test_triangles_are_sampled_by_area():
    assert_allclose(share_on_the_large_triangle(sample_surface), 0.9, atol=0.01)


def test_a_sampler_that_ignores_areas_is_detected():
    assert abs(share_on_the_large_triangle(by_triangle_number) - 0.9) > 0.1


def test_points_are_uniform_on_a_triangle():
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
