import os
import shutil

import pytest

import lfds
from lfds.data.datasets.prepare import prepare
from lfds.data.datasets.source_state import source_state
from tests.data.readers.test_tu import FILES
from tests.data.readers.test_tu_files import write_folder, write_zip


@pytest.mark.parametrize("below", ["", "raw"])
def test_whatever_befalls_a_file_changes_the_state(below, tmp_path):
    home = write_folder(tmp_path / "S" / below, FILES)
    states = {source_state(tmp_path / "S")}
    file = home / "S_graph_labels.txt"
    for change in (
        lambda: file.write_bytes(file.read_bytes() + b"1\n"),
        lambda: os.utime(file, ns=(0, 0)),
        lambda: (home / "S_node_labels.txt").write_bytes(b""),
        lambda: (home / "S_node_labels.txt").rename(home / "S_edge_labels.txt"),
    ):
        change()
        states.add(source_state(tmp_path / "S"))
    assert len(states) == 5


def test_an_archive_has_a_state_and_a_moved_folder_keeps_it(tmp_path):
    packed = write_zip(tmp_path / "S.zip", FILES)
    before = source_state(packed)
    os.utime(packed, ns=(0, 0))
    assert source_state(packed) != before
    folder = write_folder(tmp_path / "S", FILES)
    before = source_state(folder)
    (folder / "README.txt").write_text("no part of the dataset")
    assert source_state(folder.rename(tmp_path / "T")) == before


@pytest.mark.parametrize("below", ["", "raw"])
def test_an_older_file_in_place_of_a_newer_one_is_read(below, tmp_path):
    other = tmp_path / "other.txt"
    other.write_bytes(b"7\n8\n9\n")
    os.utime(other, (10**9, 10**9))
    home = write_folder(tmp_path / "data" / "S" / below, FILES)
    prepare("S", tmp_path / "data")
    shutil.copy2(other, home / "S_graph_labels.txt")
    assert lfds.load_dataset("S", tmp_path / "data").classes == (7, 8, 9)
