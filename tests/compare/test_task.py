from pathlib import Path

import pytest

from lfds.results.record import Failure
from tests.compare.small import tasks_for


def test_the_key_is_made_of_what_decides_the_numbers(tmp_path):
    task = tasks_for(tmp_path)[0]
    moved = task.model_copy(update={"data": Path("elsewhere")})
    assert moved.key == task.key
    others = [
        tasks_for(tmp_path, **change)[0].key
        for change in (
            {"epochs": 3},
            {"pools": ["loop"]},
            {"protocol": "paper"},
            {"learning_rate": 0.1},
            {"seed": 1},
            {"encoding": {"labels": False}},
            {"options": {"width": 4}},
            {"graphs": 10, "validation": 0.2},
            {"validation": 0.3},
            {"grid": {"width": [8, 4]}},
            {"keep": "last"},
        )
    ]
    assert len({task.key, *others}) == 12


def test_that_the_best_epoch_is_kept_goes_without_saying(tmp_path):
    """Records from before there was another way keep their names."""
    told = [
        tasks_for(tmp_path, keep=keep)[0].settings["candidates"][0]["training"].get("keep")
        for keep in ("best", "last")
    ]
    assert told == [None, "last"]


def test_a_network_keeps_its_name_when_what_it_does_not_use_changes(tmp_path):
    """Records of a maximum from before slots were weighted are still those of a maximum."""

    def key(pool, **options):
        return tasks_for(tmp_path, pools=[pool], options=options)[0].key

    before = {"readout": "max", "node_norm": False, "pooled_layers": "last"}
    assert key("max", **before) == key("max")
    assert key("loop", **before) != key("loop")
    assert key("loop", readout="max") != key("loop", **before)


@pytest.mark.parametrize(
    ("name", "before", "now"), [("node_norm", False, True), ("pooled_layers", "last", "all")]
)
def test_networks_as_they_were_do_not_speak_of_what_came_later(tmp_path, name, before, now):
    told = [
        tasks_for(tmp_path, pools=["loop"], options={name: value})[0].settings
        for value in (before, now)
    ]
    assert [one["candidates"][0]["network"].get(name) for one in told] == [None, now]


def test_a_record_says_what_was_run(tmp_path):
    task = tasks_for(tmp_path)[0]
    record = task.record(Failure(reason="why"))
    assert (record.key, record.fold, record.outcome) == (task.key, task.fold, None)
    assert record.settings["candidates"][0]["training"]["epochs"] == 2
    assert "data" not in record.settings
    assert set(record.versions) >= {"lfds", "python", "torch"}


def test_the_epochs_of_all_candidates_count(tmp_path):
    assert tasks_for(tmp_path, grid={"epochs": [2, 5]})[0].epochs == 7


def test_a_task_finds_its_files_from_any_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    task = tasks_for(Path())[0]
    assert not task.data.is_absolute()
    home = task.at_home()
    assert (home.data, home.splits_file, home.key) == (tmp_path / task.data, None, task.key)
    given = task.model_copy(update={"splits_file": Path("s.json"), "splits": "hash"})
    assert given.at_home().splits_file == tmp_path / "s.json"
