import json
import sys

import pytest

from lfds.cli import main
from lfds.cli.compare import spread
from lfds.data.splits import save_splits, stratified_folds
from lfds.results.store import RECORDS, read_records
from tests.compare.small import graphs

SMALL = ["--folds", 2, "--epochs", 2, "--option", "width=8", "head-width=8", "slots=4"]


@pytest.fixture
def compare(monkeypatch, capsys, tmp_path):
    graphs().save(tmp_path / "rings")

    def run(*arguments):
        told = ["lfds", "compare", "--out", tmp_path / "run", "--root", tmp_path, *arguments]
        monkeypatch.setattr(sys, "argv", list(map(str, told)))
        with pytest.raises(SystemExit) as left:
            main()
        return left.value.code, *capsys.readouterr()

    monkeypatch.chdir(tmp_path)
    return run


def test_the_table_ends_on_standard_output_and_the_rest_does_not(compare):
    code, out, err = compare("--data", "rings", "--pool", "max", "loop", *SMALL)
    assert code == 0
    assert "rule fair" in out
    assert [line.split()[0] for line in out.splitlines()[2:4]] == ["max", "loop"]
    assert len(err.splitlines()) == 4
    again, same, err = compare("--data", "rings", "--pool", "max", "loop", *SMALL)
    assert (again, same) == (0, out)
    assert err == "lfds: 4 of 4 folds are there already\n"


def test_as_json_it_is_json(compare):
    _, out, _ = compare("--data", "rings", "--pool", "max", "--json", *SMALL)
    assert json.loads(out)["rules"]["fair"]["cells"][0]["done"] == 2


def test_a_file_is_overruled_by_the_options_beside_it(compare, tmp_path):
    (tmp_path / "run.toml").write_text(
        'data = ["rings"]\npools = ["max"]\nepochs = 50\nfolds = 2\nprotocol = "paper"\n'
    )
    code, out, _ = compare("--spec", "run.toml", "--epochs", 1, "--json", "--encoding", "rwse")
    spec = json.loads(out)["spec"]
    assert (code, spec["epochs"], spec["protocol"]) == (0, 1, "paper")
    assert spec["encoding"]["structure"][0]["kind"] == "rwse"


def test_folds_come_from_files_where_they_are_given(compare, tmp_path):
    save_splits(stratified_folds([0, 1] * 6, folds=3, validation=0.2), "rings_splits.json")
    network = SMALL[2:]
    code, out, _ = compare("--data", "rings", "--pool", "max", "--splits", ".", "--json", *network)
    assert (code, json.loads(out)["spec"]["folds"]) == (0, 3)
    (tmp_path / "run.toml").write_text('splits = "."\n')
    again = compare("--spec", "run.toml", "--data", "rings", "--pool", "max", "--json", *network)
    assert again == (0, out, "lfds: 3 of 3 folds are there already\n")
    records = read_records(tmp_path / "run").records
    assert {record.settings["splits"] for record in records} == {
        path.stem for path in (tmp_path / "run" / "splits").iterdir()
    }


def test_settings_of_the_network_may_be_words(compare):
    _, out, _ = compare(
        "--data",
        "rings",
        "--pool",
        "loop",
        "--json",
        "--encoding",
        "auto",
        *SMALL,
        "reduction=mass",
    )
    spec = json.loads(out)["spec"]
    assert spec["options"]["reduction"] == "mass"
    assert spec["encoding"] == "auto"


def test_a_cluster_that_does_not_answer_is_said(compare):
    pytest.importorskip("ray")
    code, _, err = compare("--data", "rings", "--pool", "max", *SMALL, "--ray", "127.0.0.1:1")
    assert code == 2
    assert "no cluster answers" in err.splitlines()[-1]


def test_a_failed_fold_ends_in_exit_code_1(compare, monkeypatch):
    from lfds.compare import fold

    def broken(*_):
        raise ArithmeticError("on [purpose]")

    monkeypatch.setitem(fold.RUNS, "fair", broken)
    code, out, err = compare("--data", "rings", "--pool", "max", *SMALL)
    assert code == 1
    assert "2 of 2 folds failed" in out
    assert "ArithmeticError: on [purpose]" in out
    assert "Traceback" not in out + err


def test_an_interruption_says_how_to_go_on(compare, monkeypatch):
    from lfds.compare import fold

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setitem(fold.RUNS, "fair", interrupted)
    code, out, err = compare("--data", "rings", "--pool", "max", *SMALL)
    assert (code, out) == (130, "")
    assert err == "lfds: stopped; the same command goes on from here\n"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--pool", "lop"], "did you mean 'loop'"),
        (["--data", "PROTEIN"], "did you mean 'PROTEINS'"),
        (["--data", "rings", "--pool", "max", "--folds", "7"], "use --folds 6 or fewer"),
        (["--data", "rings", "--folds", "0"], "folds"),
        (["--encoding", "rwe"], "did you mean 'rwse'"),
        (["--option", "slots"], "NAME=VALUE"),
        (["--option", "slts=4"], "did you mean 'slots'"),
        (["--spec", "nowhere.toml"], "cannot be read"),
        (["--data", "rings", "--splits", "nowhere"], "needs a folder, or NAME=FILE"),
        (["--data", "rings", "--splits", "."], "rings_splits.json is not in . for rings"),
        (["--data", "rings", "--splits", ".", "--graphs", "8"], "leave out graphs, or splits"),
        (["--preset", "papr"], "did you mean 'paper'"),
        (["--data", "rings", "--option", "width=10000000"], "width: 10000000 makes a network"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2_and_leaves_no_trace(
    compare, arguments, said, tmp_path
):
    code, out, err = compare(*arguments)
    assert not (tmp_path / "run").exists()
    assert (code, out) == (2, "")
    assert said in err
    assert len(err.splitlines()) == 1


def test_an_unknown_option_is_answered_with_the_nearest(compare):
    code, _, err = compare("--fold", "3")
    assert code == 2
    assert "--folds" in err


def test_a_folder_of_another_version_is_left_as_it_is(compare, tmp_path):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / RECORDS).write_text('{"format": 2}\n')
    code, _, err = compare("--data", "rings", *SMALL)
    assert code == 2
    assert "format 2" in err
    assert [path.name for path in (tmp_path / "run").iterdir()] == [RECORDS]


def test_a_torn_last_line_is_told(compare, tmp_path):
    arguments = ("--data", "rings", "--pool", "max", *SMALL)
    _, whole, _ = compare(*arguments)
    path = tmp_path / "run" / RECORDS
    path.write_bytes(path.read_bytes()[:-9])
    code, out, err = compare(*arguments)
    assert (code, out) == (0, whole)
    assert "torn" in err


def test_values_are_spread_over_their_option_and_no_other():
    assert spread(["--data", "A", "B", "--json", "--pool", "max"]) == [
        "--data", "A", "--data", "B", "--json", "--pool", "max",
    ]  # fmt: skip
    assert spread(["--data=A", "--workers", "2"]) == ["--data=A", "--workers", "2"]
