import json
import re
import sys

import pytest

from lfds.cli import main
from lfds.config.comparison import CompareSpec
from lfds.data.splits import save_splits, stratified_folds
from lfds.results.store import RECORDS, read_records
from tests.compare.small import graphs

SMALL = ["--folds", 2, "--epochs", 2, "--option", "width=8", "head-width=8", "slots=4"]


@pytest.fixture
def compare(monkeypatch, capsys, tmp_path):
    graphs().save(tmp_path / "rings")

    def run(*arguments):
        command = ["lfds", "compare", "--out", tmp_path / "run", "--root", tmp_path, *arguments]
        monkeypatch.setattr(sys, "argv", list(map(str, command)))
        with pytest.raises(SystemExit) as left:
            main()
        return left.value.code, *capsys.readouterr()

    monkeypatch.chdir(tmp_path)
    return run


def test_the_table_goes_to_standard_output_and_progress_does_not(compare):
    code, out, err = compare("--data", "rings", "--pool", "max", "loop", *SMALL)
    assert code == 0
    assert "rule fair" in out
    assert [line.split()[0] for line in out.splitlines()[2:4]] == ["max", "loop"]
    assert len(err.splitlines()) == 4
    again, same, err = compare("--data", "rings", "--pool", "max", "loop", *SMALL)
    assert (again, same) == (0, out)
    assert err == "lfds: 4 of 4 folds are already stored\n"


def test_json_prints_the_result_as_json(compare):
    _, out, _ = compare("--data", "rings", "--pool", "max", "--json", *SMALL)
    assert json.loads(out)["rules"]["fair"]["cells"][0]["done"] == 2


def test_options_override_the_file(compare, tmp_path):
    (tmp_path / "run.toml").write_text(
        'data = ["rings"]\npools = ["max"]\nepochs = 50\nfolds = 2\nprotocol = "paper"\n'
    )
    code, out, _ = compare("--spec", "run.toml", "--epochs", 1, "--json", "--encoding", "rwse")
    spec = json.loads(out)["spec"]
    assert (code, spec["epochs"], spec["protocol"]) == (0, 1, "paper")
    assert spec["encoding"]["structure"][0]["kind"] == "rwse"


def test_the_base_is_that_of_all_poolings_and_of_the_records(compare, tmp_path):
    code, _, _ = compare("--data", "rings", "--pool", "max", "loop", "--base", "gin", *SMALL)
    assert code == 0
    networks = [
        candidate["network"]
        for record in read_records(tmp_path / "run").records
        for candidate in record.settings["candidates"]
    ]
    assert [(one["pool"], one["base"]) for one in networks] == 2 * [("max", "gin")] + 2 * [
        ("loop", "gin")
    ]
    code, _, err = compare("--data", "rings", "--pool", "max", "--base", "gim", *SMALL)
    assert (code, err.count("\n")) == (2, 1)
    assert "no base is called 'gim'; did you mean 'gin'?" in err


def test_splits_are_read_from_files(compare, tmp_path):
    save_splits(stratified_folds([0, 1] * 6, folds=3, validation=0.2), "rings_splits.json")
    network = SMALL[2:]
    code, out, _ = compare("--data", "rings", "--pool", "max", "--splits", ".", "--json", *network)
    assert (code, json.loads(out)["spec"]["folds"]) == (0, 3)
    (tmp_path / "run.toml").write_text('splits = "."\n')
    again = compare("--spec", "run.toml", "--data", "rings", "--pool", "max", "--json", *network)
    assert again == (0, out, "lfds: 3 of 3 folds are already stored\n")
    records = read_records(tmp_path / "run").records
    assert {record.settings["splits"] for record in records} == {
        path.stem for path in (tmp_path / "run" / "splits").iterdir()
    }


def test_settings_of_the_network_may_be_text(compare):
    data = ["--data", "rings", "--pool", "loop", "--encoding", "auto"]
    _, out, _ = compare("--json", *data, *SMALL, "reduction=mass")
    spec = json.loads(out)["spec"]
    assert spec["options"]["reduction"] == "mass"
    assert spec["encoding"] == "auto"


def test_a_cluster_that_does_not_answer_is_refused(compare):
    pytest.importorskip("ray")
    code, _, err = compare("--data", "rings", "--pool", "max", *SMALL, "--ray", "127.0.0.1:1")
    assert code == 2
    assert err.splitlines()[-1].startswith("lfds: --ray: no cluster answers at '127.0.0.1:1'")


def test_learning_curves_are_written_for_tensorboard(compare, tmp_path):
    pytest.importorskip("tensorboard")
    code, _, _ = compare("--data", "rings", "--pool", "max", *SMALL, "--tensorboard", "board")
    assert code == 0
    assert len(list((tmp_path / "board" / "rings" / "max").iterdir())) == 2


def test_a_failed_fold_gives_exit_code_1(compare, monkeypatch):
    from lfds.compare import fold

    def broken(*_):
        raise ArithmeticError("on [purpose]")

    monkeypatch.setitem(fold.RUNS, "fair", broken)
    code, out, err = compare("--data", "rings", "--pool", "max", *SMALL)
    assert code == 1
    assert "2 of 2 folds failed" in out
    assert "ArithmeticError: on [purpose]" in out
    assert "Traceback" not in out + err


def test_an_interruption_says_how_to_resume(compare, monkeypatch):
    from lfds.compare import fold

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setitem(fold.RUNS, "fair", interrupted)
    code, out, err = compare("--data", "rings", "--pool", "max", *SMALL)
    assert (code, out) == (130, "")
    assert err == "lfds: stopped; the same command resumes the run\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--pool", "lop"], "did you mean 'loop'"),
        (["--data", "PROTEIN"], "did you mean 'PROTEINS'"),
        (["--data", "rings", "--pool", "max", "--folds", "7"], "use --folds 6 or fewer"),
        (["--data", "rings", "--folds", "0"], "--folds: Input should be greater"),
        (["--data", "rings", "--folds", "2", "--validation", "0.01"], "--validation 0.01 of the"),
        (["--keep", "last", "--protocol", "paper"], "--keep 'last' needs --protocol 'fair'"),
        (["--decay", "square"], "--decay: Input should be"),
        (["--weight-decay", "-1"], "--weight-decay: Input should be"),
        (["--encoding", "rwe"], "did you mean 'rwse'"),
        (["--option", "slots"], "--option: must be NAME=VALUE"),
        (["--option", "slts=4"], "did you mean 'slots'"),
        (["--spec", "nowhere.toml"], "cannot be read"),
        (
            ["--data", "rings", "--splits", "nowhere"],
            "--splits: must be random, scaffold, or a folder, a file or NAME=FILE that exists, not",
        ),
        (["--data", "rings", "--splits", "."], "rings_splits.json is not in . for rings"),
        (["--data", "rings", "--splits", ".", "--graphs", "8"], "or --graphs 8"),
        (["--preset", "papr"], "did you mean 'paper'"),
        (["--data", "rings", "--option", "width=10000000"], "width: 10000000 makes a network"),
    ],
)
def test_invalid_input_is_one_line_and_exit_code_2_and_leaves_no_trace(
    compare, arguments, message, tmp_path
):
    code, out, err = compare(*arguments)
    assert not (tmp_path / "run").exists()
    assert (code, out) == (2, "")
    assert message in err
    assert len(err.splitlines()) == 1


def test_an_unknown_option_gets_the_closest_one(compare):
    code, _, err = compare("--fold", "3")
    assert code == 2
    assert "--folds" in err


def test_a_folder_of_a_later_version_is_unchanged(compare, tmp_path):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / RECORDS).write_text('{"format": 2}\n')
    code, _, err = compare("--data", "rings", *SMALL)
    assert code == 2
    assert "format 2" in err
    assert [path.name for path in (tmp_path / "run").iterdir()] == [RECORDS]


def test_an_incomplete_last_record_is_reported(compare, tmp_path):
    arguments = ("--data", "rings", "--pool", "max", *SMALL)
    _, whole, _ = compare(*arguments)
    path = tmp_path / "run" / RECORDS
    path.write_bytes(path.read_bytes()[:-9])
    code, out, err = compare(*arguments)
    assert (code, out) == (0, whole)
    assert "the last record was incomplete" in err


@pytest.mark.parametrize("field", sorted(set(CompareSpec.model_fields) - {"grid"}))
def test_every_setting_is_an_option(compare, field):
    code, out, _ = compare("--help")
    flag = {"pools": "--pool", "options": "--option"}.get(field, f"--{field.replace('_', '-')}")
    assert code == 0
    assert flag in out.split()


def test_settings_of_training_reach_the_spec(compare):
    code, out, _ = compare(
        *("--data", "rings", "--pool", "max", "--json", *SMALL),
        *("--decay", "cosine", "--weight-decay", 0.01, "--averaging", 0.5),
        *("--final-learning-rate", 0.001, "--keep", "last"),
    )
    spec = json.loads(out)["spec"]
    assert code == 0
    assert (spec["decay"], spec["weight_decay"], spec["averaging"]) == ("cosine", 0.01, 0.5)
    assert (spec["final_learning_rate"], spec["keep"]) == (0.001, "last")


def test_datasets_have_to_be_named(compare, tmp_path):
    code, out, err = compare("--pool", "max", *SMALL)
    assert (code, out, len(err.splitlines())) == (2, "", 1)
    assert err.startswith("lfds: --data: name the datasets to compare on, as --data ENZYMES")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--base", "gi"], "--base: no base is called 'gi'; did you mean 'gin'?"),
        (["--option", "width=0"], "--option width: "),
        (["--option", "base=gat", "heads=5"], "use --option heads=1 or --option width=65"),
        (["--option", "widht=3"], "--option: no network has the option 'widht'"),
        (["--pool", "lop"], "--pool: no pooling is called 'lop'"),
        (["--encoding", "rws"], "--encoding: no encoding is called 'rws'"),
        (["--preset", "papr"], "--preset: no preset is called 'papr'"),
        (["--splits", "scaffold", "--graphs", 5], "--splits: needs all graphs of a dataset"),
    ],
)
def test_messages_name_flags(compare, arguments, message):
    code, out, err = compare("--data", "rings", *arguments)
    assert (code, out, len(err.splitlines())) == (2, "", 1)
    assert message in err
    assert not re.search(r"\b(pools|options|base|graphs|encoding)[=:]", err.replace("--", "__"))


def test_a_missing_file_is_no_unknown_dataset(compare, tmp_path):
    (tmp_path / "rings.jsonl").write_text("")
    code, _, err = compare("--data", "ring.jsonl", "--pool", "max")
    assert (code, err) == (
        2, "lfds: ring.jsonl: no such file or folder; did you mean 'rings.jsonl'?\n"
    )  # fmt: skip
    assert "nowhere/graphs: no such file" in compare("--data", "nowhere/graphs")[2]
    assert "no dataset is called 'RINGZ'" in compare("--data", "RINGZ")[2]


def test_a_baseline_is_a_row_that_is_resumed_and_reported(compare, tmp_path):
    code, out, err = compare("--data", "rings", "--pool", "max", "--baseline", *SMALL)
    assert (code, [line.split()[0] for line in out.splitlines()[2:4]]) == (
        0,
        ["max", "random-forest"],
    )
    assert re.search(r"random-forest seed 0 fold 1/2: fair [\d.]+ %\n", err)
    again, same, err = compare("--data", "rings", "--pool", "max", "random-forest", *SMALL)
    assert (again, same, err) == (0, out, "lfds: 4 of 4 folds are already stored\n")
    records = read_records(tmp_path / "run" / RECORDS).records
    (forest,) = {json.dumps(r.settings) for r in records if r.fold.pool == "random-forest"}
    assert json.loads(forest)["forest"]["trees"] == 500
    for record in records:
        assert ("forest" in record.settings) == (record.fold.pool == "random-forest")
    paper = ("--data", "rings", "--pool", "random-forest", "--protocol", "paper", "--folds", 2)
    code, out, err = compare(*paper, "--out", "other")
    assert (code, out.count("random-forest")) == (0, 3)
