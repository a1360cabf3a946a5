import torch
from torch.testing import assert_close

from lfds.nn.backbone import Backbone, GraphLayer, kept_nodes
from lfds.nn.edges import Edges


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
    outputs = base(x, edges)
    for layer, output in zip(base.layers, outputs, strict=True):
        x = layer(x, edges)
        assert_close(output, x)


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
    assert any((output == 0).all(dim=1).any() for output in base(x, edges))
    base.eval()
    assert not any((output == 0).all(dim=1).any() for output in base(x, edges))
