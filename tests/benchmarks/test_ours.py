from benchmarks.table1.ours import ours

from tests.benchmarks.runs import paper_run, report_of
from tests.benchmarks.test_earlier import table_of


def test_a_cell_has_all_three_rules_and_only_what_was_run_is_shown(tmp_path):
    made = report_of(tmp_path, (paper_run(["max", "loop"], "DD", by=0.1),))
    table = table_of(ours(made, {}))
    assert list(table) == ["max", "loop"]
    assert table["max"] == {"pooling": "`max`", "DD": "20.0 / 63.3 / 66.7"}


def test_half_a_row_says_so_and_notes_come_last(tmp_path):
    text = ours(report_of(tmp_path, (paper_run(["max"], "DD")[:2],)), {"ours": "Better."})
    assert table_of(text)["max"]["DD"] == "2 of 3 folds"
    assert text.endswith("\n\nBetter.")
