import os

import pytest

from lfds.data.errors import DataError
from lfds.estimator.outputs import check_not_in_model, check_output


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("model/model.json", "folder/part/a.txt", "data.jsonl", "old.csv"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    (tmp_path / "soft.jsonl").symlink_to("data.jsonl")
    (tmp_path / "soft").symlink_to("folder")
    (tmp_path / "loop").symlink_to("loop")
    os.link("data.jsonl", "hard.jsonl")
    return tmp_path


def checked(here, out):
    data = [here / "data.jsonl", here / "soft", here / "is-not-there"]
    check_output(here.__class__(out), here / "model", data)


@pytest.mark.parametrize(
    "out", ["new.csv", "old.csv", "folder/new.csv", "new/deep.csv", "model2/x.csv", "loop"]
)
def test_files_that_are_new_or_no_input_may_be_written(out, here):
    checked(here, out)


@pytest.mark.parametrize(
    ("out", "message"),
    [
        ("data.jsonl", r"data.jsonl: is read, and would be overwritten; choose a file that is not"),
        ("./model/../data.jsonl", "is read, and would be overwritten"),
        ("soft.jsonl", "is read, and would be overwritten"),
        ("hard.jsonl", "is read, and would be overwritten"),
        ("folder/part/a.txt", r"is a file of .*soft, which is read"),
        ("soft/part/a.txt", r"is a file of .*soft, which is read"),
        ("model/model.json", r"is in the model folder .*model, .*choose another place"),
        ("model/new.csv", "is in the model folder"),
        ("model/new/deep.csv", "is in the model folder"),
        ("folder", "is a folder, where a file is to be written"),
    ],
)
def test_what_is_read_is_not_overwritten(out, message, here):
    with pytest.raises(DataError, match=message):
        checked(here, out)


def test_a_model_folder_holds_nothing_else(here):
    check_not_in_model(here / "figures", here / "model")
    check_not_in_model(here / "figures", here / "no-model")
    for inside in ("model", "model/figures"):
        with pytest.raises(DataError, match="is in the model folder"):
            check_not_in_model(here / inside, here / "model")
