import json
import shutil
from contextlib import suppress

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from torch.testing import assert_close
from torch_geometric.datasets import TUDataset

from lfds.data import DataError, GraphSet
from lfds.data.datasets.catalog import TU_DATASETS
from lfds.data.readers.tu import read_tu
from lfds.data.summary import differences, summarize
from tests.data.graphs import SHARED, edge_list, needs_shared
from tests.data.tu_folders import FILES, write_folder, write_tar, write_zip


def test_all_files_are_read(tmp_path):
    graphs = read_tu(write_folder(tmp_path / "S", FILES), seed=None)
    assert graphs.name == "S"
    assert graphs.sizes.tolist() == [4, 0, 2]
    assert edge_list(graphs) == [
        [(1, 0), (0, 1), (2, 1), (1, 2)],
        [],
        [(1, 0), (0, 1), (1, 1)],
    ]
    assert graphs.classes == (-1, 1)
    assert graphs.y.tolist() == [1, 0, 1]
    assert graphs.labels.flatten().tolist() == [7, 5, 7, 5, 9, 9]
    assert graphs.label_values == ((5, 7, 9),)
    assert graphs.attributes[3].tolist() == [3.5, 4.0]
    # The second "2, 1" carries the label 3, and is left out with it.
    assert graphs.edge_labels.flatten().tolist() == [1, 1, 2, 2, 1, 1, 4]
    assert_close(graphs.edge_attributes[-1], torch.tensor([0.5]))
    assert graphs.provenance["duplicate_edges_removed"] == 1
    assert graphs.provenance["self_loops_kept"] == 1
    assert graphs.x.shape == (6, 0)


def test_self_loops_are_removed_on_request(tmp_path):
    folder = write_folder(tmp_path / "S", FILES)
    graphs = read_tu(folder, seed=None, self_loops="remove")
    assert edge_list(graphs)[2] == [(1, 0), (0, 1)]
    assert graphs.edge_labels.flatten().tolist() == [1, 1, 2, 2, 1, 1]
    assert graphs.provenance["self_loops_removed"] == 1


def test_archives_are_read_like_folders(tmp_path):
    folder = read_tu(write_folder(tmp_path / "S", FILES))
    assert read_tu(write_zip(tmp_path / "S.zip", FILES)).equals(folder)
    assert read_tu(write_tar(tmp_path / "S.tar.gz", FILES)).equals(folder)


def test_shuffled_nodes_keep_labels_and_edges(tmp_path):
    folder = write_folder(tmp_path / "S", FILES)
    plain = read_tu(folder, seed=None)
    orders = set()
    for seed in range(8):
        graphs = read_tu(folder, seed=seed)
        # Attributes are all different here, so they tell which node is which.
        old = [plain.attributes[:, 0].tolist().index(v) for v in graphs.attributes[:, 0].tolist()]
        orders.add(tuple(old))
        assert sorted(old[:4]) == [0, 1, 2, 3]
        assert [7, 5, 7, 5, 9, 9][old[0]] == graphs.labels[0]
        named = {(old[4 + s], old[4 + r]) for s, r in edge_list(graphs)[2]}
        assert named == {(5, 4), (4, 5), (5, 5)}
        assert graphs.equals(read_tu(folder, seed=seed))
        assert graphs.provenance["node_order_seed"] == seed
    assert len(orders) > 4


@pytest.mark.parametrize(
    ("file", "content", "line", "message"),
    [
        ("A", b"1, 2\n2, 9\n", 2, "names node 9, but the nodes are 1 to 6"),
        ("A", b"1, 2\n0, 1\n", 2, "names node 0"),
        ("A", b"1, 2\n4, 5\n", 2, "joins node 4 of graph 1 and node 5 of graph 3"),
        ("A", b"1, 2\n2,", 2, "needs whole numbers"),
        ("A", b"1, 2\n2", 2, "the file may be truncated"),
        ("A", b"\x80\x00\xff", 1, "has 1 column"),
        ("graph_indicator", b"1\n1\n1\n3\n1\n3\n", 5, "goes back from graph 3 to graph 1"),
        ("graph_indicator", b"1\n1\n1\n1\n3\n4\n", 6, "names graph 4, but .* graphs 1 to 3"),
        ("graph_indicator", b"0\n1\n1\n1\n3\n3\n", 1, "names graph 0"),
        ("graph_indicator", b"1\n1\none\n1\n3\n3\n", 3, "needs whole numbers, not 'one'"),
        ("node_labels", b"7\n5\n7\n5\n9\n", 6, "has 5 lines where 6 are needed"),
        ("node_labels", b"7\n5\n7\n5\n9\n9\n9\n", 7, "has 7 lines where 6 are needed"),
        ("node_attributes", b"1\n2\n3\n4\n5\nnan\n", 6, "needs finite numbers"),
        ("edge_labels", b"1\n1\n", 3, "for each line of S_A.txt; one of the two is truncated"),
        ("edge_attributes", b"1\n1\n", 3, "has 2 lines where 8 are needed"),
        ("graph_labels", b"1\n-1\n2.5\n", 3, "needs whole numbers"),
    ],
)
def test_invalid_content_is_named_by_file_and_line(file, content, line, message, tmp_path):
    folder = write_folder(tmp_path / "S", {**FILES, f"S_{file}.txt": content})
    with pytest.raises(DataError, match=message) as caught:
        read_tu(folder)
    assert str(caught.value).startswith(f"{folder}/S_{file}.txt, line {line}: ")


@pytest.mark.parametrize("file", ["A", "graph_indicator", "graph_labels"])
def test_a_missing_required_file_is_named(file, tmp_path):
    files = {name: text for name, text in FILES.items() if name != f"S_{file}.txt"}
    with pytest.raises(DataError, match=f"{file}.txt"):
        read_tu(write_folder(tmp_path / "S", files))


corruptions = st.one_of(
    st.tuples(st.just("cut"), st.floats(0, 1), st.just(b"")),
    st.tuples(st.just("put"), st.floats(0, 1), st.binary(max_size=6)),
    st.tuples(
        st.just("put"),
        st.floats(0, 1),
        st.sampled_from(
            [b"\n", b",", b"-", b"9", b"0", b" ", b"x", b"99999999999999999999", b"1e9"]
        ),
    ),
    st.tuples(st.just("over"), st.floats(0, 1), st.binary(min_size=1, max_size=6)),
    st.tuples(st.just("drop line"), st.floats(0, 1), st.just(b"")),
    st.tuples(st.just("repeat line"), st.floats(0, 1), st.just(b"")),
)


def corrupted(content, kind, where, junk):
    place = int(where * len(content))
    lines = content.splitlines(keepends=True)
    line = min(int(where * len(lines)), len(lines) - 1)
    return {
        "cut": content[:place],
        "put": content[:place] + junk + content[place:],
        "over": content[:place] + junk + content[place + len(junk) :],
        "drop line": b"".join(lines[:line] + lines[line + 1 :]),
        "repeat line": b"".join(lines[:line] + lines[line : line + 1] * 2 + lines[line + 1 :]),
    }[kind]


damages = st.lists(st.tuples(st.sampled_from(sorted(FILES)), corruptions), min_size=1, max_size=3)
in_one_folder = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


def read_damaged_files(damage, tmp_path):
    files = dict(FILES)
    for file, (kind, where, junk) in damage:
        files[file] = corrupted(files[file], kind, where, junk) if files[file] else b""
    shutil.rmtree(tmp_path / "S", ignore_errors=True)
    folder = write_folder(tmp_path / "S", files)
    shutil.rmtree(tmp_path / "saved", ignore_errors=True)
    with suppress(DataError):
        graphs = read_tu(folder)
        graphs.save(tmp_path / "saved")
        assert GraphSet.load(tmp_path / "saved").batch(slice(None)).x.shape[1] == 0
    # Whole or not there at all, and nothing beside it.
    assert {entry.name for entry in tmp_path.iterdir()} <= {"S", "saved"}


def read_damaged_archive(corruption, pack, tmp_path):
    archive = pack(tmp_path / "S.tgz", FILES)
    kind, where, junk = corruption
    archive.write_bytes(corrupted(archive.read_bytes(), kind, where, junk))
    with suppress(DataError):
        read_tu(archive).batch(slice(None))
    assert [entry.name for entry in tmp_path.iterdir()] == ["S.tgz"]


@given(damage=damages)
@settings(in_one_folder, max_examples=400)
def test_damaged_files_are_a_data_error_or_a_valid_set(damage, tmp_path):
    read_damaged_files(damage, tmp_path)


@given(corruption=corruptions, pack=st.sampled_from([write_zip, write_tar]))
@settings(in_one_folder, max_examples=300)
def test_damaged_archives_are_a_data_error_or_a_valid_set(corruption, pack, tmp_path):
    read_damaged_archive(corruption, pack, tmp_path)


@pytest.mark.slow
@given(damage=damages)
@settings(in_one_folder, max_examples=5000)
def test_thousands_of_damaged_files(damage, tmp_path):
    read_damaged_files(damage, tmp_path)


@pytest.mark.slow
@given(corruption=corruptions, pack=st.sampled_from([write_zip, write_tar]))
@settings(in_one_folder, max_examples=5000)
def test_thousands_of_damaged_archives(corruption, pack, tmp_path):
    read_damaged_archive(corruption, pack, tmp_path)


REAL = [
    *["ENZYMES", "MUTAG", "PROTEINS", "PROTEINS_full", "SYNTHETIC", "SYNTHETICnew", "Synthie"],
    pytest.param("DD", marks=pytest.mark.slow),
]


@needs_shared
@pytest.mark.parametrize("name", REAL)
def test_real_datasets_are_as_published(name):
    graphs = read_tu(SHARED / name)
    assert differences(graphs, summarize(graphs), TU_DATASETS[name]) == []


@needs_shared
@pytest.mark.parametrize("name", ["MUTAG", "ENZYMES"])
def test_pyg_reads_the_same_graphs(name, tmp_path):
    shutil.copytree(SHARED / name, tmp_path / name / "raw")
    theirs = TUDataset(tmp_path, name, use_node_attr=True)
    ours = read_tu(SHARED / name, seed=None)
    edges = edge_list(ours)
    for position in range(0, len(ours), 37):
        pairs = theirs[position].edge_index.T.tolist()
        assert sorted(map(tuple, pairs)) == sorted(edges[position])
        assert int(theirs[position].y) == int(ours.y[position])
        width = ours.attributes.shape[1]
        assert_close(theirs[position].x[:, :width], ours[position].attributes)


@needs_shared
def test_shuffling_removes_the_class_from_the_node_order():
    def best_single_place(graphs):
        table = graphs.attributes.reshape(len(graphs), -1)
        signs = torch.where(graphs.y == 1, 1.0, -1.0)
        table = (table - table.mean(0)) / table.std(0)
        return float((table * signs[:, None]).mean(0).abs().max())

    in_file_order = best_single_place(read_tu(SHARED / "SYNTHETIC", seed=None))
    shuffled = best_single_place(read_tu(SHARED / "SYNTHETIC"))
    assert in_file_order > 2 * shuffled


def read_targets(folder, **options):
    """Read a dataset of graphs with one node each that has nothing but targets."""
    parts = {part: content for part, content in options.items() if part.startswith("graph")}
    lines = max(content.count(b"\n") for content in parts.values()) if parts else 1
    indicator = "".join(f"{graph + 1}\n" for graph in range(lines)).encode()
    files = {"S_A.txt": b"", "S_graph_indicator.txt": indicator}
    files |= {f"S_{part}.txt": content for part, content in parts.items()}
    if "names" in options:
        files["S_names.json"] = options["names"]
    return read_tu(write_folder(folder / "S", files), target=options.get("target"))


def test_graph_labels_are_classes(tmp_path):
    graphs = read_targets(tmp_path, graph_labels=b"-1\n1\n-1\n")
    assert graphs.y.tolist() == [0, 1, 0]
    assert graphs.classes == (-1, 1)


def test_graph_attributes_are_regression_targets(tmp_path):
    graphs = read_targets(tmp_path, graph_attributes=b"0.5, 1\n2, 3\n")
    assert graphs.y.tolist() == [[0.5, 1.0], [2.0, 3.0]]
    assert graphs.classes == ()


def test_graph_labels_are_preferred_unless_a_target_is_chosen(tmp_path):
    both = {"graph_attributes": b"0.5\n2\n", "graph_labels": b"3\n4\n"}
    assert read_targets(tmp_path / "one", **both).classes == (3, 4)
    assert read_targets(tmp_path / "two", **both, target="attributes").y.tolist() == [0.5, 2.0]


def test_with_names_the_labels_are_indices_of_classes(tmp_path):
    names = b'{"classes": ["cat", "dog", "owl"], "label_values": []}'
    graphs = read_targets(tmp_path / "one", graph_labels=b"2\n0\n", names=names)
    assert graphs.y.tolist() == [2, 0]
    assert graphs.classes == ("cat", "dog", "owl")
    with pytest.raises(DataError, match=r"S_graph_labels\.txt, line 2: names class 3"):
        read_targets(tmp_path / "two", graph_labels=b"2\n3\n", names=names)


@pytest.mark.parametrize(
    ("content", "target", "message"),
    [
        ({}, None, r"S: has no targets; it needs S_graph_labels\.txt or S_graph_attributes"),
        ({"graph_labels": b"1\n"}, "attributes", r"lacks the file S_graph_attributes\.txt"),
        ({"graph_labels": b""}, None, "is empty"),
        ({"graph_attributes": b"\n"}, None, "is empty"),
        ({"graph_labels": b"1\n2, 3\n"}, None, "line 2: has 2 column"),
        ({"graph_labels": b"1\ncat\n"}, None, "line 2: needs whole numbers, not 'cat'"),
    ],
)
def test_invalid_targets_are_named(content, target, message, tmp_path):
    with pytest.raises(DataError, match=message):
        read_targets(tmp_path, **content, target=target)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([[5, 7]], "column 0 of the node labels holds '9', not listed here"),
        ([[5, 7, 9], [1]], r"needs values for 1 column\(s\) of node labels, not 2"),
    ],
)
def test_labels_that_the_names_do_not_list_are_an_error(values, message, tmp_path):
    names = json.dumps({"classes": [-1, 0, 1], "label_values": values}).encode()
    files = {**FILES, "S_graph_labels.txt": b"0\n1\n2\n", "S_names.json": names}
    with pytest.raises(DataError, match=message):
        read_tu(write_folder(tmp_path / "S", files))
