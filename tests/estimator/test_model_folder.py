import hashlib
import json
import os
import re

import numpy as np
import pytest

import lfds
from lfds.data.errors import DataError
from lfds.estimator.model_folder import CARD, ENCODER, WEIGHTS, check_replaceable
from tests.estimator.small import classifier, graphs

FILES = (CARD, WEIGHTS, ENCODER)


@pytest.fixture
def folder(tmp_path):
    classifier().save(tmp_path / "model")
    return tmp_path / "model"


def test_a_folder_holds_numbers_and_json_and_nothing_else(folder):
    assert sorted(entry.name for entry in folder.iterdir()) == sorted(FILES)
    head = json.loads((folder / CARD).read_text())
    assert (head["format"], head["version"]) == ("lfds model", 1)
    assert head["model"]["meaning"]["names"] == ["path", "ring"]
    assert head["model"]["training_data"]["graphs"] == 24
    assert (
        head["model"]["files"][WEIGHTS]
        == hashlib.sha256((folder / WEIGHTS).read_bytes()).hexdigest()
    )


@pytest.mark.parametrize("name", FILES)
def test_a_missing_file_is_named(folder, name):
    (folder / name).unlink()
    # From its beginning: the message was once wrapped in another one about JSON.
    file = re.escape(str(folder / name))
    with pytest.raises(DataError, match=f"^{file}: is missing; copy or save the model again$"):
        lfds.load(folder)


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("kept", [0, 0.5, 0.999])
def test_a_truncated_file_is_refused(folder, name, kept):
    content = (folder / name).read_bytes()
    (folder / name).write_bytes(content[: int(kept * len(content))])
    with pytest.raises(DataError, match=name) as caught:
        lfds.load(folder)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", [WEIGHTS, ENCODER])
def test_a_changed_byte_is_noticed(folder, name):
    content = bytearray((folder / name).read_bytes())
    content[-5] ^= 1
    (folder / name).write_bytes(content)
    with pytest.raises(DataError, match=f"{name}: is not what was saved: its checksum differs"):
        lfds.load(folder)


@pytest.mark.parametrize("what", ["nowhere", "file", "empty"])
def test_what_is_no_model_says_so(what, tmp_path):
    (tmp_path / "file").write_text("x")
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match=r"is no model|is missing"):
        lfds.load(tmp_path / what)


def test_a_model_replaces_a_model_and_nothing_else(folder, tmp_path):
    check_replaceable(folder)
    classifier().save(folder)
    (folder / "notes.txt").write_text("mine")
    for use in (check_replaceable, classifier().save):
        with pytest.raises(DataError, match=r"holds other files, such as 'notes.txt'"):
            use(folder)
    assert (folder / "notes.txt").read_text() == "mine"
    assert np.isfinite(lfds.load(folder).predict_proba(graphs())).all()
    assert [entry.name for entry in tmp_path.iterdir()] == ["model"]


@pytest.mark.parametrize(
    "content",
    [
        {CARD: '{"my": "model"}'},
        {CARD: "{"},
        {CARD: '{"format": "another model"}', WEIGHTS: "years of work"},
        {WEIGHTS: "years of work"},
    ],
)
def test_a_folder_that_is_no_model_of_ours_stays(content, tmp_path):
    foreign = tmp_path / "foreign"
    foreign.mkdir()
    for name, text in content.items():
        (foreign / name).write_text(text)
    for use in (check_replaceable, classifier().save):
        with pytest.raises(DataError, match=r"foreign: holds no model of lfds, .*choose a new"):
            use(foreign)
    assert {file.name: file.read_text() for file in foreign.iterdir()} == content


def test_a_damaged_or_newer_model_of_ours_is_replaced(folder):
    (folder / WEIGHTS).unlink()
    (folder / CARD).write_text('{"format": "lfds model", "version": 2}')
    classifier().save(folder)
    assert np.isfinite(lfds.load(folder).predict_proba(graphs())).all()


@pytest.mark.parametrize("target", ["model", "nowhere"])
def test_a_link_is_neither_replaced_nor_followed(target, folder, tmp_path):
    before = (folder / CARD).stat()
    link = tmp_path / "link"
    link.symlink_to(tmp_path / target)
    for use in (check_replaceable, classifier().save):
        with pytest.raises(DataError, match=rf"link: is a link, .* write to .*{target} itself"):
            use(link)
    assert link.is_symlink()
    assert (folder / CARD).stat() == before


def test_a_save_that_was_cut_short_is_explained(folder, tmp_path, monkeypatch):
    """What a kill between the two renames leaves behind."""
    replace, asked = os.replace, []

    def first_alone(source, target):
        asked.append(target)
        if len(asked) > 1:
            raise OSError(5, "as good as dead")
        replace(source, target)

    monkeypatch.setattr(os, "replace", first_alone)
    with pytest.raises(DataError, match=r"as good as dead.* move it back"):
        classifier().save(folder)
    monkeypatch.undo()
    with pytest.raises(DataError, match=r"model: is not there: a save was cut short") as told:
        lfds.load(folder)
    old = re.search(r"the model from before is (\S+);", str(told.value))[1]
    os.rename(old, folder)
    assert np.isfinite(lfds.load(folder).predict_proba(graphs())).all()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_place_that_cannot_be_written_is_named(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(DataError, match="cannot be written"):
        classifier().save(tmp_path / "model")
