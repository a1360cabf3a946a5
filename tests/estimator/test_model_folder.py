import hashlib
import json
import os
import re

import numpy as np
import pytest

import lfds
from lfds.data.errors import DataError
from lfds.estimator.model_folder import (
    CARD,
    ENCODER,
    WEIGHTS,
    check_replaceable,
    digest,
    load_model,
)
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


def changed(folder, change):
    head = json.loads((folder / CARD).read_text())
    change(head)
    (folder / CARD).write_text(json.dumps(head))


def signed(change):
    """Change the model, and write the checksum that goes with it."""

    def both(head):
        change(head["model"])
        head["sha256"] = digest(head["model"])

    return both


def test_a_setting_that_came_later_does_not_spoil_what_was_written_before(folder):
    changed(folder, signed(lambda model: model["network"].pop("seeds")))
    assert np.isfinite(lfds.load(folder).predict_proba(graphs())).all()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda h: h.update(version=2), "is in format 2, and this lfds reads format 1; update"),
        (lambda h: h.update(version="x"), "is in format 'x', .* copy or save the model again"),
        (lambda h: h.update(format="other"), 'is no model: it needs "format": "lfds model"'),
        (lambda h: h["model"]["meaning"].update(names=["ring", "path"]), "its checksum differs"),
        (lambda h: h["model"]["meaning"].update(temperature=9.0), "its checksum differs"),
        (lambda h: h["model"].update(fits=77), "its checksum differs"),
        (signed(lambda m: m.update(more=1)), "more: Extra inputs"),
        (signed(lambda m: m["network"].update(pool="lop")), "pool must be one of"),
        (signed(lambda m: m.update(features=9)), "makes 7 features, not 9"),
        (lambda h: h.pop("model"), "is not what was saved"),
    ],
)
def test_a_changed_card_is_noticed(folder, change, message):
    changed(folder, change)
    with pytest.raises(DataError, match=message) as caught:
        lfds.load(folder)
    assert "\n" not in str(caught.value)


def test_weights_of_another_network_do_not_pass_with_a_new_checksum(folder, tmp_path):
    card = load_model(folder).card
    other = card.model_copy(update={"network": card.network.model_copy(update={"width": 16})})
    model = other.model_dump(mode="json")
    head = {"format": "lfds model", "version": 1, "sha256": digest(model), "model": model}
    (folder / CARD).write_text(json.dumps(head))
    with pytest.raises(DataError, match=f"{WEIGHTS}: is not what was saved"):
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


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_place_that_cannot_be_written_is_named(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(DataError, match="cannot be written"):
        classifier().save(tmp_path / "model")
