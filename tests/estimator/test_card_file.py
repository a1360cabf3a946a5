import json

import numpy as np
import pytest

import lfds
from lfds.config.network import LEGACY_DEFAULTS
from lfds.data.errors import DataError
from lfds.estimator.card_file import card_text, digest, read_card, read_head
from lfds.estimator.model_folder import CARD
from tests.estimator.small import classifier, graphs


@pytest.fixture
def folder(tmp_path):
    classifier().save(tmp_path / "model")
    return tmp_path / "model"


def test_a_card_is_read_as_it_was_written(folder, tmp_path):
    card = read_card(folder / CARD)
    (tmp_path / "again.json").write_text(card_text(card))
    assert read_card(tmp_path / "again.json") == card
    assert read_head(tmp_path / "again.json")["format"] == "lfds model"


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


@pytest.mark.parametrize("came_later", [["pooled_layers"], ["pooled_layers", "node_norm"]])
def test_models_from_before_something_could_be_chosen_say_what_they_said(tmp_path, came_later):
    bare = {"width": 8, "readout": "max", **{name: LEGACY_DEFAULTS[name] for name in came_later}}
    model = lfds.LFDSClassifier(epochs=2, slots=4, options=bare, seed=0).fit(graphs())
    model.save(tmp_path / "bare")
    for name in came_later:
        changed(tmp_path / "bare", signed(lambda model, name=name: forget(model, name)))
    loaded = lfds.load(tmp_path / "bare")
    assert np.array_equal(loaded.predict_proba(graphs()), model.predict_proba(graphs()))
    loaded.set_params(warm_start=True).fit(graphs())  # on from where it was
    assert loaded.network_.settings == model.network_.settings


def forget(model, name):
    """As if a setting had been neither chosen nor there to be chosen."""
    model["network"].pop(name, None)
    model["parameters"]["options"].pop(name, None)


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
        (signed(lambda m: m.update(features=10**12)), "makes 7 features, not 10"),
        (lambda h: h.pop("model"), "is not what was saved"),
    ],
)
def test_a_changed_card_is_noticed(folder, change, message):
    changed(folder, change)
    with pytest.raises(DataError, match=message) as caught:
        lfds.load(folder)
    assert "\n" not in str(caught.value)
