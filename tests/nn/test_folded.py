"""A folded layer gives the numbers of the layer in its parts."""

import pytest
import torch
from torch.testing import assert_close

from lfds.nn import Edges, GraphClassifier, NetworkSettings
from lfds.nn.backbone import GraphLayer
from lfds.nn.folded import can_fold, folded_layer
from lfds.nn.fused import fused_layer

EDGES = Edges.from_index(torch.tensor([[0, 1, 2, 3, 4, 0], [1, 0, 3, 2, 0, 4]]), 6)


def lived(layer):
    """A layer whose statistics, scales and shifts are not those of birth."""
    for _ in range(3):
        layer(torch.randn(6, 5), EDGES)
    torch.nn.init.normal_(layer.activation.norm.weight)
    torch.nn.init.normal_(layer.activation.norm.bias)
    return layer.eval()


@pytest.mark.parametrize("weight", [None, torch.tensor([1.0, -2.0, 0.5, 3.0, 1.0, 1.0])])
def test_it_is_the_fused_layer_up_to_rounding(weight):
    layer = lived(GraphLayer(5, 8))
    assert (layer.activation.norm.weight < 0).any()  # those that turn a channel round
    edges = Edges(EDGES.rows if weight is None else EDGES.rows._replace(weight=weight), EDGES.rows)
    x = torch.randn(6, 5)
    parts = layer.transforms.weight, layer.activation.norm, edges
    with torch.inference_mode():
        assert_close(folded_layer(x, *parts), fused_layer(x, *parts), rtol=1e-5, atol=1e-5)


def test_it_is_for_inference_alone():
    norm = GraphLayer(5, 8).eval().activation.norm
    x = torch.randn(6, 5)
    assert not can_fold(x, norm)
    with torch.no_grad():  # evaluation while training keeps the bits it always had
        assert not can_fold(x, norm)
    with torch.inference_mode():
        assert can_fold(x, norm)
        assert not can_fold(x, norm.train())


@pytest.mark.parametrize("pool", ["loop", "sequence", "image", "learned-spatial"])
def test_a_whole_network_says_the_same_in_inference(pool):
    settings = NetworkSettings(pool=pool, width=8, head_width=8, slots=9)
    model = GraphClassifier(5, 3, settings)
    ptr = torch.tensor([0, 2, 6])
    for _ in range(3):
        model(torch.randn(6, 5), ptr, EDGES)
    model.eval()
    x = torch.randn(6, 5)
    with torch.no_grad():
        expected = model(x, ptr, EDGES)
    with torch.inference_mode():
        assert_close(model(x, ptr, EDGES), expected, rtol=1e-4, atol=1e-5)
