"""Folded layers give the numbers of the layers in one piece."""

import pytest
import torch
from torch.testing import assert_close

from lfds.nn import Edges, GraphNetwork, NetworkSettings
from lfds.nn.accel.bags import Bags
from lfds.nn.accel.folded import can_fold, folded_layers
from lfds.nn.accel.fused import fused_layers
from lfds.nn.models.backbone import Backbone

EDGES = Edges.from_index(torch.tensor([[0, 1, 2, 3, 4, 0], [1, 0, 3, 2, 0, 4]]), 6)
WEIGHTS = torch.tensor([1.0, -2.0, 0.5, 3.0, 1.0, 1.0])


def lived():
    """Layers whose statistics, scales and shifts are not those of birth."""
    base = Backbone(5, 8, 3, 0.0)
    for _ in range(3):
        base(torch.randn(6, 5), EDGES)
    for layer in base.layers:
        torch.nn.init.normal_(layer.activation.norm.weight)
        torch.nn.init.normal_(layer.activation.norm.bias)
    return [layer.learned for layer in base.eval().layers]


@pytest.mark.parametrize("weights", [None, WEIGHTS])
def test_they_are_the_fused_layers_up_to_rounding(weights):
    layers = lived()
    assert any((norm.weight < 0).any() for _, norm in layers)  # channels that are turned round
    rows = EDGES.rows if weights is None else EDGES.rows._replace(weight=weights)
    bags, x = Bags(Edges(rows, EDGES.columns)), torch.randn(6, 5)
    expected = fused_layers(x, layers, bags, [None] * 3)
    assert_close(folded_layers(x, layers, bags), expected, rtol=1e-4, atol=1e-4)


def test_they_are_for_inference_alone():
    layers = lived()
    assert not can_fold(layers)
    with torch.no_grad():  # evaluation while training keeps the bits it always had
        assert not can_fold(layers)
    with torch.inference_mode():
        assert can_fold(layers)
        layers[1].norm.train()
        assert not can_fold(layers)


@pytest.mark.parametrize("pool", ["loop", "sequence", "image", "learned-spatial"])
def test_a_whole_network_says_the_same_in_inference(pool):
    settings = NetworkSettings(pool=pool, width=8, head_width=8, slots=9)
    model = GraphNetwork(5, 3, settings)
    ptr = torch.tensor([0, 2, 6])
    for _ in range(3):
        model(torch.randn(6, 5), ptr, EDGES)
    model.eval()
    x = torch.randn(6, 5)
    with torch.no_grad():
        expected = model(x, ptr, EDGES)
    with torch.inference_mode():
        assert_close(model(x, ptr, EDGES), expected, rtol=1e-4, atol=1e-5)
