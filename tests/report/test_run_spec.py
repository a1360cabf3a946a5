import pytest

from lfds.report.run_spec import RequestedRun, read_requested_run
from lfds.results.errors import ResultsError
from tests.report.runs import record, settings, wish


def test_what_was_asked_for_is_read(tmp_path):
    (tmp_path / "spec.json").write_text(
        '{"data": ["d/ENZYMES", "mine.jsonl"], "pools": ["max"], "protocol": "fair", "folds": 3, '
        '"seeds": 2, "seed": 4, "decay": "linear"}'
    )
    read = read_requested_run(tmp_path)
    assert read.datasets == ("ENZYMES", "mine")
    assert read.all_seeds == {4, 5}
    assert read.told["decay"] == "linear"


def test_no_file_is_no_wish(tmp_path):
    assert read_requested_run(tmp_path) is None


@pytest.mark.parametrize("content", ["", "[]", '{"data": ["A"]}', '{"folds": 0}', "\x00"])
def test_a_file_that_says_something_else_is_refused(tmp_path, content):
    (tmp_path / "spec.json").write_text(content)
    with pytest.raises(ResultsError, match=r"spec\.json: is not .* remove it"):
        read_requested_run(tmp_path)


def test_a_folder_in_its_place_is_refused(tmp_path):
    (tmp_path / "spec.json").mkdir()
    with pytest.raises(ResultsError, match="cannot be read"):
        read_requested_run(tmp_path)


@pytest.mark.parametrize(
    ("changes", "meant"),
    [
        ({}, True),
        ({"epochs": 5}, False),
        ({"averaging": 0.0}, True),
        ({"averaging": 0.8}, False),
        ({"keep": "best"}, True),
        ({"keep": "last"}, False),
        ({"folds": 6}, False),
        ({"protocol": "paper"}, False),
        ({"options": {"slots": 16}}, False),
        ({"options": {"slots": 64}}, True),
        ({"epochs": 5, "grid": {"epochs": [4, 5]}}, True),
        ({"validation": 0.1, "splits": []}, True),
        ({"validation": 0.2}, False),
        ({"splits": ["some/where"]}, False),
        ({"encoding": "auto"}, True),
        ({"encoding": {"labels": True}}, True),
        ({"encoding": {"labels": False}}, False),
    ],
)
def test_records_of_other_settings_are_not_meant(changes, meant):
    told = RequestedRun.model_validate(wish() | changes)
    found = settings("max") | {"encoding": {"labels": True}}
    assert told.meant(record("max", "ENZYMES", told=found)) is meant


def test_folds_from_files_have_no_share_for_validation():
    told = RequestedRun.model_validate(wish(splits=["some/where"], validation=0.3))
    assert told.meant(record("max", "A", told=settings("max") | {"splits": "5911"}))
    assert not told.meant(record("max", "A"))


def test_records_that_do_not_say_are_meant():
    assert RequestedRun.model_validate(wish()).meant(
        record("max", "ENZYMES", told={"content": "x"})
    )


@pytest.mark.parametrize(
    ("pool", "network", "options", "meant"),
    [
        ("max", {"readout": "max"}, {"readout": "max+weighted", "node_norm": True}, True),
        ("max", {"readout": "max"}, {"readout": "max+weighted", "slots": 9}, False),
        ("loop", {"readout": "max"}, {"readout": "max+weighted"}, False),
        ("loop", {}, {"node_norm": True}, False),
        ("loop", {}, {"node_norm": False}, True),
        ("loop", {}, {"pooled_layers": "all"}, False),
        ("loop", {}, {"pooled_layers": "last"}, True),
        ("max", {}, {"pooled_layers": "all"}, True),
        ("loop+image", {"node_norm": True}, {"node_norm": True}, True),
    ],
)
def test_options_of_slots_are_asked_of_poolings_that_have_some(pool, network, options, meant):
    told = RequestedRun.model_validate(wish(options=options))
    found = record(pool, "A", told=settings(pool, **network))
    assert told.meant(found) is meant
