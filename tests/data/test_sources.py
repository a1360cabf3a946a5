import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import lfds
from lfds.data import DataError, read_any
from lfds.data.datasets.prepare import prepare
from lfds.data.readers.tu import read_tu
from lfds.data.sources import open_source, places_of, source_state
from tests.data.graphs import SHARED, needs_shared, three_graphs
from tests.data.tu_folders import FILES, write_folder, write_tar, write_zip


def test_a_dataset_is_found_by_name_as_folder_or_archive(tmp_path):
    folder = write_folder(tmp_path / "one" / "S", FILES)
    expected = read_tu(folder)
    write_zip(tmp_path / "S.zip", FILES)
    assert lfds.load_dataset("S", root=tmp_path / "one").equals(expected)
    assert lfds.load_dataset("S", tmp_path).equals(expected)
    assert lfds.load_dataset("S", tmp_path, seed=5).equals(read_tu(folder, seed=5))


def test_a_prepared_set_is_used_until_its_source_changes(tmp_path):
    folder = write_folder(tmp_path / "S", FILES)
    prepare("S", tmp_path).graphs[:2].save(tmp_path / "S.graphs")
    assert len(lfds.load_dataset("S", tmp_path)) == 2
    # The prepared set has another order of nodes.
    assert len(lfds.load_dataset("S", tmp_path, seed=1)) == 3
    os.utime(folder / "S_A.txt", (2**31, 2**31))
    assert len(lfds.load_dataset("S", tmp_path)) == 3


def test_a_damaged_prepared_set_is_read_from_its_source_again(tmp_path):
    folder = write_folder(tmp_path / "S", FILES)
    (prepare("S", tmp_path).saved / "graphs.safetensors").write_bytes(b"junk")
    assert lfds.load_dataset("S", tmp_path).equals(read_tu(folder))
    shutil.rmtree(folder)
    with pytest.raises(DataError, match="cannot be read as safetensors"):
        lfds.load_dataset("S", tmp_path)


def test_a_prepared_set_is_used_without_its_source(tmp_path):
    read_tu(write_folder(tmp_path / "S", FILES)).save(tmp_path / "else" / "S.graphs")
    assert len(lfds.load_dataset("S", tmp_path / "else")) == 3


def test_missing_files_are_named_with_their_place(tmp_path):
    with pytest.raises(DataError, match=r"put https://.*/DD\.zip at .*DD\.zip.*--download"):
        lfds.load_dataset("DD", tmp_path)


def test_a_dataset_needs_a_name(tmp_path):
    with pytest.raises(DataError, match="name: needs the name of a dataset, not 'None'"):
        lfds.load_dataset(None, tmp_path)


def test_an_unknown_name_suggests_the_closest_one(tmp_path):
    with pytest.raises(DataError, match="did you mean 'ENZYMES'"):
        lfds.load_dataset("ENZYMS", tmp_path)


def test_built_in_datasets_depend_on_the_seed():
    one, other = (lfds.load_dataset("parts-share-set", seed=seed) for seed in (0, 1))
    assert one.name == other.name == "parts-share-set"
    assert not one.equals(other)


def test_the_state_of_a_folder_of_clouds_depends_on_its_files(tmp_path):
    (tmp_path / "ball").mkdir()
    before = source_state(tmp_path)
    (tmp_path / "ball" / "one.xyz").write_text("0 0 0\n")
    assert source_state(tmp_path) != before


@pytest.mark.slow
def test_pc_graphs_are_built_in():
    assert len(lfds.load_dataset("pc-graphs")) == 4000


def test_the_format_of_a_path_is_recognized(tmp_path):
    folder = write_folder(tmp_path / "S", FILES)
    assert read_any(folder).equals(read_tu(folder))
    assert read_any(write_tar(tmp_path / "S.tar", FILES)).equals(read_tu(folder))
    assert read_any(write_folder(tmp_path / "P" / "raw", FILES).parent).equals(read_tu(folder))
    three_graphs().save(tmp_path / "saved")
    assert read_any(tmp_path / "saved").equals(three_graphs())
    (tmp_path / "a.jsonl").write_text('{"nodes": 2}')
    assert read_any(tmp_path / "a.jsonl").num_nodes == 2
    (tmp_path / "a.csv").write_text("smiles,y\nCC,1\n")
    assert read_any(tmp_path / "a.csv").num_nodes == 2


def test_a_folder_of_clouds_is_recognized(tmp_path):
    (tmp_path / "ball").mkdir()
    points = "\n".join(f"{n % 7} {n % 11} {n % 13}" for n in range(200))
    (tmp_path / "ball" / "one.xyz").write_text(points)
    (tmp_path / "ball" / "two.xyz").write_text(points)
    assert read_any(tmp_path).classes == ("ball",)


@pytest.mark.parametrize("read", [read_any, lambda name: lfds.load_dataset(name, "data")])
def test_a_name_that_is_too_long_is_an_error(read):
    with pytest.raises(DataError, match=r"cannot be read .File name too long"):
        read("x" * 5000)


def test_paths_of_unknown_format_are_errors(tmp_path):
    with pytest.raises(DataError, match="no such file or folder"):
        read_any(tmp_path / "nowhere")
    with pytest.raises(DataError, match=r"unknown format; give .*NAME_A\.txt"):
        read_any(tmp_path)
    (tmp_path / "junk.dat").write_bytes(b"\x00\x01")
    with pytest.raises(DataError, match=r"junk\.dat: unknown format; .*\.tsv file"):
        read_any(tmp_path / "junk.dat")


@needs_shared
def test_real_datasets_load_by_name():
    assert len(lfds.load_dataset("MUTAG", root=SHARED)) == 188


def test_places_of_a_source_are_the_files_it_is_read_from(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder = write_folder(tmp_path / "kept" / "S", FILES)
    assert places_of("S", "kept") == [Path("kept/S")]
    prepare("S", tmp_path / "kept")
    assert places_of("S", "kept") == [Path("kept/S.graphs"), Path("kept/S")]
    assert places_of(str(folder), "kept") == [folder]
    assert places_of("nowhere", "kept") == []
    # A name of the catalog is one, whatever else is called so.
    write_folder(tmp_path / "MUTAG", FILES)
    write_folder(tmp_path / "pc-graphs", FILES)
    assert places_of("MUTAG", "kept") == places_of("pc-graphs", "kept") == []


@pytest.mark.parametrize("below", ["", "raw"])
def test_any_change_of_a_file_changes_the_state(below, tmp_path):
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


def test_the_state_changes_with_an_archive_but_not_when_a_folder_moves(tmp_path):
    packed = write_zip(tmp_path / "S.zip", FILES)
    before = source_state(packed)
    os.utime(packed, ns=(0, 0))
    assert source_state(packed) != before
    folder = write_folder(tmp_path / "S", FILES)
    before = source_state(folder)
    (folder / "README.txt").write_text("no part of the dataset")
    assert source_state(folder.rename(tmp_path / "T")) == before


@pytest.mark.parametrize("below", ["", "raw"])
def test_a_file_replaced_by_an_older_one_is_read_again(below, tmp_path):
    other = tmp_path / "other.txt"
    other.write_bytes(b"7\n8\n9\n")
    os.utime(other, (10**9, 10**9))
    home = write_folder(tmp_path / "data" / "S" / below, FILES)
    prepare("S", tmp_path / "data")
    shutil.copy2(other, home / "S_graph_labels.txt")
    assert lfds.load_dataset("S", tmp_path / "data").classes == (7, 8, 9)


def test_options_of_another_format_are_an_error(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"nodes": 2}')
    with pytest.raises(
        DataError, match=r"target: only \.csv or \.tsv files have this option, not .*a\.jso"
    ):
        read_any(tmp_path / "a.jsonl", target="y")
    write_zip(tmp_path / "S.zip", FILES)
    with pytest.raises(
        DataError, match=r"bad: only \.csv or \.tsv files have this option, not .*S\.zip"
    ):
        open_source("S", tmp_path, bad="skip")
    with pytest.raises(DataError, match=r"nowhere\.csv: no such file or folder"):
        open_source("nowhere.csv", tmp_path, target="y")


def test_a_dataset_in_any_format_is_found_by_name_and_prepared(tmp_path):
    (tmp_path / "few.jsonl").write_text('{"nodes": 2, "label": 0}\n{"nodes": 3, "label": 1}\n')
    assert lfds.load_dataset("few", tmp_path).sizes.tolist() == [2, 3]
    prepare("few", tmp_path)
    assert places_of("few", tmp_path) == [tmp_path / "few.graphs", tmp_path / "few.jsonl"]
    (tmp_path / "few.jsonl").write_text('{"nodes": 4, "label": 0}\n')
    assert lfds.load_dataset("few", tmp_path).sizes.tolist() == [4]


MINE = """
from pathlib import Path
from lfds.data import GraphSet
from lfds.data.chunk import Chunk

def read_sizes(path, *, seed):
    sizes = [int(size) for size in Path(path).read_text().split()]
    return GraphSet.from_arrays(sizes, [[], []], name=Path(path).stem)

def stream_sizes(path, *, size):
    graphs = read_sizes(path, seed=0)
    for start in range(0, len(graphs), size):
        yield Chunk(graphs[start : start + size], [start + 1], "line")
"""

USE = """
from lfds.config import registry
entry = registry.ReaderEntry(
    "mine:read_sizes", "a .sizes file", suffixes=(".sizes",), stream="mine:stream_sizes"
)
registry.READERS = {**registry.READERS, "sizes": entry}

from pathlib import Path
from typer.testing import CliRunner
import lfds
from lfds.cli.app import app
from lfds.data.sources import stream_source

Path("few.sizes").write_text("1\\n2\\n3\\n")
assert lfds.data.read_any("few.sizes").sizes.tolist() == [1, 2, 3]
assert lfds.load_dataset("few", ".").sizes.tolist() == [1, 2, 3]
assert [chunk.positions for chunk in stream_source("few.sizes", size=1)] == [[1], [2], [3]]
shown = CliRunner().invoke(app, ["data", "info", "few.sizes"])
assert shown.exit_code == 0 and "few" in shown.stdout
for command in (["data", "info"], ["predict"]):
    help = CliRunner().invoke(app, [*command, "--help"], env={"COLUMNS": "400"}).stdout
    assert "a .sizes file" in help
try:
    lfds.data.read_any(".")
except ValueError as error:
    assert "a .sizes file" in str(error)
"""


def test_a_new_format_needs_its_reader_and_a_registry_entry_only(tmp_path):
    (tmp_path / "mine.py").write_text(MINE)
    (tmp_path / "use.py").write_text(USE)
    subprocess.run([sys.executable, "use.py"], cwd=tmp_path, check=True)


def test_devices_are_no_data(tmp_path):
    (tmp_path / "g.jsonl").symlink_to("/dev/zero")
    for path in ("/dev/zero", tmp_path / "g.jsonl"):
        with pytest.raises(DataError, match="is a device or pipe; give a file or a folder"):
            read_any(path)
