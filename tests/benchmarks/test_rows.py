from benchmarks.table1.rows import DATASETS, ROWS, columns_of, row_names, settings_said, theirs

from tests.benchmarks.runs import FOLDS, fair_run, one, paper_run, report_of


def test_every_one_of_ours_stands_beside_a_number_of_the_paper():
    assert all(theirs(pool, dataset) for pool in ROWS for dataset in DATASETS)
    assert str(theirs("loop", "ENZYMES")) == "74.3 ± 3.8"
    assert theirs("loop", "MUTAG") is None
    assert theirs("gmt", "ENZYMES") is None


def test_the_three_synthetic_sets_share_a_column_of_the_paper_and_so_do_clouds():
    for pool in ROWS:
        assert theirs(pool, "SYNTHETIC") == theirs(pool, "SYNTHETICnew") == theirs(pool, "Synthie")
        assert theirs(pool, "pc-graphs") == theirs(pool, "clouds")


def test_all_datasets_are_there_and_what_the_paper_lacks_comes_last(tmp_path):
    made = report_of(tmp_path, ([*paper_run(["max"], "MUTAG"), *paper_run(["max"], "DD")],))
    columns = columns_of(made, "paper")
    assert list(columns) == [*DATASETS, "MUTAG"]
    assert [len(some) for some in columns.values()] == [0, 0, 1, 0, 0, 0, 0, 0, 1]
    assert all(not some for some in columns_of(made, "fair").values())


def test_rows_are_the_ten_and_then_ours_named_by_settings_where_these_differ(tmp_path):
    longer = [one("loop", "DD", fold, epochs=9) for fold in range(FOLDS)]
    made = report_of(tmp_path, ([*paper_run(["gmt", "loop"], "DD"), *longer],))
    rows = row_names(made.series)
    assert rows[:3] == ["max", "loop (epochs 3)", "loop (epochs 9)"]
    assert rows[-2:] == ["topk", "gmt"]


def test_settings_are_told_from_the_records(tmp_path):
    slower = [one("diff", "DD", fold, batch_size=8) for fold in range(FOLDS)]
    some = [*paper_run(["max", "loop"], "DD"), *slower]
    made = report_of(tmp_path, (some,), (fair_run({"max": [0.5] * 3}, "DD"),))
    paper, fair = columns_of(made, "paper")["DD"], columns_of(made, "fair")["DD"]
    assert settings_said(paper) == (
        "60 graphs, 3 folds, 1 seed (0), 3 epochs, batches of 32 (batches of 8 for diff)."
    )
    assert settings_said(fair) == "60 graphs, 3 folds, 1 seed (0), 3 epochs, batches of 32."
    assert settings_said([]) == "Not run."
