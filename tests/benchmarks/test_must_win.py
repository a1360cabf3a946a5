"""The table of what must fail is of the records that are kept, each row of its own network."""

from benchmarks.must_win import COUNTS, DEFAULT, MORE, PAGE, SUMS, kept, row_of, specs, table_for

from lfds.nn import NetworkSettings


def test_the_page_is_of_the_records_that_are_kept():
    assert f"<!-- table -->\n{table_for(kept())}\n<!-- end -->" in PAGE.read_text()


def test_every_row_has_all_its_folds_once():
    asked = specs()
    told = [row_of(record) for record in kept()]
    sets, folds = len(asked[""].data), asked[""].folds
    assert {row: told.count(row) for row in {*told}} == {
        row: sets * folds for row in (*asked[""].pools, *MORE)
    }


def test_the_last_row_is_the_library_as_it_comes():
    asked = specs()
    assert asked[DEFAULT].network_for("loop") == NetworkSettings(pool="loop")
    for row in (SUMS, COUNTS):
        assert asked[row].network_for("loop").pooled_layers == "last"
