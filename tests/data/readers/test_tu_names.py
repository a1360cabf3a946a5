import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lfds.data import DataError
from lfds.data.readers.tu_files import RawFiles
from lfds.data.readers.tu_names import Names, check_values, read_names, write_names


def raw(text):
    return RawFiles("home", "S", {"names": text}, {"names": "S_names.json"})


@given(
    classes=st.lists(st.one_of(st.text(), st.integers())),
    values=st.lists(st.sets(st.integers(-(2**63), 2**63 - 1)).map(sorted)),
)
def test_names_read_back(classes, values):
    names = Names(tuple(classes), tuple(map(tuple, values)))
    assert read_names(raw(write_names(names).encode())) == names


def test_most_datasets_have_no_names():
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
def test_other_json_is_refused(entries):
    with pytest.raises(DataError, match=r"S_names\.json: .*needs"):
        read_names(raw(json.dumps(entries).encode()))


@pytest.mark.parametrize("text", [b"{", b"\xff", b"[" * 100_000])
def test_what_is_no_json_is_refused(text):
    with pytest.raises(DataError, match="cannot be read as JSON"):
        read_names(raw(text))


def test_labels_that_are_not_listed_are_refused():
    names = Names((), ((1, 2),))
    check_values(names, ((1,),), "S_names.json")
    with pytest.raises(DataError, match="column 0 of the node labels holds '3'"):
        check_values(names, ((1, 3),), "S_names.json")
    with pytest.raises(DataError, match=r"2 column\(s\) of node labels, not 1"):
        check_values(names, ((1,), (1,)), "S_names.json")
