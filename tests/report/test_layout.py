import pytest

from lfds.report.layout import lay_out
from lfds.report.load import read_sources
from tests.report.runs import POOLS, record, records, settings, wish, write


def laid_out(tmp_path, *runs):
    folders = [write(tmp_path / str(n), *run) for n, run in enumerate(runs)]
    found = lay_out(read_sources(folders))
    places = [(one.protocol, one.row, one.column) for one in found]
    assert len(set(places)) == len(places), "two runs share one cell"
    return {(one.row, one.column): one for one in found}


def test_one_cell_for_each_pooling_and_dataset(tmp_path):
    found = laid_out(tmp_path, (records(), wish()))
    assert set(found) == {(pool, name) for pool in POOLS for name in ("ENZYMES", "MUTAG")}
    assert all(one.complete and one.wanted == 5 for one in found.values())


def test_what_was_asked_for_and_never_begun_is_there(tmp_path):
    found = laid_out(tmp_path, (records(["max"], ["ENZYMES"]), wish(seeds=2)))
    assert found["max", "ENZYMES"].missing == {1: [0, 1, 2, 3, 4]}
    assert found["loop", "ENZYMES"].missing == {0: [0, 1, 2, 3, 4], 1: [0, 1, 2, 3, 4]}
    assert not found["image", "MUTAG"].complete


def test_without_a_wish_poolings_need_the_seeds_of_their_neighbours(tmp_path):
    some = [*records(["max"], ["A"], seeds=(0, 1)), *records(["loop"], ["A"])]
    found = laid_out(tmp_path, (some,))
    assert found["max", "A"].complete
    assert found["loop", "A"].missing == {1: [0, 1, 2, 3, 4]}


def test_other_settings_are_another_row_named_by_what_differs(tmp_path):
    few = [record("loop", "A", fold, told=settings("loop", slots=16)) for fold in range(5)]
    found = laid_out(tmp_path, (records(["max", "loop"], ["A"]),), (few,))
    assert set(found) == {("max", "A"), ("loop (slots 64)", "A"), ("loop (slots 16)", "A")}
    assert all(one.complete for one in found.values())


def test_other_graphs_under_one_name_are_another_column(tmp_path):
    told = settings("max", content="beefbeef")
    half = [record("max", "A", fold, told=told) for fold in range(5)]
    found = laid_out(tmp_path, (records(["max"], ["A"]),), (half,))
    assert set(found) == {("max", "A #c0ffee"), ("max", "A #beefbe")}


def test_other_graphs_are_told_by_their_number_where_that_differs(tmp_path):
    told = settings("max", content="beefbeef")
    half = [record("max", "A", fold, told=told, folds=2) for fold in range(2)]
    found = laid_out(tmp_path, (records(["max"], ["A"]),), (half,))
    assert set(found) == {("max", "A (50 graphs)"), ("max", "A (20 graphs)")}


def test_a_wish_with_new_settings_does_not_hide_behind_old_records(tmp_path):
    found = laid_out(tmp_path, (records(["max"], ["A"]), wish(["max"], ["A"], epochs=99)))
    assert found["max", "A"].complete
    assert found["max (not begun)", "A"].wanted == 5


def test_a_dataset_given_by_a_path_is_known_by_the_name_in_its_records(tmp_path):
    asked = wish(["max"], ["some/where/file.csv", "MUTAG"])
    found = laid_out(tmp_path, (records(["max"], ["molecules"]), asked))
    assert set(found) == {("max", "molecules"), ("max", "MUTAG")}


def test_folds_that_two_runs_share_are_begun_in_both(tmp_path):
    first = (records(["max", "loop"], ["A"]), wish(["max", "loop"], ["A"]))
    second = (records(["loop", "image"], ["A"]), wish(["loop", "image"], ["A"]))
    found = laid_out(tmp_path, first, second)
    assert set(found) == {("max", "A"), ("loop", "A"), ("image", "A")}
    assert all(one.complete and len(one.records) == 5 for one in found.values())


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_what_another_run_has_done_is_not_called_not_begun(tmp_path, order):
    asked = (records(["max"], ["A"]), wish(["max", "loop"], ["A"]))
    runs = [asked, (records(["loop"], ["A"]), wish(["loop"], ["A"]))]
    found = laid_out(tmp_path, *(runs[place] for place in order))
    assert set(found) == {("max", "A"), ("loop", "A")}
    assert all(one.complete for one in found.values())


def test_a_run_asks_its_seeds_of_what_another_has_begun(tmp_path):
    asked = (records(["max"], ["A"], seeds=(0, 1)), wish(["max", "loop"], ["A"], seeds=2))
    found = laid_out(tmp_path, asked, (records(["loop"], ["A"]), wish(["loop"], ["A"])))
    assert found["loop", "A"].missing == {1: [0, 1, 2, 3, 4]}


@pytest.mark.parametrize("other", [{"network": "paper"}, {"encoding": "auto"}, {"epochs": 9}])
def test_what_another_run_has_done_otherwise_is_still_to_do(tmp_path, other):
    asked = wish(["max", "loop"], ["A"], network="default", encoding={"labels": True})
    theirs = wish(["loop"], ["A"], network="default", encoding={"labels": True})
    epochs = other.get("epochs", 4)
    told = settings("loop")
    told["candidates"][0]["training"]["epochs"] = epochs
    done = [record("loop", "A", fold, told=told) for fold in range(5)]
    found = laid_out(tmp_path, (records(["max"], ["A"]), asked), (done, theirs | other))
    assert found["loop (not begun)", "A"].wanted == 5


def test_runs_of_several_datasets_and_epochs_are_columns_of_one_table(tmp_path):
    def run(dataset, epochs, protocol):
        told = {pool: settings(pool, content=dataset) for pool in POOLS}
        for pool in POOLS:
            told[pool]["candidates"][0]["training"]["epochs"] = epochs
        done = [
            record(pool, dataset, fold, told=told[pool], protocol=protocol)
            for pool in POOLS
            for fold in range(5)
        ]
        return done, wish(data=[dataset], epochs=epochs, protocol=protocol)

    runs = [run("A", 4, "paper"), run("B", 9, "paper"), run("C", 30, "paper")]
    found = laid_out(tmp_path, *runs)
    assert set(found) == {(pool, name) for pool in POOLS for name in "ABC"}
    assert all(one.complete for one in found.values())


def test_a_run_given_twice_counts_once(tmp_path):
    run = (records(["max", "loop"], ["A"]), wish(["max", "loop"], ["A"]))
    found = laid_out(tmp_path, run, run)
    assert set(found) == {("max", "A"), ("loop", "A")}
    assert all(one.complete and one.wanted == 5 for one in found.values())


def test_a_run_does_not_want_the_seeds_of_another(tmp_path):
    first = (records(["loop"], ["A"], seeds=(0, 1)),)
    second = (records(["max", "loop"], ["A"]),)
    found = laid_out(tmp_path, first, second)
    assert found["max", "A"].seeds == {0}
    assert found["loop", "A"].seeds == {0, 1}


def test_protocols_are_laid_out_apart(tmp_path):
    both = [*records(["max"], ["A"]), *records(["max"], ["A"], protocol="paper")]
    folder = write(tmp_path / "both", both)
    found = lay_out(read_sources([folder]))
    assert [one.protocol for one in found] == ["fair", "paper"]
