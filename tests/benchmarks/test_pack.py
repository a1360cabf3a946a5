import pytest
from benchmarks.pack import main, pack

from lfds.report.report import make_report
from lfds.results.errors import ResultsError
from tests.benchmarks.runs import paper_run
from tests.report.runs import record, write

ASKED = {"data": ["A"], "pools": ["max"], "protocol": "fair", "folds": 5}


def test_a_packed_run_reports_the_same(tmp_path):
    run = write(tmp_path / "mine", paper_run(["max", "loop"]), ASKED)
    home = pack(run, tmp_path / "results")
    assert sorted(path.name for path in home.iterdir()) == ["records.jsonl.gz", "spec.json"]
    before, after = make_report([run]), make_report([home])
    assert after.records == before.records
    assert after.sources[0].wish == before.sources[0].wish
    assert after.standings[0].entries.keys() == before.standings[0].entries.keys()


def test_the_same_records_are_the_same_bytes(tmp_path):
    run = write(tmp_path / "mine", paper_run(["max"]), ASKED)
    first = (pack(run, tmp_path / "a") / "records.jsonl.gz").read_bytes()
    assert (pack(run, tmp_path / "b") / "records.jsonl.gz").read_bytes() == first


def test_of_each_fold_the_record_that_counts_is_kept(tmp_path):
    failed, good = record("max", "A", failed=True), record("max", "A")
    home = pack(write(tmp_path / "mine", [failed, good], ASKED), tmp_path / "results")
    assert make_report([home]).records == [good]


def test_half_a_folder_is_refused(tmp_path, capsys):
    with pytest.raises(ResultsError, match="no fold has come to an end"):
        pack(write(tmp_path / "empty", [], ASKED), tmp_path / "results")
    bare = write(tmp_path / "bare", paper_run(["max"]))
    assert main([str(bare), "--to", str(tmp_path / "results")]) == 2
    assert "says what the run was asked for" in capsys.readouterr().err
    assert not (tmp_path / "results").exists()


def test_the_command_says_how_large_it_is(tmp_path, capsys):
    run = write(tmp_path / "mine", paper_run(["max"]), ASKED)
    assert main([str(run), "--to", str(tmp_path / "results")]) == 0
    assert capsys.readouterr().out == f"{tmp_path / 'results' / 'mine'}: 0 kB\n"


def test_every_argument_is_explained(capsys):
    with pytest.raises(SystemExit):
        main(["--help"])
    out = " ".join(capsys.readouterr().out.split())
    for words in ("runs folders of runs", "where packed runs are kept"):
        assert words in out
