import subprocess
import sys

import pytest

from lfds.report.load import arrange, make_report
from lfds.report.run_spec import read_sources
from tests.report.runs import POOLS, make_settings, make_spec, record, records, write


def arranged(tmp_path, *runs):
    folders = [write(tmp_path / str(n), *run) for n, run in enumerate(runs)]
    found = arrange(read_sources(folders))
    places = [(one.protocol, one.row, one.column) for one in found]
    assert len(set(places)) == len(places), "two series in one cell"
    return {(one.row, one.column): one for one in found}


def test_one_cell_for_each_pooling_and_dataset(tmp_path):
    found = arranged(tmp_path, (records(), make_spec()))
    assert set(found) == {(pool, name) for pool in POOLS for name in ("ENZYMES", "MUTAG")}
    assert all(one.complete and one.wanted == 5 for one in found.values())


def test_requested_series_without_records_are_included(tmp_path):
    found = arranged(tmp_path, (records(["max"], ["ENZYMES"]), make_spec(seeds=2)))
    assert found["max", "ENZYMES"].missing == {1: [0, 1, 2, 3, 4]}
    assert found["loop", "ENZYMES"].missing == {0: [0, 1, 2, 3, 4], 1: [0, 1, 2, 3, 4]}
    assert not found["image", "MUTAG"].complete


def test_without_a_spec_all_poolings_need_the_same_seeds(tmp_path):
    some = [*records(["max"], ["A"], seeds=(0, 1)), *records(["loop"], ["A"])]
    found = arranged(tmp_path, (some,))
    assert found["max", "A"].complete
    assert found["loop", "A"].missing == {1: [0, 1, 2, 3, 4]}


def test_other_settings_are_another_row_named_by_the_difference(tmp_path):
    few = [record("loop", "A", fold, settings=make_settings("loop", slots=16)) for fold in range(5)]
    found = arranged(tmp_path, (records(["max", "loop"], ["A"]),), (few,))
    assert set(found) == {("max", "A"), ("loop (slots 64)", "A"), ("loop (slots 16)", "A")}
    assert all(one.complete for one in found.values())


def test_other_graphs_under_one_name_are_another_column(tmp_path):
    settings = make_settings("max", content="beefbeef")
    half = [record("max", "A", fold, settings=settings) for fold in range(5)]
    found = arranged(tmp_path, (records(["max"], ["A"]),), (half,))
    assert set(found) == {("max", "A #c0ffee"), ("max", "A #beefbe")}


def test_other_graphs_are_named_by_their_number_if_it_differs(tmp_path):
    settings = make_settings("max", content="beefbeef")
    half = [record("max", "A", fold, settings=settings, folds=2) for fold in range(2)]
    found = arranged(tmp_path, (records(["max"], ["A"]),), (half,))
    assert set(found) == {("max", "A (50 graphs)"), ("max", "A (20 graphs)")}


def test_spec_with_new_settings_is_a_row_beside_old_records(tmp_path):
    found = arranged(tmp_path, (records(["max"], ["A"]), make_spec(["max"], ["A"], epochs=99)))
    assert found["max", "A"].complete
    assert found["max (not started)", "A"].wanted == 5


def test_dataset_given_by_path_has_the_name_in_its_records(tmp_path):
    requested = make_spec(["max"], ["some/where/file.csv", "MUTAG"])
    found = arranged(tmp_path, (records(["max"], ["molecules"]), requested))
    assert set(found) == {("max", "molecules"), ("max", "MUTAG")}


def test_folds_of_two_runs_are_not_missing_in_either(tmp_path):
    first = (records(["max", "loop"], ["A"]), make_spec(["max", "loop"], ["A"]))
    second = (records(["loop", "image"], ["A"]), make_spec(["loop", "image"], ["A"]))
    found = arranged(tmp_path, first, second)
    assert set(found) == {("max", "A"), ("loop", "A"), ("image", "A")}
    assert all(one.complete and len(one.records) == 5 for one in found.values())


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_folds_finished_by_another_run_are_not_missing(tmp_path, order):
    requested = (records(["max"], ["A"]), make_spec(["max", "loop"], ["A"]))
    runs = [requested, (records(["loop"], ["A"]), make_spec(["loop"], ["A"]))]
    found = arranged(tmp_path, *(runs[place] for place in order))
    assert set(found) == {("max", "A"), ("loop", "A")}
    assert all(one.complete for one in found.values())


def test_requested_seeds_apply_to_series_of_another_run(tmp_path):
    requested = (records(["max"], ["A"], seeds=(0, 1)), make_spec(["max", "loop"], ["A"], seeds=2))
    found = arranged(tmp_path, requested, (records(["loop"], ["A"]), make_spec(["loop"], ["A"])))
    assert found["loop", "A"].missing == {1: [0, 1, 2, 3, 4]}


@pytest.mark.parametrize("other", [{"network": "paper"}, {"encoding": "auto"}, {"epochs": 9}])
def test_folds_of_another_run_with_other_settings_are_missing(tmp_path, other):
    requested = make_spec(["max", "loop"], ["A"], network="default", encoding={"labels": True})
    theirs = make_spec(["loop"], ["A"], network="default", encoding={"labels": True})
    epochs = other.get("epochs", 4)
    settings = make_settings("loop")
    settings["candidates"][0]["training"]["epochs"] = epochs
    done = [record("loop", "A", fold, settings=settings) for fold in range(5)]
    found = arranged(tmp_path, (records(["max"], ["A"]), requested), (done, theirs | other))
    assert found["loop (not started)", "A"].wanted == 5


def test_runs_of_several_datasets_and_epochs_are_columns_of_one_table(tmp_path):
    def run(dataset, epochs, protocol):
        settings = {pool: make_settings(pool, content=dataset) for pool in POOLS}
        for pool in POOLS:
            settings[pool]["candidates"][0]["training"]["epochs"] = epochs
        done = [
            record(pool, dataset, fold, settings=settings[pool], protocol=protocol)
            for pool in POOLS
            for fold in range(5)
        ]
        return done, make_spec(data=[dataset], epochs=epochs, protocol=protocol)

    runs = [run("A", 4, "paper"), run("B", 9, "paper"), run("C", 30, "paper")]
    found = arranged(tmp_path, *runs)
    assert set(found) == {(pool, name) for pool in POOLS for name in "ABC"}
    assert all(one.complete for one in found.values())


def test_run_given_twice_is_used_once(tmp_path):
    run = (records(["max", "loop"], ["A"]), make_spec(["max", "loop"], ["A"]))
    found = arranged(tmp_path, run, run)
    assert set(found) == {("max", "A"), ("loop", "A")}
    assert all(one.complete and one.wanted == 5 for one in found.values())


def test_seeds_of_another_run_are_not_expected(tmp_path):
    first = (records(["loop"], ["A"], seeds=(0, 1)),)
    second = (records(["max", "loop"], ["A"]),)
    found = arranged(tmp_path, first, second)
    assert found["max", "A"].seeds == {0}
    assert found["loop", "A"].seeds == {0, 1}


def test_protocols_are_separate_series(tmp_path):
    both = [*records(["max"], ["A"]), *records(["max"], ["A"], protocol="paper")]
    folder = write(tmp_path / "both", both)
    found = arrange(read_sources([folder]))
    assert [one.protocol for one in found] == ["fair", "paper"]


def test_runs_are_merged(tmp_path):
    first = write(tmp_path / "one", records(["max"]))
    second = write(tmp_path / "two", records(["loop"], protocol="paper"))
    made = make_report([first, str(second)])
    assert made.rules == ("fair", "last", "common-best", "fold-best")
    assert made.by("last").rows == ("loop",)
    assert len(made.records) == 20
    assert made.complete


@pytest.mark.parametrize("missing", [0, 7])
def test_report_with_a_missing_fold_is_incomplete(tmp_path, missing):
    some = records()
    del some[missing]
    assert not make_report([write(tmp_path / "run", some)]).complete


def test_reports_need_no_torch(tmp_path):
    folder = write(tmp_path / "run", records(["max"], ["A"]))
    code = (
        "import sys\nfrom lfds.cli import main\n"
        "try: main()\nexcept SystemExit as left: assert not left.code, left.code\n"
        "print('torch' in sys.modules, 'matplotlib' in sys.modules)"
    )
    shown = subprocess.run(
        [sys.executable, "-c", code, "report", folder], capture_output=True, text=True, check=True
    )
    assert shown.stdout.endswith("False True\n")
