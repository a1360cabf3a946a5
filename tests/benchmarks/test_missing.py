import shlex

from benchmarks.table1.missing import lacking, missing
from benchmarks.table1.rows import DATASETS, ROWS

from lfds.config.comparison import CompareSpec
from tests.benchmarks.runs import FOLDS, fair_run, one, paper_run, report_of
from tests.report.runs import record

ASKED = {"data": ["DD"], "pools": ["max", "loop"], "protocol": "paper", "folds": 3}


def commands(text):
    return [shlex.split(line) for line in text.splitlines() if line.startswith("lfds ")]


def value(command, option):
    rest = command[command.index(option) + 1 :]
    ends = [place for place, word in enumerate(rest) if word.startswith("--")]
    return rest[: ends[0]] if ends else rest


def test_begun_runs_go_on_from_their_records_and_keep_what_they_were_asked_for(tmp_path):
    some = [*paper_run(["max"], "DD"), *paper_run(["loop"], "DD")[:2]]
    text = missing(report_of(tmp_path, (some, ASKED)))
    first = commands(text)[2]
    assert "# paper, DD: loop 2 of 3 folds; sequence, learned-spatial" in text
    assert "gunzip -c results/run-0/records.jsonl.gz > runs/run-0/records.jsonl" in text
    assert value(first, "--spec") == ["results/run-0/spec.json"]
    assert value(first, "--pool") == list(ROWS)
    assert value(first, "--out") == ["runs/run-0"]


def test_what_a_run_was_asked_for_is_one_command_for_all_its_datasets(tmp_path):
    asked = ASKED | {"data": ["DD", "ENZYMES"], "pools": list(ROWS)}
    text = missing(report_of(tmp_path, (paper_run(ROWS[:9], "DD"), asked)))
    assert "# paper, ENZYMES: not run\n# paper, DD: topk not run\nmkdir -p runs/run-0" in text
    assert text.count("results/run-0/spec.json") == 1
    assert commands(text)[0] == shlex.split(
        "lfds compare --spec results/run-0/spec.json --root data --out runs/run-0"
    )


def test_what_was_never_begun_has_a_command_for_all_rows(tmp_path):
    text = missing(report_of(tmp_path, (paper_run(["max"], "MUTAG"),)))
    found = commands(text)
    assert len(found) == 2 * len(DATASETS)
    paper, fair = found[: len(DATASETS)], found[len(DATASETS) :]
    assert all(value(one_, "--preset") == ["paper"] for one_ in paper)
    assert value(paper[-1], "--data") == ["data/clouds"]
    assert [("--splits" in one_) for one_ in fair] == [True] * 3 + [False] * 5
    for one_ in found:
        # What is asked for is what lfds knows.
        CompareSpec(pools=tuple(value(one_, "--pool")))
        assert value(one_, "--pool") == list(ROWS)


def test_failed_folds_are_run_again(tmp_path):
    broken = record("max", "DD", protocol="paper", failed=True, folds=FOLDS)
    assert "--retry" in missing(report_of(tmp_path, ([broken],)))
    assert "--retry" not in missing(report_of(tmp_path / "b", ([one("max", "DD")],)))


def test_with_everything_there_nothing_is_missing(tmp_path):
    some = [r for name in DATASETS for r in paper_run(ROWS, name)]
    some += [r for name in DATASETS for r in fair_run(dict.fromkeys(ROWS, [0.5] * 3), name)]
    assert missing(report_of(tmp_path, (some,))).startswith("Nothing: every row is complete")


def test_a_row_complete_with_some_settings_and_not_with_others_is_lacking(tmp_path):
    made = report_of(tmp_path, ([*paper_run(["max"], "DD"), one("max", "DD", epochs=9)],))
    assert lacking(made.series, ["max"]) == ["max"]
    assert lacking(made.series[:1], ["max"]) == []
