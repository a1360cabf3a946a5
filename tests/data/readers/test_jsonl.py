import json
from contextlib import suppress

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lfds.data import DataError
from lfds.data.concat import concat
from lfds.data.readers.jsonl import convert_jsonl, read_jsonl, stream_jsonl
from lfds.data.validation import check_valid
from tests.data.graphs import edge_list

PATH = {"nodes": 3, "edges": [[0, 1], [1, 2]], "features": [[1.0], [0.5], [2]], "label": "path"}
DOT = {"features": [[3]], "label": "dot"}
NONE = {"nodes": 0, "features": [], "label": "dot"}


def write(path, *lines):
    path.write_text(
        "\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines)
    )
    return path


def test_each_line_is_a_graph(tmp_path):
    graphs = read_jsonl(write(tmp_path / "shapes.jsonl", PATH, "", DOT, NONE), seed=None)
    assert graphs.name == "shapes"
    assert graphs.sizes.tolist() == [3, 1, 0]
    assert edge_list(graphs) == [[(1, 0), (0, 1), (2, 1), (1, 2)], [], []]
    assert graphs.attributes.flatten().tolist() == [1.0, 0.5, 2.0, 3.0]
    assert graphs.classes == ("dot", "path")
    assert graphs.y.tolist() == [1, 0, 0]
    assert graphs.x.shape == (4, 0)


def test_a_directed_graph_keeps_its_directions(tmp_path):
    line = {"nodes": 2, "edges": [[0, 1]], "edge_features": [[7]], "directed": True}
    graphs = read_jsonl(write(tmp_path / "a.jsonl", line), seed=None)
    assert edge_list(graphs) == [[(0, 1)]]
    undirected = read_jsonl(write(tmp_path / "a.jsonl", {**line, "directed": False}), seed=None)
    assert undirected.edge_attributes.tolist() == [[7.0], [7.0]]


@pytest.mark.parametrize(
    ("label", "shape", "classes"),
    [(4, (1,), (4,)), (1.5, (1,), ()), ([1.0, 2.0], (1, 2), ()), (None, (1, 0), ())],
)
def test_labels_are_classes_or_regression_targets(label, shape, classes, tmp_path):
    graphs = read_jsonl(write(tmp_path / "a.jsonl", {"nodes": 1, "label": label}))
    assert graphs.y.shape == shape
    assert graphs.classes == classes


def test_nodes_are_shuffled_by_the_seed(tmp_path):
    line = {"features": [[number] for number in range(30)], "labels": list(range(30))}
    path = write(tmp_path / "a.jsonl", line)
    graphs = read_jsonl(path)
    assert graphs.labels.flatten().tolist() != list(range(30))
    assert graphs.labels.flatten().tolist() == graphs.attributes.flatten().tolist()
    assert graphs.equals(read_jsonl(path))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ({**PATH, "edges": [[0, 3]]}, "edges name node 3, but the nodes are 0 to 2"),
        ({**PATH, "edges": [[0, -1]]}, r"edges\.0\.1: Input should be greater than or equal to 0"),
        ({**PATH, "edges": [[0, 1, 2]]}, r"edges\.0"),
        ('{"nodes": 3', "Invalid JSON"),
        ("\x00\x01", "Invalid JSON"),
        ("[]", "should be an object"),
        (
            {**PATH, "featurs": []},
            "no key is called 'featurs'; did you mean 'features'. choose from nodes, edges, ",
        ),
        ({"edges": [[0, 1]]}, "has an unknown number of nodes"),
        (
            {"nodes": 10_000_000, "edges": [[0, 1]]},
            "announces 10,000,000 nodes with 1 edges, and at most 100,100 without features",
        ),
        ({**PATH, "features": [[1.0]]}, "features has 1 entries for 3 nodes"),
        ({**PATH, "features": [[1], [1, 2], [1]]}, "lists of different lengths"),
        ({**PATH, "features": [[1, 2]] * 3}, "features is of width 2, but of width 1 in line 1"),
        ('{"features": [[NaN]], "label": "a"}', "finite number"),
        ('{"features": [[1e400]], "label": "a"}', "features"),
        ({**PATH, "label": 10**20}, "label: a class needs an integer of 64 bits"),
        ({**PATH, "label": 3}, "label is an integer, but a name in line 1"),
        ({**PATH, "labels": [1, 2, 3]}, "labels is present, but absent in line 1"),
        ({**PATH, "edge_features": [[1]]}, "edge_features has 1 entries for 2 edges"),
        ({**PATH, "label": [1, "a"]}, r"needs a name, an integer, .*, not \"\[1, 'a'\]\""),
        ({**PATH, "label": None}, "label is absent, but a name in line 1"),
        ({"nodes": 10**12, "label": "a"}, "nodes: Input should be less than"),
        ({"nodes": True, "label": "a"}, "nodes: Input should be a valid integer"),
    ],
)
def test_invalid_content_is_named_by_line(line, message, tmp_path):
    path = write(tmp_path / "a.jsonl", PATH, line)
    with pytest.raises(DataError, match=message) as caught:
        read_jsonl(path)
    assert caught.value.line == 2
    assert str(caught.value).startswith(f"{path}, line 2: ")


@pytest.mark.parametrize("content", ["", "\n\n"])
def test_an_empty_file_is_refused(content, tmp_path):
    with pytest.raises(DataError, match="needs one graph per line"):
        read_jsonl(write(tmp_path / "a.jsonl", content))


def test_a_file_that_cannot_be_read_is_named(tmp_path):
    with pytest.raises(DataError, match="cannot be read"):
        read_jsonl(tmp_path)


TEXT = "\n".join(map(json.dumps, [PATH, {**PATH, "label": "b"}, DOT])).encode()


@given(place=st.integers(0, len(TEXT)), junk=st.binary(max_size=4), keep=st.booleans())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=400)
def test_damaged_lines_are_a_data_error_or_a_valid_set(place, junk, keep, tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(TEXT[:place] + junk + (TEXT[place:] if keep else TEXT[place + len(junk) :]))
    with suppress(DataError):
        read_jsonl(path).batch(slice(None))


@pytest.mark.parametrize("line", ['{"nodes": 1, "nodes": 2}', '{"nodes": 1, "node\\u0073": 2}'])
def test_a_key_that_occurs_twice_is_refused(tmp_path, line):
    (tmp_path / "g.jsonl").write_text(line + "\n")
    with pytest.raises(DataError, match=r"line 1: invalid JSON \(the key 'nodes' occurs twice"):
        read_jsonl(tmp_path / "g.jsonl")


def test_more_nodes_than_memory_can_hold_are_refused_before_it_is_requested(tmp_path, monkeypatch):
    monkeypatch.setenv("LFDS_MAX_MEMORY", "1GB")
    (tmp_path / "g.jsonl").write_text('{"nodes": 100000}\n' * 300)
    message = r"g.jsonl: 30,000,000 nodes .* at least 1 GB of memory, and 1 GB may be used"
    with pytest.raises(DataError, match=message):
        read_jsonl(tmp_path / "g.jsonl")
    with pytest.raises(DataError, match=message):
        list(stream_jsonl(tmp_path / "g.jsonl", size=300))


@pytest.mark.parametrize("seed", [None, 0])
def test_one_of_several_targets_may_be_missing(seed, tmp_path):
    lines = [{"nodes": 1, "label": label} for label in ([8.0, None], [None, 1], [None, None])]
    path = write(tmp_path / "a.jsonl", *lines)
    for graphs in (
        read_jsonl(path, seed=seed),
        concat([chunk.graphs for chunk in convert_jsonl(path, size=2)]),
    ):
        assert graphs.y.nan_to_num(-9).tolist() == [[8, -9], [-9, 1], [-9, -9]]
        assert graphs.known_targets.tolist() == [[True, False], [False, True], [False, False]]
        check_valid(graphs, source="y")


def test_a_single_target_is_not_missing(tmp_path):
    path = write(tmp_path / "a.jsonl", *({"nodes": 1, "label": label} for label in ([1.0], [None])))
    message = "line 2: label is the only target of the graph, and missing; leave that line out"
    with pytest.raises(DataError, match=message):
        read_jsonl(path)
    assert sum(len(chunk.graphs) for chunk in stream_jsonl(path, size=9)) == 2
