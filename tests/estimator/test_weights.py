from pathlib import Path

import pytest
import torch
from safetensors.torch import save

from lfds.data.errors import DataError
from lfds.estimator.model_folder import load_model
from lfds.estimator.weights import network_from, weights_of
from lfds.nn import STRUCTURES, GraphNetwork
from tests.estimator.small import classifier

HERE = Path("weights.safetensors")


@pytest.fixture(scope="module")
def card(tmp_path_factory):
    folder = tmp_path_factory.mktemp("saved") / "model"
    classifier().save(folder)
    return load_model(folder).card


def asking(card, **network):
    return card.model_copy(update={"network": card.network.model_copy(update=network)})


def test_weights_come_back(card):
    found = network_from(weights_of(classifier().network_), card, HERE).state_dict()
    for name, value in classifier().network_.state_dict().items():
        assert torch.equal(found[name], value)


@pytest.mark.parametrize("structure", STRUCTURES)
@pytest.mark.parametrize("anchors", ["fixed", "generated", "mixture"])
def test_more_slots_than_channels_are_no_absurd_size(structure, anchors, card):
    asked = {"pool": structure, "slots": 144, "anchors": anchors, "width": 2, "head_width": 2}
    other = asking(card, **asked)
    network = GraphNetwork(card.features, 2, other.network)
    assert network_from(weights_of(network), other, HERE).settings == other.network


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"width": 10**9}, "it is too small for the width of 1000000000 in the card"),
        ({"width": 10**30}, "it is too small for the width"),
        ({"head_width": 10**9}, "it is too small for the head_width"),
        ({"slots": 10**9}, "it is too small for the slots"),
        ({"layers": 10**9}, "it is too small for the layers"),
        ({"depth": 10**9}, "it is too small for the depth"),
        ({"width": 16}, r"base.layers.0.activation.norm.bias is \[16\], where .* asks for \[32\]"),
        ({"layers": 4}, "base.layers.3.* is nothing, where the card asks for"),
        ({"layers": 2}, "base.layers.2.* where the card asks for nothing"),
    ],
)
def test_sizes_are_compared_before_memory_is_asked_for(asked, message, card, monkeypatch):
    made = []

    def watched(features, classes, settings):
        made.append(torch.empty(0).device.type)
        return GraphNetwork(features, classes, settings)

    monkeypatch.setattr("lfds.estimator.weights.GraphNetwork", watched)
    with pytest.raises(DataError, match=message) as caught:
        network_from(weights_of(classifier().network_), asking(card, **asked), HERE)
    assert "\n" not in str(caught.value)
    assert set(made) <= {"meta"}


def test_what_is_no_number_is_refused(card):
    weights = dict(classifier().network_.state_dict())
    weights["head.layers.0.bias"] = weights["head.layers.0.bias"] * float("nan")
    with pytest.raises(DataError, match=r"head.layers.0.bias is not finite"):
        network_from(save(weights), card, HERE)
    with pytest.raises(DataError, match="is not what was saved"):
        network_from(b"no tensors", card, HERE)
