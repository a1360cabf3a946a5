import io
import os
import tarfile
import zipfile

import pytest

from lfds.data import DataError
from lfds.data.readers.tu_files import read_raw, tu_home

FILES = {"S_A.txt": b"1, 2\n", "S_graph_indicator.txt": b"1\n1\n", "S_graph_labels.txt": b"5\n"}


def write_folder(path, files=FILES):
    path.mkdir(parents=True)
    for name, content in files.items():
        (path / name).write_bytes(content)
    return path


def write_zip(path, files=FILES):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return path


def write_tar(path, files=FILES):
    with tarfile.open(path, "w:gz" if path.suffix in (".gz", ".tgz") else "w") as archive:
        for name, content in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return path


def nested(files=FILES):
    return {"README.txt": b"hello", **{f"S/{name}": content for name, content in files.items()}}


@pytest.mark.parametrize(
    "write",
    [
        lambda p: write_folder(p / "S"),
        lambda p: write_folder(p / "S" / "raw").parent,
        lambda p: write_zip(p / "S.zip"),
        lambda p: write_zip(p / "S.zip", nested()),
        lambda p: write_tar(p / "S.tar", nested()),
        lambda p: write_tar(p / "S.tar.gz"),
        lambda p: write_tar(p / "S.tgz", nested()),
    ],
)
def test_folders_and_archives_hold_the_same(write, tmp_path):
    raw = read_raw(write(tmp_path))
    assert raw.name == "S"
    assert raw.content == {
        "A": b"1, 2\n",
        "graph_indicator": b"1\n1\n",
        "graph_labels": b"5\n",
    }
    assert raw.place["A"].endswith("S_A.txt")
    with pytest.raises(DataError, match=r"lacks the file S_node_labels\.txt"):
        raw.required("node_labels")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda p: p / "nowhere", "is not there; give a folder"),
        (lambda p: write_folder(p / "empty", {}), r"holds no file NAME_A\.txt"),
        (lambda p: write_zip(p / "e.zip", {}), r"holds no file NAME_A\.txt"),
        (lambda p: write_folder(p / "two", {**FILES, "T_A.txt": b""}), "more than one dataset"),
    ],
)
def test_where_there_is_no_dataset_it_says_so(make, message, tmp_path):
    with pytest.raises(DataError, match=message):
        read_raw(make(tmp_path))


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_unreadable_files_are_named_when_permissions_say_so(tmp_path):
    folder = write_folder(tmp_path / "S")
    (folder / "S_A.txt").chmod(0)
    with pytest.raises(DataError, match=r"S_A\.txt: cannot be read \(Permission denied\)"):
        read_raw(folder)


def test_unreadable_files_are_named(tmp_path):
    folder = write_folder(tmp_path / "S")
    (folder / "S_node_labels.txt").mkdir()
    with pytest.raises(DataError, match=r"S_node_labels\.txt: cannot be read \(Is a directory\)"):
        read_raw(folder)


def test_home_is_where_the_files_are(tmp_path):
    assert tu_home(tmp_path) is None
    write_folder(tmp_path / "raw")
    assert tu_home(tmp_path) == tmp_path / "raw"


SHADOWS = {"__MACOSX/S/._S_A.txt": b"\0", "__MACOSX/S/S_A.txt": b"\0", "S/._S_A.txt": b"\0"}


@pytest.mark.parametrize("write", [write_zip, write_tar])
def test_parts_come_from_one_folder_and_shadows_are_no_parts(write, tmp_path):
    old = {"old/S_graph_labels.txt": b"9\n", "old/S_node_labels.txt": b"9\n9\n"}
    here = {f"./S/{name}": content for name, content in FILES.items()}
    raw = read_raw(write(tmp_path / "S.tar", {**here, **SHADOWS, **old}))
    assert raw.name == "S"
    assert raw.content["graph_labels"] == b"5\n"
    assert "node_labels" not in raw.content


def test_two_versions_in_one_archive_are_one_too_many(tmp_path):
    both = {**nested(), **{f"old/{name}": content for name, content in FILES.items()}}
    with pytest.raises(DataError, match=r"one dataset: S/S_A\.txt, old/S_A\.txt"):
        read_raw(write_zip(tmp_path / "S.zip", both))


def test_shadows_in_a_folder_are_no_datasets(tmp_path):
    folder = write_folder(tmp_path / "S", {**FILES, "._S_A.txt": b"\0"})
    assert read_raw(folder).content["A"] == b"1, 2\n"
