from benchmarks.table1.earlier import earlier

from tests.benchmarks.runs import paper_run, report_of


def table_of(text):
    lines = [line.strip("| ").split(" | ") for line in text.splitlines() if line[:1] == "|"]
    return {line[0].strip("`"): dict(zip(lines[0], line, strict=True)) for line in lines[2:]}


def test_a_cell_has_the_last_and_the_best_epochs(tmp_path):
    made = report_of(tmp_path, (paper_run(["max"], "DD", by=0.1),))
    table = table_of(earlier(made, {}))
    assert table["max"]["DD"] == "20.0 / 66.7"
    assert table["max"]["ENZYMES"] == table["loop"]["DD"] == "not run"
    assert len(table) == 10


def test_half_a_row_says_how_much_of_it_is_there(tmp_path):
    asked = {"data": ["DD"], "pools": ["max", "sort"], "protocol": "paper", "folds": 3}
    table = table_of(earlier(report_of(tmp_path, (paper_run(["max"], "DD")[:2], asked)), {}))
    assert table["max"]["DD"] == "2 of 3 folds"
    assert table["sort"]["DD"] == "not run"


def test_what_was_said_stands_above_how_many_cells_agree(tmp_path):
    text = earlier(report_of(tmp_path, (paper_run(["max"]),)), {"earlier": "No norms."})
    assert "\nNo norms.\nOf 80 cells beside one of the paper's, 1 are run in full" in text
