import json
import os
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lfds.data import DataError
from lfds.data.readers.arrays import without_features
from lfds.data.readers.tu import read_tu
from lfds.data.readers.tu_files import Names, RawFiles, is_tu, read_names, read_raw, tu_home
from tests.data.graphs import SHARED, graph_sets, needs_shared, three_graphs
from tests.data.tu_folders import SMALL, write_folder, write_tar, write_zip


def nested(files=SMALL):
    return {"README.txt": b"hello", **{f"S/{name}": content for name, content in files.items()}}


@pytest.mark.parametrize(
    "write",
    [
        lambda p: write_folder(p / "S", SMALL),
        lambda p: write_folder(p / "S" / "raw", SMALL).parent,
        lambda p: write_zip(p / "S.zip", SMALL),
        lambda p: write_zip(p / "S.zip", nested()),
        lambda p: write_tar(p / "S.tar", nested()),
        lambda p: write_tar(p / "S.tar.gz", SMALL),
        lambda p: write_tar(p / "S.tgz", nested()),
    ],
)
def test_folders_and_archives_have_the_same_content(write, tmp_path):
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
        (lambda p: p / "nowhere", "does not exist; give a folder"),
        (lambda p: write_folder(p / "empty", {}), r"holds no file NAME_A\.txt"),
        (lambda p: write_zip(p / "e.zip", {}), r"holds no file NAME_A\.txt"),
        (lambda p: write_folder(p / "two", {**SMALL, "T_A.txt": b""}), "more than one dataset"),
    ],
)
def test_a_path_without_a_dataset_is_an_error(make, message, tmp_path):
    with pytest.raises(DataError, match=message):
        read_raw(make(tmp_path))


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_files_without_permission_are_named(tmp_path):
    folder = write_folder(tmp_path / "S", SMALL)
    (folder / "S_A.txt").chmod(0)
    with pytest.raises(DataError, match=r"S_A\.txt: cannot be read \(Permission denied\)"):
        read_raw(folder)


def test_unreadable_files_are_named(tmp_path):
    folder = write_folder(tmp_path / "S", SMALL)
    (folder / "S_node_labels.txt").mkdir()
    with pytest.raises(DataError, match=r"S_node_labels\.txt: cannot be read \(Is a directory\)"):
        read_raw(folder)


def test_files_are_found_in_the_folder_or_in_raw(tmp_path):
    assert tu_home(tmp_path) is None
    assert not is_tu(tmp_path)
    write_folder(tmp_path / "raw", SMALL)
    assert tu_home(tmp_path) == tmp_path / "raw"
    assert is_tu(tmp_path)


SHADOWS = {"__MACOSX/S/._S_A.txt": b"\0", "__MACOSX/S/S_A.txt": b"\0", "S/._S_A.txt": b"\0"}


@pytest.mark.parametrize("write", [write_zip, write_tar])
def test_hidden_copies_and_other_folders_of_an_archive_are_ignored(write, tmp_path):
    old = {"old/S_graph_labels.txt": b"9\n", "old/S_node_labels.txt": b"9\n9\n"}
    here = {f"./S/{name}": content for name, content in SMALL.items()}
    raw = read_raw(write(tmp_path / "S.tar", {**here, **SHADOWS, **old}))
    assert raw.name == "S"
    assert raw.content["graph_labels"] == b"5\n"
    assert "node_labels" not in raw.content


def test_two_datasets_in_one_archive_are_an_error(tmp_path):
    both = {**nested(), **{f"old/{name}": content for name, content in SMALL.items()}}
    with pytest.raises(DataError, match=r"one dataset: S/S_A\.txt, old/S_A\.txt"):
        read_raw(write_zip(tmp_path / "S.zip", both))


def test_hidden_files_in_a_folder_are_ignored(tmp_path):
    folder = write_folder(tmp_path / "S", {**SMALL, "._S_A.txt": b"\0"})
    assert read_raw(folder).content["A"] == b"1, 2\n"


def raw(text):
    return RawFiles("home", "S", {"names": text}, {"names": "S_names.json"})


@given(
    classes=st.lists(st.one_of(st.text(), st.integers())),
    values=st.lists(st.sets(st.integers(-(2**63), 2**63 - 1)).map(sorted)),
)
def test_names_read_back(classes, values):
    names = Names(tuple(classes), tuple(map(tuple, values)))
    text = json.dumps({"classes": classes, "label_values": values})
    assert read_names(raw(text.encode())) == names


def test_without_a_file_of_names_there_are_none():
    assert read_names(RawFiles("home", "S", {}, {})) is None


@pytest.mark.parametrize(
    "entries",
    [
        [],
        {"classes": []},
        {"classes": [1.5], "label_values": []},
        {"classes": [True], "label_values": []},
        {"classes": [], "label_values": [[2, 1]]},
        {"classes": [], "label_values": [1]},
        {"classes": [], "label_values": [[2**70]]},
        {"classes": [], "label_values": [], "more": 1},
    ],
)
def test_other_json_is_an_error(entries):
    with pytest.raises(DataError, match=r"S_names\.json: .*needs"):
        read_names(raw(json.dumps(entries).encode()))


@pytest.mark.parametrize("text", [b"{", b"\xff", b"[" * 100_000])
def test_invalid_json_is_an_error(text):
    with pytest.raises(DataError, match="cannot be read as JSON"):
        read_names(raw(text))


in_one_folder = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


def comparable(graphs, written):
    """A table without rows loses its width; all else must be equal."""
    return replace(
        written,
        attributes=graphs.attributes if not graphs.num_nodes else written.attributes,
        labels=graphs.labels if not graphs.num_nodes else written.labels,
        label_values=graphs.label_values if not graphs.num_nodes else written.label_values,
        edge_labels=graphs.edge_labels if not graphs.num_edges else written.edge_labels,
        edge_attributes=graphs.edge_attributes if not graphs.num_edges else written.edge_attributes,
    )


@given(graphs=graph_sets(min_nodes=1))
@in_one_folder
def test_a_written_set_is_read_equal(graphs, tmp_path):
    graphs.to_tu(tmp_path / "drawn")
    back = read_tu(tmp_path / "drawn", seed=None)
    assert comparable(graphs, back).equals(without_features(graphs))


def test_a_written_selection_keeps_all_classes_and_labels(tmp_path):
    some = three_graphs()[1:]
    some.to_tu(tmp_path / "three")
    back = read_tu(tmp_path / "three", seed=None)
    assert back.equals(without_features(some))
    assert back.classes == (-1, 1)
    assert back.label_values == ((5, 7, 9),)


def test_written_files_have_the_tu_format(tmp_path):
    three_graphs().to_tu(tmp_path / "out")
    assert (tmp_path / "out" / "three_A.txt").read_text().splitlines()[:2] == ["2, 1", "1, 2"]
    assert (tmp_path / "out" / "three_graph_labels.txt").read_text() == "-1\n1\n1\n"
    assert (tmp_path / "out" / "three_graph_indicator.txt").read_text() == "1\n1\n1\n3\n3\n"
    assert not (tmp_path / "out" / "three_names.json").exists()
    assert [entry.name for entry in tmp_path.iterdir()] == ["out"]


@pytest.mark.parametrize("name", ["", "a/b", ".", "\0"])
def test_an_invalid_file_name_is_an_error(name, tmp_path):
    with pytest.raises(DataError, match="cannot be named after"):
        replace(three_graphs(), name=name).to_tu(tmp_path / "out")
    assert not list(tmp_path.iterdir())


@needs_shared
@pytest.mark.parametrize("name", ["ENZYMES", "MUTAG", "Synthie"])
def test_real_datasets_are_equal_after_writing_and_reading(name, tmp_path):
    graphs = read_tu(SHARED / name)
    graphs.to_tu(tmp_path / name)
    assert read_tu(tmp_path / name, seed=None).equals(graphs)
