import pytest

from lfds.data import DataError
from lfds.data.readers.tu_files import RawFiles
from lfds.data.readers.tu_targets import read_targets


def raw(**content):
    return RawFiles("home", "S", content, {part: f"S_{part}.txt" for part in content})


def test_labels_are_classes():
    y, classes = read_targets(raw(graph_labels=b"-1\n1\n-1\n"), None)
    assert y.tolist() == [0, 1, 0]
    assert classes == (-1, 1)


def test_attributes_are_regressed():
    y, classes = read_targets(raw(graph_attributes=b"0.5, 1\n2, 3\n"), None)
    assert y.tolist() == [[0.5, 1.0], [2.0, 3.0]]
    assert classes == ()


def test_where_both_are_there_the_labels_go_first_unless_asked():
    both = raw(graph_attributes=b"0.5\n2\n", graph_labels=b"3\n4\n")
    assert read_targets(both, None)[1] == (3, 4)
    assert read_targets(both, "attributes")[0].tolist() == [0.5, 2.0]


def test_names_make_labels_positions():
    names = b'{"classes": ["cat", "dog", "owl"], "label_values": []}'
    y, classes = read_targets(raw(graph_labels=b"2\n0\n", names=names), None)
    assert y.tolist() == [2, 0]
    assert classes == ("cat", "dog", "owl")
    with pytest.raises(DataError, match=r"S_graph_labels\.txt, line 2: names class 3"):
        read_targets(raw(graph_labels=b"2\n3\n", names=names), None)


@pytest.mark.parametrize(
    ("content", "kind", "message"),
    [
        ({}, None, r"home: has neither S_graph_labels\.txt nor S_graph_attributes\.txt"),
        ({"graph_labels": b"1\n"}, "attributes", r"lacks the file S_graph_attributes\.txt"),
        ({"graph_labels": b""}, None, "is empty"),
        ({"graph_attributes": b"\n"}, None, "is empty"),
        ({"graph_labels": b"1\n2, 3\n"}, None, "line 2: has 2 column"),
        ({"graph_labels": b"1\ncat\n"}, None, "line 2: needs whole numbers, not 'cat'"),
    ],
)
def test_what_is_wrong_is_named(content, kind, message):
    with pytest.raises(DataError, match=message):
        read_targets(raw(**content), kind)
