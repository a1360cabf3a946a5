"""Sets in parts on the command line: convert, encode, fit, predict, info."""

import io
import json
import os
import sys
from contextlib import redirect_stderr, redirect_stdout
from importlib import import_module

import pytest

from lfds.cli import main
from lfds.data.shards.sharded_set import ShardedGraphSet
from tests.data.shards.test_convert import write_jsonl


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("shards")
    write_jsonl(path / "d.jsonl", 40)
    return path


@pytest.fixture(scope="module")
def fitted(folder):
    run(folder, "data", "convert", "d.jsonl", "set", "--shards", "--graphs-per-shard", "16")
    run(folder, "fit", "set", "-o", "model", "--epochs", "1", "--option", "width=8")
    return folder


def run(folder, *arguments, code=0):
    """Run a command in a folder; return its output and its errors."""
    output, errors = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setattr(sys, "argv", ["lfds", *arguments])
        with redirect_stdout(output), redirect_stderr(errors), pytest.raises(SystemExit) as left:
            main()
    assert (left.value.code or 0) == code, errors.getvalue()
    return output.getvalue(), errors.getvalue()


def test_a_file_is_converted_fitted_and_predicted(fitted):
    assert len(ShardedGraphSet(fitted / "set").folder.manifest.parts) == 3
    assert "graphs" in run(fitted, "data", "info", "set")[0]
    run(fitted, "predict", "model", "set", "-o", "one.csv")
    _, said = run(fitted, "predict", "model", "set", "-o", "parts", "--workers", "2")
    assert "predictions for 40 graphs in parts" in said
    assert (fitted / "parts" / "part-000000.csv").read_text() == (fitted / "one.csv").read_text()
    before = os.stat(fitted / "parts" / "part-000000.csv").st_mtime_ns
    run(fitted, "predict", "model", "set", "-o", "parts", "--workers", "1")
    assert os.stat(fitted / "parts" / "part-000000.csv").st_mtime_ns == before


def test_a_stream_is_predicted_in_parts(fitted):
    pytest.importorskip("pyarrow")
    run(fitted, "predict", "model", "d.jsonl", "-o", "stream", "--format", "parquet")
    assert os.listdir(fitted / "stream").count("part-000000.parquet") == 1


def test_encodings_are_stored_once(fitted):
    _, first = run(fitted, "data", "encode", "set", "--encoding", "degree")
    assert "3 encodings of parts computed" in first
    _, again = run(fitted, "data", "encode", "set", "--encoding", "degree")
    assert "0 encodings of parts computed" in again


def test_without_shards_one_set_is_saved(folder):
    run(folder, "data", "convert", "d.jsonl", "saved")
    assert (folder / "saved" / "graphs.safetensors").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("data", "convert", "d.jsonl", "x", "--append"), "--append: is an option of sets in"),
        (
            ("data", "convert", "d.jsonl", "x", "--graphs-per-shard", "5"),
            "--graphs-per-shard: is an option of sets in parts; add --shards",
        ),
        (
            ("data", "convert", "d.jsonl", "x", "--shards", "--graphs-per-shard", "0"),
            "--graphs-per-shard: needs at least 1, not 0",
        ),
        (
            ("data", "convert", "d.jsonl", "x", "--shards", "--target", "y"),
            "--target: only .csv or .tsv files have this option",
        ),
        (("data", "convert", "nothing.jsonl", "x", "--shards"), "nothing.jsonl"),
        (("data", "convert", "set", "set/x", "--shards"), "set/x: is in the input set"),
        (("data", "convert", "set", "set/x"), "set/x: is in the input set"),
        (("data", "convert", "d.jsonl", "d.jsonl/x", "--shards"), "d.jsonl"),
        (("data", "encode", "d.jsonl", "--encoding", "rwse"), "d.jsonl"),
        (("data", "encode", "model", "--encoding", "rwse"), "model: is not a set in parts; make"),
        (("data", "encode", "set", "--encoding", "none"), "--encoding: needs a structural"),
        (("data", "encode", "set", "--encoding", "rwse", "--workers", "0"), "--workers: needs at"),
        (("predict", "model", "set", "--workers", "2"), "--out: parts need a folder"),
        (
            ("predict", "model", "set", "-o", "p", "--format", "xls"),
            "--format: no format is called",
        ),
        (
            ("predict", "model", "set", "-o", "set/p", "--workers", "1"),
            "is in the input set",
        ),
        (("predict", "model", "set", "-o", "model/p", "--workers", "1"), "is in the model folder"),
        (("predict", "model", "d.jsonl", "-o", "p", "--ray", "auto"), "convert IN OUT --shards"),
        (("predict", "model", "set", "-o", "p", "--ray", "127.0.0.1:1"), "no cluster answers"),
    ],
)
def test_mistakes_are_one_line(fitted, arguments, message):
    before = sorted(os.listdir(fitted))
    _, said = run(fitted, *arguments, code=2)
    (line,) = said.strip().splitlines()
    assert message in line
    left = set(os.listdir(fitted)) - set(before)
    assert left <= {"p"}  # a folder that a run would go on in


def test_another_model_in_the_folder_of_parts_is_refused(fitted):
    run(fitted, "predict", "model", "set", "-o", "mine", "--workers", "1")
    run(fitted, "fit", "set", "-o", "other", "--epochs", "1", "--option", "width=8", "--seed", "1")
    _, said = run(fitted, "predict", "other", "set", "-o", "mine", "--workers", "1", code=2)
    assert said.strip() == (
        f"lfds: {os.path.realpath(fitted / 'mine')}: holds predictions of another model; "
        f"choose a new folder"
    )
    assert json.loads((fitted / "mine" / "predictions.json").read_text())["file_format"] == "csv"


@pytest.mark.parametrize(
    ("module", "name", "arguments"),
    [
        ("lfds.data.shards.convert", "convert", "data convert d.jsonl new --shards"),
        ("lfds.data.encodings.sharded", "store_encodings", "data encode set --encoding rwse"),
        (
            "lfds.estimator.prediction_parts",
            "predict_parts",
            "predict model set -o new --workers 1",
        ),
    ],
)
def test_an_interrupt_says_that_the_same_command_goes_on(fitted, module, name, arguments):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(import_module(module), name, interrupted)
        _, said = run(fitted, *arguments.split(), code=130)
    assert said == "lfds: stopped; the same command goes on where it ended\n"


def test_only_terminals_get_progress_bars(fitted):
    _, said = run(fitted, "data", "convert", "d.jsonl", "quiet", "--shards")
    assert said == "40 graphs in 1 part in quiet\n"
    _, said = run(fitted, "predict", "model", "quiet", "-o", "quiet.parts", "--workers", "1")
    assert said == "predictions for 40 graphs in quiet.parts\n"


def test_a_link_to_nothing_yet_is_followed(fitted):
    (fitted / "link").symlink_to("behind")
    run(fitted, "data", "convert", "d.jsonl", "link", "--shards")
    assert ShardedGraphSet(fitted / "behind").num_nodes > 0
    assert (fitted / "link").is_symlink()
