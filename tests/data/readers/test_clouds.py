import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError
from scipy.spatial.transform import Rotation

from lfds.data import DataError
from lfds.data.readers import clouds as module
from lfds.data.readers.clouds import (
    SUFFIXES,
    CloudSettings,
    graphs_of_clouds,
    is_cloud_folder,
    neighbour_edges,
    read_cloud,
    read_clouds,
)

FOUR = CloudSettings(points=20, neighbours=4, seed=7)


def edges_slowly(points, neighbours):
    """All distances, sorted; obviously right where no two are equal."""
    distances = np.linalg.norm(points[:, None] - points[None], axis=2)
    np.fill_diagonal(distances, np.inf)
    edges = set()
    for node, row in enumerate(distances):
        for other in np.argsort(row)[:neighbours]:
            edges |= {(node, int(other)), (int(other), node)}
    return sorted(edges)


@given(count=st.integers(2, 40), neighbours=st.integers(1, 8), seed=st.integers(0, 2**32 - 1))
def test_neighbours_are_the_nearest(count, neighbours, seed):
    neighbours = min(neighbours, count - 1)
    points = np.random.default_rng(seed).normal(size=(count, 3))
    found = neighbour_edges(points, neighbours)
    assert [tuple(pair) for pair in found.T.tolist()] == edges_slowly(points, neighbours)


def test_neighbours_do_not_depend_on_rotation_position_and_scale():
    points = np.random.default_rng(0).normal(size=(60, 3))
    turned = 5 * Rotation.from_euler("xyz", [1, 2, 3]).apply(points) + 7
    np.testing.assert_array_equal(neighbour_edges(points, 5), neighbour_edges(turned, 5))


@pytest.mark.parametrize("size", [1e-290, 1e-8, 1e14])
def test_neighbours_do_not_depend_on_extreme_scales(size):
    points = np.random.default_rng(0).normal(size=(60, 3))
    np.testing.assert_array_equal(neighbour_edges(points, 5), neighbour_edges(points * size, 5))


def test_equal_points_are_no_neighbours_of_themselves():
    points = np.zeros((10, 3))
    senders, receivers = neighbour_edges(points, 3)
    assert (senders != receivers).all()
    assert (np.bincount(receivers, minlength=10) >= 3).all()


def test_neighbour_edges_have_both_directions():
    senders, receivers = neighbour_edges(np.random.default_rng(0).normal(size=(50, 3)), 4)
    there = set(zip(senders.tolist(), receivers.tolist(), strict=True))
    assert there == {(b, a) for a, b in there}


def test_too_many_neighbours_are_an_error():
    with pytest.raises(DataError, match="use fewer neighbours"):
        neighbour_edges(np.zeros((4, 3)), 4)


def test_graphs_of_clouds_have_no_features():
    clouds = np.random.default_rng(0).normal(size=(3, 20, 3))
    made = graphs_of_clouds(clouds, ["b", "a", "b"], ["x", "y", "z"], settings=FOUR, name="few")
    assert made.graphs.x.shape == (60, 0)
    assert made.graphs.attributes.shape == (60, 0)
    assert made.graphs.classes == ("a", "b")
    assert made.graphs.y.tolist() == [1, 0, 1]
    np.testing.assert_allclose(made.points, clouds, rtol=1e-6)
    single = graphs_of_clouds(clouds[1:2], ["a"], ["y"], settings=FOUR, name="one").graphs
    np.testing.assert_array_equal(made.graphs[1].edge_dst, single.edge_dst)
    assert made.graphs.provenance["seed"] == "7"
    assert made.graphs.provenance["neighbours"] == "4"


def test_unknown_and_invalid_settings_are_errors():
    with pytest.raises(ValidationError):
        CloudSettings(neighbors=6)
    with pytest.raises(ValidationError):
        CloudSettings(points=0)


def test_graphs_of_clouds_keep_coordinates_for_drawing():
    clouds = np.random.default_rng(0).normal(size=(2, 20, 3))
    made = graphs_of_clouds(clouds, ["a", "b"], ["0", "1"], settings=FOUR, name="two")
    np.testing.assert_array_equal(made.graphs.coordinates.numpy(), made.points.reshape(-1, 3))
    assert made.graphs.x.shape == made.graphs.attributes.shape == (40, 0)


def read(path, count=4, seed=0):
    return read_cloud(path, count, np.random.default_rng(seed))


@pytest.fixture
def points():
    return np.random.default_rng(0).normal(size=(30, 3)).round(6)


def as_rows(found):
    return sorted(map(tuple, found.tolist()))


@pytest.mark.parametrize("suffix", [".xyz", ".txt", ".pts"])
@pytest.mark.parametrize("delimiter", [" ", ",", "\t"])
def test_all_points_of_a_text_file_are_read(tmp_path, points, suffix, delimiter):
    path = tmp_path / f"cloud{suffix}"
    np.savetxt(path, points, delimiter=delimiter, fmt="%.6f")
    assert as_rows(read(path, 30)) == as_rows(points)


def test_all_points_of_an_npy_file_are_read(tmp_path, points):
    np.save(tmp_path / "cloud.npy", points)
    assert as_rows(read(tmp_path / "cloud.npy", 30)) == as_rows(points)


def test_further_columns_comments_blank_lines_and_a_count_are_ignored(tmp_path):
    path = tmp_path / "a.pts"
    path.write_text("4\n# made by hand\n0 0 0 9 9\n\n1 0 0 9 9 # corner\n0 1 0 9 9\n0 0 1 9 9\n")
    assert as_rows(read(path)) == [(0, 0, 0), (0, 0, 1), (0, 1, 0), (1, 0, 0)]


def test_points_are_sampled_without_replacement_and_reproducibly(tmp_path, points):
    np.save(tmp_path / "cloud.npy", points)
    chosen = read(tmp_path / "cloud.npy", 10)
    np.testing.assert_array_equal(chosen, read(tmp_path / "cloud.npy", 10))
    assert as_rows(chosen) != as_rows(read(tmp_path / "cloud.npy", 10, seed=1))
    assert len(set(as_rows(chosen))) == 10
    assert set(as_rows(chosen)) <= set(as_rows(points))


def assert_read_or_refused(path, count=4):
    try:
        found = read(path, count)
    except DataError as error:
        message = str(error)
    else:
        message = ""
        assert np.isfinite(found).all()
    assert "\n" not in message


BROKEN = {
    "fewer points than needed": ("0 0 0\n1 1 1\n", "holds 2 points, 4 are needed"),
    "text in a number column": ("0 0 0\n1 1 1\n2 2 2\n3 one 3\n", "line 4: 'one' is not a number"),
    "a missing column": ("0 0 0\n1 1\n2 2 2\n3 3 3\n", "line 2: has 2 of the three numbers"),
    "two columns everywhere": ("0 0\n1 1\n2 2\n3 3\n", "line 1: has 2 of the three numbers"),
    "too large": ("0 0 0\n1 1 1\n2 2 2\n3 1e300 3\n", "point 4 is .* finite numbers below 1e"),
    "not a number": ("0 0 0\n1 1 1\n2 nan 2\n3 3 3\n", "point 3 is .* finite"),
    "infinite": ("0 0 0\n1 1 1\n2 2 2\n3 1e999 3\n", "point 4 is .* finite"),
    "empty": ("", "holds no points"),
    "only comments": ("# nothing\n\n", "holds no points"),
}


@pytest.mark.parametrize(("text", "message"), BROKEN.values(), ids=BROKEN)
def test_invalid_text_is_named_by_file_and_line(tmp_path, text, message):
    path = tmp_path / "cloud.xyz"
    path.write_text(text)
    with pytest.raises(DataError, match=message) as caught:
        read(path)
    assert str(path) in str(caught.value)


def test_a_binary_file_is_not_text(tmp_path):
    (tmp_path / "junk.xyz").write_bytes(bytes(range(256)))
    with pytest.raises(DataError, match="is not text"):
        read(tmp_path / "junk.xyz")


class Trap:
    """Leaves a trace when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return (open, (self.path, "w"))


def test_an_npy_of_objects_is_never_unpickled(tmp_path):
    trace = tmp_path / "trace"
    np.save(tmp_path / "trap.npy", np.array([[Trap(str(trace))] * 3] * 9), allow_pickle=True)
    with pytest.raises(DataError, match="not an array of numbers"):
        read(tmp_path / "trap.npy")
    assert not trace.exists()
    # The trap is a real one: whoever unpickles it finds the trace.
    np.load(tmp_path / "trap.npy", allow_pickle=True)[0, 0].close()
    assert trace.exists()


@pytest.mark.parametrize(
    "table", [np.zeros(9), np.zeros((9, 2)), np.zeros((3, 3, 3)), np.array([["a"] * 3] * 9)]
)
def test_an_npy_of_another_shape_or_dtype_is_an_error(tmp_path, table):
    np.save(tmp_path / "cloud.npy", table)
    with pytest.raises(DataError, match=r"numbers of shape \[n, 3\]"):
        read(tmp_path / "cloud.npy")


def test_a_signaling_nan_is_refused_without_a_warning(tmp_path, points):
    table = points.astype(np.float32)
    table.view(np.uint32)[4, 1] = 0x7F800001
    np.save(tmp_path / "cloud.npy", table)
    with pytest.raises(DataError, match=r"point 5 is .*must be finite"):
        read(tmp_path / "cloud.npy")


def test_a_truncated_npy_is_refused(tmp_path, points):
    np.save(tmp_path / "cloud.npy", points)
    content = (tmp_path / "cloud.npy").read_bytes()
    (tmp_path / "cloud.npy").write_bytes(content[:-50])
    with pytest.raises(DataError, match="not an array of numbers"):
        read(tmp_path / "cloud.npy")


@given(text=st.text(alphabet="0123456789.,-+eE_x# \n\t\uff11nainf", max_size=60))
def test_random_text_is_a_data_error_or_points(tmp_path_factory, text):
    path = tmp_path_factory.getbasetemp() / "text.xyz"
    path.write_text(text, encoding="utf-8")
    assert_read_or_refused(path, count=1)


@settings(max_examples=300, deadline=None)
@given(junk=st.binary(max_size=200), suffix=st.sampled_from(SUFFIXES))
def test_random_bytes_are_a_data_error_or_points(tmp_path_factory, junk, suffix):
    path = tmp_path_factory.getbasetemp() / f"junk{suffix}"
    path.write_bytes(junk)
    assert_read_or_refused(path)


@settings(max_examples=200, deadline=None)
@given(
    place=st.integers(0, 10_000), byte=st.integers(0, 255), suffix=st.sampled_from([".xyz", ".npy"])
)
def test_a_changed_byte_is_a_data_error_or_harmless(tmp_path_factory, place, byte, suffix):
    path = tmp_path_factory.getbasetemp() / f"changed{suffix}"
    table = np.arange(60.0).reshape(20, 3)
    np.savetxt(path, table) if suffix == ".xyz" else np.save(path, table)
    content = bytearray(path.read_bytes())
    content[place % len(content)] = byte
    path.write_bytes(content)
    assert_read_or_refused(path)


SHARED = Path(os.environ.get("LFDS_SHARED", Path(__file__).parents[3] / "shared"))
SMALL = CloudSettings(points=10, neighbours=3)


def write_cloud(path, seed=0, count=20):
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savetxt(path, np.random.default_rng(seed).normal(size=(count, 3)))


@pytest.fixture
def folder(tmp_path):
    for seed, name in enumerate(["chair/b.xyz", "chair/a.txt", "lamp/a.pts", "lamp/c.xyz"]):
        write_cloud(tmp_path / name, seed)
    (tmp_path / "index.csv").write_text("class,file\n")
    (tmp_path / "lamp" / "notes.md").write_text("not a cloud\n")
    return tmp_path


def test_each_folder_is_a_class_and_each_file_a_graph(folder):
    made = read_clouds(folder, SMALL)
    assert made.names == ("chair/a.txt", "chair/b.xyz", "lamp/a.pts", "lamp/c.xyz")
    assert made.graphs.classes == ("chair", "lamp")
    assert made.graphs.y.tolist() == [0, 0, 1, 1]
    assert made.graphs.sizes.tolist() == [10] * 4
    assert made.graphs.x.shape == (40, 0)


def test_the_sample_of_a_cloud_does_not_depend_on_other_files(folder):
    together = read_clouds(folder, SMALL)
    (folder / "chair" / "a.txt").unlink()
    alone = read_clouds(folder, SMALL)
    np.testing.assert_array_equal(together.points[1:], alone.points)


def test_equal_clouds_with_other_names_are_sampled_differently(tmp_path):
    for name in ("chair/a.xyz", "chair/b.xyz", "lamp/a.xyz"):
        write_cloud(tmp_path / name, seed=0)
    first, other_name, other_class = read_clouds(tmp_path, SMALL).points
    assert not np.array_equal(first, other_name)
    assert not np.array_equal(first, other_class)


def test_another_seed_chooses_other_points(folder):
    other = read_clouds(folder, SMALL.model_copy(update={"seed": 1}))
    assert not np.array_equal(read_clouds(folder, SMALL).points, other.points)


def test_shapenet_part_is_read(tmp_path):
    (tmp_path / "synsetoffset2category.txt").write_text(
        "Airplane\t02691156\n\nLamp\t03636649\nMug\t03797390\n"
    )
    for seed in range(3):
        # Eight columns: position, normal, part.
        (tmp_path / "02691156").mkdir(exist_ok=True)
        rows = np.random.default_rng(seed).normal(size=(20, 7))
        np.savetxt(tmp_path / "02691156" / f"{seed}.txt", rows)
    write_cloud(tmp_path / "03636649" / "points" / "1.pts")
    (tmp_path / "03636649" / "points_label").mkdir()
    (tmp_path / "train_test_split").mkdir()
    made = read_clouds(tmp_path, SMALL)
    assert made.graphs.classes == ("Airplane", "Lamp")
    assert made.graphs.y.tolist() == [0, 0, 0, 1]


def test_an_invalid_shapenet_index_is_named_by_line(tmp_path):
    (tmp_path / "synsetoffset2category.txt").write_text("Airplane\t02691156\nLamp\n")
    with pytest.raises(DataError, match="line 2"):
        read_clouds(tmp_path, SMALL)


def test_a_shapenet_index_that_is_not_text_is_an_error(tmp_path):
    (tmp_path / "synsetoffset2category.txt").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(DataError, match="is not text"):
        read_clouds(tmp_path, SMALL)


def test_a_shapenet_index_without_folders_is_an_error(tmp_path):
    (tmp_path / "synsetoffset2category.txt").write_text("Airplane\t02691156\n")
    with pytest.raises(DataError, match="no folder of clouds"):
        read_clouds(tmp_path, SMALL)


def test_a_missing_and_an_empty_folder_are_errors(tmp_path):
    with pytest.raises(DataError, match="is not a folder"):
        read_clouds(tmp_path / "nowhere", SMALL)
    with pytest.raises(DataError, match=r"put each cloud at CLASS/NAME\.xyz"):
        read_clouds(tmp_path, SMALL)


def test_an_empty_class_is_named(folder):
    (folder / "table").mkdir()
    with pytest.raises(DataError, match=r"table: holds no cloud .*add some or remove the folder"):
        read_clouds(folder, SMALL)


def test_a_cloud_with_too_few_points_is_named(folder):
    write_cloud(folder / "lamp" / "short.xyz", count=9)
    with pytest.raises(DataError, match=r"short\.xyz: holds 9 points, 10 are needed"):
        read_clouds(folder, SMALL)


def test_too_many_neighbours_are_an_error_before_reading(folder):
    with pytest.raises(DataError, match="use fewer neighbours"):
        read_clouds(folder, CloudSettings(points=5, neighbours=5))


def test_a_broken_link_is_ignored(folder):
    (folder / "lamp" / "gone.xyz").symlink_to(folder / "nowhere")
    assert len(read_clouds(folder, SMALL).names) == 4


@pytest.mark.skipif(os.geteuid() == 0, reason="the administrator may read everything")
def test_a_file_without_permission_is_named(folder):
    (folder / "lamp" / "a.pts").chmod(0)
    with pytest.raises(DataError, match=r"a\.pts: cannot be read"):
        read_clouds(folder, SMALL)


def test_a_file_that_fails_while_it_is_read_is_named(folder, monkeypatch):
    def failing(*arguments):
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(module, "read_cloud", failing)
    with pytest.raises(DataError, match=r"a\.txt: cannot be read \(Input/output error\)"):
        read_clouds(folder, SMALL)


def test_folders_of_clouds_are_recognized(folder, tmp_path_factory):
    empty = tmp_path_factory.mktemp("empty")
    assert is_cloud_folder(folder)
    assert not is_cloud_folder(empty)
    assert not is_cloud_folder(folder / "index.csv")
    assert not is_cloud_folder(folder / "chair")


@pytest.mark.skipif(not (SHARED / "data/clouds").is_dir(), reason="needs the shared clouds")
def test_the_real_clouds_are_read():
    made = read_clouds(SHARED / "data/clouds")
    assert len(made.graphs) == 625
    counts = dict(zip(made.graphs.classes, np.bincount(made.graphs.y.numpy()), strict=True))
    assert counts == {
        "airplane": 220,
        "table": 115,
        "chair": 93,
        "car": 81,
        "lamp": 56,
        "guitar": 29,
        "knife": 27,
        "laptop": 4,
    }
    assert set(made.graphs.sizes.tolist()) == {150}
