import platform
from pathlib import Path

import numpy
import pytest
import torch

import lfds
from lfds.compare.task import versions
from lfds.results.record import Failure
from tests.compare.small import tasks_for


def test_the_key_depends_on_everything_that_determines_the_numbers(tmp_path):
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


def test_records_from_before_keep_could_be_chosen_have_the_same_key(tmp_path):
    named = [
        tasks_for(tmp_path, keep=keep)[0].settings["candidates"][0]["training"].get("keep")
        for keep in ("best", "last")
    ]
    assert named == [None, "last"]


def test_settings_of_slots_do_not_change_the_key_of_a_baseline(tmp_path):

    def key(pool, **options):
        return tasks_for(tmp_path, pools=[pool], options=options)[0].key

    before = {"readout": "max", "node_norm": False, "pooled_layers": "last"}
    assert key("max", **before) == key("max")
    assert key("loop", **before) != key("loop")
    assert key("loop", readout="max") != key("loop", **before)


@pytest.mark.parametrize(
    ("name", "before", "now"), [("node_norm", False, True), ("pooled_layers", "last", "all")]
)
def test_added_settings_are_left_out_at_their_earlier_values(tmp_path, name, before, now):
    settings = [
        tasks_for(tmp_path, pools=["loop"], options={name: value})[0].settings
        for value in (before, now)
    ]
    assert [one["candidates"][0]["network"].get(name) for one in settings] == [None, now]


def test_a_record_holds_fold_settings_and_versions(tmp_path):
    task = tasks_for(tmp_path)[0]
    record = task.record(Failure(reason="why"))
    assert (record.key, record.fold, record.outcome) == (task.key, task.fold, None)
    assert record.settings["candidates"][0]["training"]["epochs"] == 2
    assert "data" not in record.settings
    assert set(record.versions) >= {"lfds", "python", "torch"}


def test_the_epochs_of_all_candidates_are_added(tmp_path):
    assert tasks_for(tmp_path, grid={"epochs": [2, 5]})[0].epochs == 7


def test_absolute_paths_work_from_any_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    task = tasks_for(Path())[0]
    assert not task.data.is_absolute()
    absolute = task.with_absolute_paths()
    assert (absolute.data, absolute.splits_file, absolute.key) == (
        tmp_path / task.data,
        None,
        task.key,
    )
    given = task.model_copy(update={"splits_file": Path("s.json"), "splits": "hash"})
    assert given.with_absolute_paths().splits_file == tmp_path / "s.json"


def test_versions_are_those_of_the_imported_packages():
    found = versions()
    assert found["lfds"] == lfds.__version__
    assert found["python"] == platform.python_version()
    assert found["torch"].split("+")[0] == torch.__version__.split("+")[0]
    assert found["numpy"] == numpy.__version__
