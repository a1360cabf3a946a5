import pytest

from lfds.report.wish import Wish, read_wish
from lfds.results.errors import ResultsError
from tests.report.runs import record, wish


def test_what_was_asked_for_is_read(tmp_path):
    (tmp_path / "spec.json").write_text(
        '{"data": ["d/ENZYMES", "mine.jsonl"], "pools": ["max"], "protocol": "fair", "folds": 3, '
        '"seeds": 2, "seed": 4, "decay": "linear"}'
    )
    read = read_wish(tmp_path)
    assert read.datasets == ("ENZYMES", "mine")
    assert read.all_seeds == {4, 5}
    assert read.told["decay"] == "linear"


def test_no_file_is_no_wish(tmp_path):
    assert read_wish(tmp_path) is None


@pytest.mark.parametrize("content", ["", "[]", '{"data": ["A"]}', '{"folds": 0}', "\x00"])
def test_a_file_that_says_something_else_is_refused(tmp_path, content):
    (tmp_path / "spec.json").write_text(content)
    with pytest.raises(ResultsError, match=r"spec\.json: is not .* remove it"):
        read_wish(tmp_path)


def test_a_folder_in_its_place_is_refused(tmp_path):
    (tmp_path / "spec.json").mkdir()
    with pytest.raises(ResultsError, match="cannot be read"):
        read_wish(tmp_path)


@pytest.mark.parametrize(
    ("changes", "meant"),
    [
        ({}, True),
        ({"epochs": 5}, False),
        ({"folds": 6}, False),
        ({"protocol": "paper"}, False),
        ({"options": {"slots": 16}}, False),
        ({"options": {"slots": 64}}, True),
        ({"epochs": 5, "grid": {"epochs": [4, 5]}}, True),
    ],
)
def test_records_of_other_settings_are_not_meant(changes, meant):
    told = Wish.model_validate(wish() | changes)
    assert told.meant(record("max", "ENZYMES")) is meant


def test_records_that_do_not_say_are_meant():
    assert Wish.model_validate(wish()).meant(record("max", "ENZYMES", told={"content": "x"}))
