import copy

import pytest
import torch
from torch.testing import assert_close

from lfds.nn.models.backbone import Backbone, GraphLayer, kept_nodes
from lfds.nn.ops.edges import Edges


def drawn():
    adjacency = (torch.rand(9, 9) < 0.3).float()
    target, source = adjacency.nonzero(as_tuple=True)
    return torch.randn(9, 5), adjacency, Edges.from_index(torch.stack([source, target]), 9)


def test_a_layer_is_its_equation():
    x, adjacency, edges = drawn()
    layer = GraphLayer(5, 4)
    own, sent = (x @ part.T for part in layer.transforms.weight.chunk(2))

    def f(rows):
        rows = rows.relu()
        return (rows - rows.mean(0)) / (rows.var(0, correction=0) + 1e-5).sqrt()

    assert_close(layer(x, edges), adjacency @ f(sent) + f(own))


def test_every_layer_is_handed_out():
    x, _, edges = drawn()
    base = Backbone(5, 4, 3, node_dropout=0.2).eval()
    everything, last = base(x, edges)
    for layer, output in zip(base.layers, everything.split(4, dim=1), strict=True):
        x = layer(x, edges)
        assert_close(output, x)
    assert_close(last, x)


@pytest.mark.parametrize("training", [True, False])
def test_layers_in_one_piece_are_the_layers_in_pieces(training, monkeypatch):
    x, _, edges = drawn()
    whole = Backbone(5, 4, 3, node_dropout=0.4).double().train(training)
    pieces = copy.deepcopy(whole)
    nodes = x.double().requires_grad_()
    pulls = torch.randn(9, 12, dtype=torch.float64), torch.randn(9, 4, dtype=torch.float64)

    def run(base):
        torch.manual_seed(0)
        outputs = base(nodes, edges)
        learned = list(base.parameters())
        return outputs, torch.autograd.grad(outputs, [nodes, *learned], pulls)

    found = run(whole)
    monkeypatch.setattr("lfds.nn.models.backbone.can_fuse", lambda *_: False)
    assert_close(found, run(pieces))
    assert_close(list(whole.buffers()), list(pieces.buffers()))


@pytest.mark.parametrize("read", ["all", "last"])
def test_either_output_may_be_left_unread(read):
    x, _, edges = drawn()
    base = Backbone(5, 4, 2, node_dropout=0.0).double().eval()
    nodes = x.double().requires_grad_()
    pull = torch.randn(9, 4, dtype=torch.float64)
    everything, last = base(nodes, edges)
    read_from = last if read == "last" else everything[:, 4:]
    (found,) = torch.autograd.grad(read_from, nodes, pull)
    first, second = base.layers
    (expected,) = torch.autograd.grad(second(first(nodes, edges), edges), nodes, pull)
    assert_close(found, expected)


def test_silenced_nodes_are_zero_and_the_others_are_not_scaled():
    kept = kept_nodes(torch.rand(5000, 3), 0.2)
    assert kept.unique().tolist() == [0, 1]
    assert 0.75 < kept.mean() < 0.85
    x, _, edges = drawn()
    layer, kept = GraphLayer(5, 4), torch.tensor([0.0, 1, 1, 0, 1, 1, 1, 1, 1])[:, None]
    assert_close(layer(x, edges, kept), layer(x, edges) * kept)


def test_nodes_are_silenced_in_training_only():
    x, _, edges = drawn()
    base = Backbone(5, 4, 3, node_dropout=0.5)
    assert any((part == 0).all(dim=1).any() for part in base(x, edges)[0].split(4, dim=1))
    base.eval()
    assert not any((part == 0).all(dim=1).any() for part in base(x, edges)[0].split(4, dim=1))
