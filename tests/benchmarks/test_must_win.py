"""The table of docs/must-win.md is that of the packed records, each row of its own network."""

from benchmarks.must_win import (
    COUNTS,
    DEFAULTS,
    EXTRA_ROWS,
    PAGE,
    SUMS,
    packed,
    row_of,
    specs,
    table_for,
)

from lfds.nn import NetworkSettings


def test_the_page_shows_the_packed_records():
    written = f"<!-- must-win: begin -->\n{table_for(packed())}\n<!-- must-win: end -->"
    assert written in PAGE.read_text()


def test_every_row_has_all_its_folds_once():
    requested = specs()
    rows = [row_of(record) for record in packed()]
    sets, folds = len(requested[""].data), requested[""].folds
    assert {row: rows.count(row) for row in {*rows}} == {
        row: sets * folds for row in (*requested[""].pools, *EXTRA_ROWS)
    }


def test_the_last_rows_are_the_default_configuration():
    requested = specs()
    for row, pool in DEFAULTS.items():
        assert requested[row].network_for(pool) == NetworkSettings(pool=pool)
    for row in (SUMS, COUNTS):
        assert requested[row].network_for("loop").pooled_layers == "last"
