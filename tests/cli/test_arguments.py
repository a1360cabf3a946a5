"""Commands do not overwrite their inputs, and print warnings as single lines."""

import os
import warnings
from pathlib import Path

import pytest

from lfds.cli.options import check_not_in_model, check_output, print_warnings
from lfds.data.errors import DataError
from tests.cli.sources import write_source
from tests.estimator.small import classifier


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("model/model.json", "folder/part/a.txt", "data.jsonl", "old.csv"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    (tmp_path / "soft.jsonl").symlink_to("data.jsonl")
    (tmp_path / "soft").symlink_to("folder")
    (tmp_path / "loop").symlink_to("loop")
    os.link("data.jsonl", "hard.jsonl")
    return tmp_path


def check(folder, out):
    data = [folder / "data.jsonl", folder / "soft", folder / "is-not-there"]
    check_output(Path(out), folder / "model", data)


@pytest.mark.parametrize(
    "out", ["new.csv", "old.csv", "folder/new.csv", "new/deep.csv", "model2/x.csv", "loop"]
)
def test_new_files_and_files_that_are_no_inputs_may_be_written(out, folder):
    check(folder, out)


@pytest.mark.parametrize(
    ("out", "message"),
    [
        ("data.jsonl", r"data.jsonl: is an input and would be overwritten; choose a new file"),
        ("./model/../data.jsonl", "is an input and would be overwritten"),
        ("soft.jsonl", "is an input and would be overwritten"),
        ("hard.jsonl", "is an input and would be overwritten"),
        ("folder/part/a.txt", r"is part of the input .*soft and would be"),
        ("soft/part/a.txt", r"is part of the input .*soft and would be"),
        ("model/model.json", r"is in the model folder .*model, .*choose another place"),
        ("model/new.csv", "is in the model folder"),
        ("model/new/deep.csv", "is in the model folder"),
        ("folder", "is a folder, but a file is to be written"),
    ],
)
def test_inputs_are_not_overwritten(out, message, folder):
    with pytest.raises(DataError, match=message):
        check(folder, out)


def test_a_model_folder_holds_nothing_else(folder):
    check_not_in_model(folder / "figures", folder / "model")
    check_not_in_model(folder / "figures", folder / "no-model")
    for inside in ("model", "model/figures"):
        with pytest.raises(DataError, match="is in the model folder"):
            check_not_in_model(folder / inside, folder / "model")


@pytest.mark.parametrize(
    "arguments",
    [
        ["predict", "model", "data.jsonl", "-o", "data.jsonl"],
        ["predict", "model", "data.jsonl", "-o", "model/model.json"],
        ["predict", "model", "tu", "-o", "tu/tu_A.txt"],
        ["predict", "model", "NAMED", "--root", ".", "-o", "NAMED/NAMED_A.txt"],
        ["export", "model", "--onnx", "model/weights.safetensors"],
        ["export", "model", "--onnx", "data.jsonl", "--check", "data.jsonl"],
        ["explain", "model", "data.jsonl", "-o", "data.jsonl"],
        ["explain", "model", "data.jsonl", "-o", "model/atlas.html"],
        ["explain", "model", "data.jsonl", "-o", "a.html", "--figures", "model"],
    ],
)
def test_no_command_overwrites_its_inputs(arguments, lfds, tmp_path, monkeypatch):
    write_source(tmp_path, "jsonl")
    classifier().save("model")
    for name in ("tu", "NAMED"):
        (tmp_path / name).mkdir()
        (tmp_path / name / f"{name}_A.txt").write_text("1, 2")
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    monkeypatch.setattr("lfds.estimator.persistence.load_model", lambda _: pytest.fail("too late"))
    code, out, err = lfds(*arguments)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "input" in err or "in the model folder" in err
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_the_first_warning_of_a_category_is_printed_as_one_line(capsys):
    with print_warnings():
        for message in ("first\nof all", "second"):
            warnings.warn(message, UserWarning, stacklevel=1)
    assert capsys.readouterr().err == "lfds: warning: first of all\n"
    with pytest.warns(UserWarning, match="later"):  # the filters are restored
        warnings.warn("later", UserWarning, stacklevel=1)
