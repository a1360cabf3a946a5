import os
import shutil
from pathlib import Path

import pytest

import lfds
from lfds.data import DataError, read_any
from lfds.data.datasets.prepare import prepare
from lfds.data.readers.tu import read_tu
from lfds.data.sources import places_of
from tests.data.graphs import SHARED, needs_shared, three_graphs
from tests.data.readers.test_tu import FILES
from tests.data.readers.test_tu_files import write_folder, write_tar, write_zip


def test_a_dataset_is_found_by_name_in_any_form(tmp_path):
    folder = write_folder(tmp_path / "one" / "S", FILES)
    expected = read_tu(folder)
    write_zip(tmp_path / "S.zip", FILES)
    assert lfds.load_dataset("S", root=tmp_path / "one").equals(expected)
    assert lfds.load_dataset("S", tmp_path).equals(expected)
    assert lfds.load_dataset("S", tmp_path, seed=5).equals(read_tu(folder, seed=5))


def test_what_was_prepared_is_used_until_its_source_changes(tmp_path):
    folder = write_folder(tmp_path / "S", FILES)
    prepare("S", tmp_path).graphs[:2].save(tmp_path / "S.graphs")
    assert len(lfds.load_dataset("S", tmp_path)) == 2
    # Another order of nodes was asked for: what was prepared is of no use.
    assert len(lfds.load_dataset("S", tmp_path, seed=1)) == 3
    os.utime(folder / "S_A.txt", (2**31, 2**31))
    assert len(lfds.load_dataset("S", tmp_path)) == 3


def test_a_damaged_prepared_set_does_not_stand_before_its_source(tmp_path):
    folder = write_folder(tmp_path / "S", FILES)
    (prepare("S", tmp_path).saved / "graphs.safetensors").write_bytes(b"junk")
    assert lfds.load_dataset("S", tmp_path).equals(read_tu(folder))
    shutil.rmtree(folder)
    with pytest.raises(DataError, match="cannot be read as safetensors"):
        lfds.load_dataset("S", tmp_path)


def test_a_prepared_set_needs_no_source(tmp_path):
    read_tu(write_folder(tmp_path / "S", FILES)).save(tmp_path / "else" / "S.graphs")
    assert len(lfds.load_dataset("S", tmp_path / "else")) == 3


def test_missing_files_are_asked_for_and_where_to_put_them(tmp_path):
    with pytest.raises(DataError, match=r"put https://.*/DD\.zip at .*DD\.zip.*--download"):
        lfds.load_dataset("DD", tmp_path)


def test_nothing_is_no_name(tmp_path):
    with pytest.raises(DataError, match="name: needs the name of a dataset, not 'None'"):
        lfds.load_dataset(None, tmp_path)


def test_an_unknown_name_gets_the_nearest(tmp_path):
    with pytest.raises(DataError, match="did you mean ENZYMES"):
        lfds.load_dataset("ENZYMS", tmp_path)


@pytest.mark.slow
def test_pc_graphs_are_built_in():
    assert len(lfds.load_dataset("pc-graphs")) == 4000


def test_a_path_is_read_by_what_it_holds(tmp_path):
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


def test_a_folder_of_clouds_is_read_as_one(tmp_path):
    (tmp_path / "ball").mkdir()
    points = "\n".join(f"{n % 7} {n % 11} {n % 13}" for n in range(200))
    (tmp_path / "ball" / "one.xyz").write_text(points)
    (tmp_path / "ball" / "two.xyz").write_text(points)
    assert read_any(tmp_path).classes == ("ball",)


@pytest.mark.parametrize("read", [read_any, lambda name: lfds.load_dataset(name, "data")])
def test_a_name_no_system_would_take_is_refused(read):
    with pytest.raises(DataError, match=r"cannot be read .File name too long"):
        read("x" * 5000)


def test_what_is_no_dataset_is_refused(tmp_path):
    with pytest.raises(DataError, match="is not there"):
        read_any(tmp_path / "nowhere")
    with pytest.raises(DataError, match=r"is no dataset: it needs NAME_A\.txt"):
        read_any(tmp_path)
    (tmp_path / "junk.dat").write_bytes(b"\x00\x01")
    with pytest.raises(DataError, match="neither a folder"):
        read_any(tmp_path / "junk.dat")


@needs_shared
def test_real_datasets_load_by_name():
    assert len(lfds.load_dataset("MUTAG", root=SHARED)) == 188


def test_the_places_of_a_source_are_those_it_is_read_from(tmp_path, monkeypatch):
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
