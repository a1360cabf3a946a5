import os
from pathlib import Path

import numpy as np
import pytest

from lfds.data import DataError, cloud_folder
from lfds.data.readers.cloud_folder import is_cloud_folder, read_clouds
from lfds.data.readers.clouds import CloudSettings

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


def test_a_cloud_is_sampled_alike_alone_and_in_company(folder):
    together = read_clouds(folder, SMALL)
    (folder / "chair" / "a.txt").unlink()
    alone = read_clouds(folder, SMALL)
    np.testing.assert_array_equal(together.points[1:], alone.points)


def test_equal_clouds_under_other_names_are_sampled_otherwise(tmp_path):
    for name in ("chair/a.xyz", "chair/b.xyz", "lamp/a.xyz"):
        write_cloud(tmp_path / name, seed=0)
    first, other_name, other_class = read_clouds(tmp_path, SMALL).points
    assert not np.array_equal(first, other_name)
    assert not np.array_equal(first, other_class)


def test_another_seed_chooses_other_points(folder):
    other = read_clouds(folder, SMALL.model_copy(update={"seed": 1}))
    assert not np.array_equal(read_clouds(folder, SMALL).points, other.points)


def test_shapenet_part_is_read_as_it_is_unpacked(tmp_path):
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


def test_a_broken_index_of_shapenet_is_refused_by_line(tmp_path):
    (tmp_path / "synsetoffset2category.txt").write_text("Airplane\t02691156\nLamp\n")
    with pytest.raises(DataError, match="line 2"):
        read_clouds(tmp_path, SMALL)


def test_an_index_that_is_no_text_is_refused(tmp_path):
    (tmp_path / "synsetoffset2category.txt").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(DataError, match="is not text"):
        read_clouds(tmp_path, SMALL)


def test_an_index_of_folders_that_are_not_there_is_refused(tmp_path):
    (tmp_path / "synsetoffset2category.txt").write_text("Airplane\t02691156\n")
    with pytest.raises(DataError, match="no folder of clouds"):
        read_clouds(tmp_path, SMALL)


def test_no_folder_and_an_empty_one_are_refused(tmp_path):
    with pytest.raises(DataError, match="is not a folder"):
        read_clouds(tmp_path / "nowhere", SMALL)
    with pytest.raises(DataError, match=r"put each cloud at CLASS/NAME\.xyz"):
        read_clouds(tmp_path, SMALL)


def test_an_empty_class_is_named(folder):
    (folder / "table").mkdir()
    with pytest.raises(DataError, match=r"table: holds no cloud; .*fill the folder or remove it"):
        read_clouds(folder, SMALL)


def test_a_short_cloud_is_named(folder):
    write_cloud(folder / "lamp" / "short.xyz", count=9)
    with pytest.raises(DataError, match=r"short\.xyz: holds 9 points, 10 are needed"):
        read_clouds(folder, SMALL)


def test_too_many_neighbours_are_refused_before_anything_is_read(folder):
    with pytest.raises(DataError, match="ask for fewer neighbours"):
        read_clouds(folder, CloudSettings(points=5, neighbours=5))


def test_a_link_to_nowhere_is_passed_over(folder):
    (folder / "lamp" / "gone.xyz").symlink_to(folder / "nowhere")
    assert len(read_clouds(folder, SMALL).names) == 4


@pytest.mark.skipif(os.geteuid() == 0, reason="the administrator may read everything")
def test_a_forbidden_file_is_named(folder):
    (folder / "lamp" / "a.pts").chmod(0)
    with pytest.raises(DataError, match=r"a\.pts: cannot be read"):
        read_clouds(folder, SMALL)


def test_a_file_that_fails_while_it_is_read_is_named(folder, monkeypatch):
    def failing(*arguments):
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(cloud_folder, "read_cloud", failing)
    with pytest.raises(DataError, match=r"a\.txt: cannot be read \(Input/output error\)"):
        read_clouds(folder, SMALL)


def test_clouds_are_recognised(folder, tmp_path_factory):
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
