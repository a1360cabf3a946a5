"""Saved models: what is in a folder, what is refused, and what earlier versions wrote."""

import hashlib
import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from pydantic import ValidationError
from safetensors.torch import load as tensors_from
from safetensors.torch import save as tensors_to

import lfds
from lfds.config.migrations import SCHEMA_VERSION, legacy_defaults
from lfds.config.network import NetworkSettings
from lfds.data.errors import DataError
from lfds.estimator.model_card import (
    ModelCard,
    TrainingData,
    card_text,
    digest,
    read_card,
    read_head,
)
from lfds.estimator.persistence import (
    CARD,
    ENCODER,
    WEIGHTS,
    check_replaceable,
    load_model,
    network_from,
    weights_of,
)
from lfds.nn import STRUCTURES, GraphNetwork
from tests.estimator.small import FAST, classifier, graphs, regressor, values

FILES = (CARD, WEIGHTS, ENCODER)
HERE = Path("weights.safetensors")
BEFORE = legacy_defaults(NetworkSettings)


@pytest.fixture
def folder(tmp_path):
    classifier().save(tmp_path / "model")
    return tmp_path / "model"


@pytest.fixture(scope="module")
def card(tmp_path_factory):
    folder = tmp_path_factory.mktemp("saved") / "model"
    classifier().save(folder)
    return load_model(folder).card


def change_head(folder, change):
    head = json.loads((folder / CARD).read_text())
    change(head)
    (folder / CARD).write_text(json.dumps(head))


def signed(change):
    """Change the model, and write the checksum that goes with it."""

    def both(head):
        change(head["model"])
        head["sha256"] = digest(head["model"])

    return both


# Round trips


def test_a_loaded_classifier_is_the_same(folder):
    again = lfds.load(folder)
    assert isinstance(again, lfds.LFDSClassifier)
    expected = classifier().predict_proba(graphs())
    assert np.array_equal(again.predict_proba(graphs()), expected)
    assert again.classes_.tolist() == classifier().classes_.tolist()
    assert again.history_ == classifier().history_
    assert again.training_data_ == classifier().training_data_
    assert again.get_params() == classifier().get_params() | {
        "node_attributes": [],
        "edge_attributes": [],
    }


def test_another_process_predicts_the_same_bits(folder, tmp_path):
    graphs().save(tmp_path / "graphs")
    code = (
        "import sys, lfds, torch; torch.set_num_threads(1)\n"
        "graphs = lfds.GraphSet.load(sys.argv[1] + '/graphs', mmap=False)\n"
        "print(lfds.load(sys.argv[1] + '/model').predict_proba(graphs).tobytes().hex())"
    )
    command = [sys.executable, "-W", "ignore", "-c", code, str(tmp_path)]
    shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    assert shown == classifier().predict_proba(graphs()).tobytes().hex()


@pytest.mark.parametrize("columns", [None, 2])
def test_a_loaded_regressor_is_the_same(columns, tmp_path):
    made = regressor()
    if columns:
        made = lfds.LFDSRegressor(**FAST).fit(graphs(), np.stack([values()] * columns, axis=1))
    made.save(tmp_path / "model")
    again = lfds.load(tmp_path / "model")
    assert isinstance(again, lfds.LFDSRegressor)
    assert np.array_equal(again.predict(graphs()), made.predict(graphs()))


@pytest.mark.parametrize(
    "structure", ["image", "learned-spatial", "learned-spectral", ["loop", "image"]]
)
def test_every_structure_is_restored(structure, tmp_path):
    made = lfds.LFDSClassifier(structure, **{**FAST, "epochs": 1}).fit(graphs())
    made.save(tmp_path / "model")
    again = lfds.load(tmp_path / "model")
    assert np.array_equal(again.predict_proba(graphs()), made.predict_proba(graphs()))


def test_structural_encodings_are_restored(tmp_path):
    data = graphs()
    none = data.x[:, :0]
    bare = replace(data, attributes=none, x=none, labels=data.labels[:, :0], label_values=())
    made = lfds.LFDSClassifier(**FAST).fit(bare)
    assert made.encoder_.names[0] == "rwse0"
    made.save(tmp_path / "model")
    again = lfds.load(tmp_path / "model")
    assert np.array_equal(again.predict_proba(bare), made.predict_proba(bare))


def test_a_loaded_model_can_be_fitted_further(folder):
    again = lfds.load(folder).set_params(warm_start=True)
    again.fit(graphs())
    again.partial_fit(graphs())
    assert again.n_iter_ == FAST["epochs"] + 1


def test_the_state_of_the_optimizer_is_not_saved(tmp_path):
    made = lfds.LFDSRegressor(**FAST)
    made.partial_fit(graphs(), values())
    made.save(tmp_path / "model")
    first, second = lfds.load(tmp_path / "model"), lfds.load(tmp_path / "model")
    for model in (made, first, second):
        model.partial_fit(graphs(), values())
    assert np.array_equal(first.predict(graphs()), second.predict(graphs()))
    assert not np.array_equal(first.predict(graphs()), made.predict(graphs()))


# The card


def test_a_folder_holds_three_files_of_tensors_and_json(folder):
    assert sorted(entry.name for entry in folder.iterdir()) == sorted(FILES)
    head = json.loads((folder / CARD).read_text())
    assert (head["format"], head["version"]) == ("lfds model", 1)
    assert head["schema_version"] == SCHEMA_VERSION
    assert head["model"]["meaning"]["names"] == ["path", "ring"]
    assert head["model"]["training_data"]["graphs"] == 24
    checksum = hashlib.sha256((folder / WEIGHTS).read_bytes()).hexdigest()
    assert head["model"]["files"][WEIGHTS] == checksum


def test_the_keys_of_a_stored_model_do_not_change(folder):
    """Other versions read them."""
    model = json.loads((folder / CARD).read_text())["model"]
    assert list(model) == [
        "parameters", "network", "features", "edge_features", "meaning", "training_data", "history",
        "fits", "versions", "files",
    ]  # fmt: skip
    assert list(model["meaning"]) == ["kind", "names", "temperature"]
    assert list(model["training_data"]) == ["name", "graphs", "fingerprint", "molecules"]


def test_a_card_is_read_as_it_was_written(folder, tmp_path):
    card = read_card(folder / CARD)
    (tmp_path / "again.json").write_text(card_text(card))
    assert read_card(tmp_path / "again.json") == card
    assert read_head(tmp_path / "again.json")["format"] == "lfds model"


def test_training_data_are_identified():
    mark = TrainingData.of(graphs())
    assert (mark.name, mark.graphs) == ("drawn", 24)
    assert mark.fingerprint != TrainingData.of(graphs()[:23]).fingerprint
    assert mark == TrainingData.of(graphs()[list(range(24))])


def test_versions_of_libraries_are_stored(card):
    assert {"lfds", "python", "torch", "numpy"} <= set(card.versions)


def test_an_incomplete_card_is_refused():
    with pytest.raises(ValidationError):
        ModelCard.model_validate({})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda h: h.update(version=2), "is in format 2, and this lfds reads format 1; update"),
        (lambda h: h.update(version="x"), "is in format 'x', .* copy or save the model again"),
        (lambda h: h.update(schema_version=99), "schema_version is 99, .*; update lfds"),
        (lambda h: h.update(schema_version="x"), "schema_version is 'x', .* a number from 1"),
        (lambda h: h.update(format="other"), 'is not a model: it needs "format": "lfds model"'),
        (lambda h: h["model"]["meaning"].update(names=["ring", "path"]), "its checksum differs"),
        (lambda h: h["model"]["meaning"].update(temperature=9.0), "its checksum differs"),
        (lambda h: h["model"].update(fits=77), "its checksum differs"),
        (signed(lambda m: m.update(more=1)), "more: Extra inputs"),
        (signed(lambda m: m["network"].update(pool="lop")), "pool must be one of"),
        (signed(lambda m: m.update(features=9)), "has 7 features, not 9"),
        (signed(lambda m: m.update(features=10**12)), "has 7 features, not 10"),
        (lambda h: h.pop("model"), "is not what was saved"),
    ],
)
def test_a_changed_card_is_refused(folder, change, message):
    change_head(folder, change)
    with pytest.raises(DataError, match=message) as caught:
        lfds.load(folder)
    assert "\n" not in str(caught.value)


# Earlier versions


def test_a_card_without_a_schema_version_is_version_1(folder):
    change_head(folder, lambda head: head.pop("schema_version"))
    expected = classifier().predict_proba(graphs())
    assert np.array_equal(lfds.load(folder).predict_proba(graphs()), expected)


def test_a_setting_that_was_added_later_has_its_default(folder):
    change_head(folder, signed(lambda model: model["network"].pop("seeds")))
    assert np.isfinite(lfds.load(folder).predict_proba(graphs())).all()


@pytest.mark.parametrize("added", [["pooled_layers"], ["pooled_layers", "node_norm"]])
def test_models_of_before_a_setting_was_added_predict_the_same(tmp_path, added):
    options = {"width": 8, "readout": "max", **{name: BEFORE[name] for name in added}}
    model = lfds.LFDSClassifier(epochs=2, slots=4, options=options, seed=0).fit(graphs())
    model.save(tmp_path / "model")

    def forget(stored):
        for name in added:
            stored["network"].pop(name, None)
            stored["parameters"]["options"].pop(name, None)

    change_head(tmp_path / "model", signed(forget))
    loaded = lfds.load(tmp_path / "model")
    assert np.array_equal(loaded.predict_proba(graphs()), model.predict_proba(graphs()))
    loaded.set_params(warm_start=True).fit(graphs())  # builds the same network
    assert loaded.network_.settings == model.network_.settings


def test_tensors_are_found_under_their_names_of_version_1(card):
    weights = tensors_from(weights_of(classifier().network_))
    old = {
        re.sub(r"(pool\.)(pools\.0\.)?input_map\.", r"\1mix.", name): value
        for name, value in weights.items()
    }
    assert old.keys() != weights.keys()
    found = network_from(tensors_to(old), card, HERE).state_dict()
    for name, value in classifier().network_.state_dict().items():
        assert torch.equal(found[name], value)


# Damaged and foreign folders


@pytest.mark.parametrize("name", FILES)
def test_a_missing_file_is_named(folder, name):
    (folder / name).unlink()
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
def test_a_changed_byte_is_refused(folder, name):
    content = bytearray((folder / name).read_bytes())
    content[-5] ^= 1
    (folder / name).write_bytes(content)
    with pytest.raises(DataError, match=f"{name}: is not what was saved: its checksum differs"):
        lfds.load(folder)


def test_an_unreadable_file_is_named(folder):
    (folder / WEIGHTS).unlink()
    (folder / WEIGHTS).mkdir()
    with pytest.raises(DataError, match=f"{WEIGHTS}: cannot be read"):
        lfds.load(folder)


@pytest.mark.parametrize("what", ["nowhere", "file", "empty"])
def test_what_is_not_a_model_is_refused(what, tmp_path):
    (tmp_path / "file").write_text("x")
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match=r"is not a model|is missing"):
        lfds.load(tmp_path / what)


def test_a_model_replaces_a_model_and_nothing_else(folder, tmp_path):
    check_replaceable(folder)
    classifier().save(folder)
    (folder / "notes.txt").write_text("mine")
    for save in (check_replaceable, classifier().save):
        with pytest.raises(DataError, match=r"holds other files, such as 'notes.txt'"):
            save(folder)
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
def test_a_folder_of_other_files_with_our_names_is_not_replaced(content, tmp_path):
    foreign = tmp_path / "foreign"
    foreign.mkdir()
    for name, text in content.items():
        (foreign / name).write_text(text)
    for save in (check_replaceable, classifier().save):
        with pytest.raises(DataError, match=r"foreign: is not a model of lfds .*choose a new"):
            save(foreign)
    assert {file.name: file.read_text() for file in foreign.iterdir()} == content


def test_a_damaged_or_newer_model_is_replaced(folder):
    (folder / WEIGHTS).unlink()
    (folder / CARD).write_text('{"format": "lfds model", "version": 2}')
    classifier().save(folder)
    assert np.isfinite(lfds.load(folder).predict_proba(graphs())).all()


@pytest.mark.parametrize("target", ["model", "nowhere"])
def test_a_link_is_followed_and_stays(target, folder, tmp_path):
    link = tmp_path / "link"
    link.symlink_to(tmp_path / target)
    classifier().save(link)
    assert link.is_symlink()
    assert np.isfinite(lfds.load(tmp_path / target).predict_proba(graphs())).all()


def test_the_error_after_an_interrupted_save_names_the_previous_model(folder, monkeypatch):
    """What is left if the process is killed between the two renames."""
    os_replace, calls = os.replace, []

    def only_first(source, target):
        calls.append(target)
        if len(calls) > 1:
            raise OSError(5, "killed")
        os_replace(source, target)

    monkeypatch.setattr(os, "replace", only_first)
    with pytest.raises(DataError, match=r"killed.* move it back"):
        classifier().save(folder)
    monkeypatch.undo()
    with pytest.raises(DataError, match=r"model: is missing: a save was interrupted") as caught:
        lfds.load(folder)
    old = re.search(r"the previous model was moved to (\S+);", str(caught.value))[1]
    os.rename(old, folder)
    assert np.isfinite(lfds.load(folder).predict_proba(graphs())).all()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_without_write_permission_is_named(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(DataError, match="cannot be written"):
        classifier().save(tmp_path / "model")


# Weights


def with_network(card, **network):
    return card.model_copy(update={"network": card.network.model_copy(update=network)})


def test_weights_round_trip(card):
    found = network_from(weights_of(classifier().network_), card, HERE).state_dict()
    for name, value in classifier().network_.state_dict().items():
        assert torch.equal(found[name], value)


@pytest.mark.parametrize("structure", STRUCTURES)
@pytest.mark.parametrize("anchors", ["fixed", "generated", "mixture"])
def test_more_slots_than_channels_are_accepted(structure, anchors, card):
    small = {"pool": structure, "slots": 144, "anchors": anchors, "width": 2, "head_width": 2}
    other = with_network(card, **small)
    network = GraphNetwork(card.features, 2, other.network)
    assert network_from(weights_of(network), other, HERE).settings == other.network


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"width": 10**9}, "it is too small for the width of 1000000000 in the card"),
        ({"width": 10**30}, "it is too small for the width"),
        ({"head_width": 10**9}, "it is too small for the head_width"),
        ({"slots": 10**9}, "it is too small for the slots"),
        ({"layers": 10**9}, "it is too small for the layers"),
        ({"depth": 10**9}, "it is too small for the depth"),
        (
            {"width": 16},
            r"layers.0.activation.norm.bias is \[16\] here and \[32\] in the card",
        ),
        ({"layers": 4}, "base.layers.3.* is missing here and"),
        ({"layers": 2}, "base.layers.2.* and missing in the card"),
    ],
)
def test_sizes_are_compared_before_memory_is_allocated(settings, message, card, monkeypatch):
    built = record_sizes(monkeypatch)
    with pytest.raises(DataError, match=message) as caught:
        network_from(weights_of(classifier().network_), with_network(card, **settings), HERE)
    assert "\n" not in str(caught.value)
    stored = sum(value.numel() for value in classifier().network_.state_dict().values())
    assert all(size < 4 * stored for size in built)


@pytest.mark.parametrize("name", ["width", "head_width", "slots"])
def test_one_long_tensor_makes_no_room_for_a_large_network(name, card, monkeypatch):
    """A file with one axis of this length is small; a network of this size is not."""
    monkeypatch.setenv("LFDS_MAX_MEMORY", "1GB")
    built, long = record_sizes(monkeypatch), 10**5
    weights = {**classifier().network_.state_dict(), "long": torch.zeros(long)}
    large = with_network(card, **{name: long}, pool="sequence", anchors="smooth")
    with pytest.raises(DataError, match=r"the card at least|may be used") as caught:
        network_from(tensors_to(weights), large, HERE)
    assert "\n" not in str(caught.value)
    assert not built


def record_sizes(monkeypatch):
    """Return a list to which the number of parameters of every network is added that is built."""
    built = []

    def recorded(features, classes, settings, edge_channels):
        network = GraphNetwork(features, classes, settings, edge_channels=edge_channels)
        built.append(sum(value.numel() for value in network.state_dict().values()))
        return network

    monkeypatch.setattr("lfds.estimator.persistence.GraphNetwork", recorded)
    return built


def test_weights_that_are_not_finite_are_refused(card):
    weights = dict(classifier().network_.state_dict())
    weights["head.layers.0.bias"] = weights["head.layers.0.bias"] * float("nan")
    with pytest.raises(DataError, match=r"head.layers.0.bias is not finite"):
        network_from(tensors_to(weights), card, HERE)
    with pytest.raises(DataError, match="is not what was saved"):
        network_from(b"no tensors", card, HERE)
