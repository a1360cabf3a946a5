import pytest
import torch
from torch.testing import assert_close

from lfds.nn import Edges, GraphNetwork, NetworkSettings
from lfds.nn.models.backbone import Backbone, GraphLayer
from lfds.nn.models.head import Head
from lfds.nn.ops.first_order import differentiable_once

EDGES = Edges.from_index(torch.tensor([[0, 1, 1, 2, 3, 4], [1, 0, 2, 1, 4, 3]]), 6)
PTR = torch.tensor([0, 3, 6])


class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, unused):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    @differentiable_once("a cube")
    def backward(ctx, *grads):
        (x,) = ctx.saved_tensors
        return 3 * x**2 * grads[0], None


def cube(x):
    return Cube.apply(x, None)


def network(training=True):
    calm = {"node_dropout": 0.0, "head_dropout": 0.0, "width": 8, "head_width": 8}
    model = GraphNetwork(4, 2, NetworkSettings(pool="loop", **calm)).double().train(training)
    return lambda x: model(x, PTR, EDGES)


def layer(training=True):
    model = GraphLayer(4, 8).double().train(training)
    return lambda x: model(x, EDGES)


def base(training=True):
    model = Backbone(4, 8, 2, 0.0).double().train(training)
    return lambda x: model(x, EDGES)[0]


def head(training=True):
    return Head(4, 8, 2, dropout=0.0, norm=True).double().train(training)


PARTS = {
    "cube": (lambda: cube, "a cube"),
    "layer": (layer, "a spatial layer of lfds.nn"),
    "base": (base, "a spatial layer of lfds.nn"),
    "head": (head, "the head of lfds.nn.GraphNetwork"),
    "network": (network, ".*lfds.nn.*"),
}


def nodes():
    return torch.randn(6, 4, dtype=torch.float64, requires_grad=True)


@pytest.mark.parametrize("part", PARTS)
def test_the_first_derivative_is_the_same_with_a_graph_and_without(part):
    run, x = PARTS[part][0](), nodes()
    (plain,) = torch.autograd.grad(run(x).square().sum(), x)
    (kept,) = torch.autograd.grad(run(x).square().sum(), x, create_graph=True)
    assert_close(kept, plain)


# Of a linear function nothing that needs a gradient comes back: what was kept still does.
@pytest.mark.parametrize("of", [torch.square, torch.negative], ids=["square", "linear"])
@pytest.mark.parametrize("part", PARTS)
def test_a_second_derivative_is_refused_in_words(part, of):
    make, what = PARTS[part]
    run, x = make(), nodes()
    said = f"^{what} has no second derivative; .*: do not pass create_graph=True$"
    (pull,) = torch.autograd.grad(of(run(x)).sum(), x, create_graph=True)
    with pytest.raises(RuntimeError, match=said):
        torch.autograd.grad(pull.square().sum(), x, allow_unused=True, retain_graph=True)
    with pytest.raises(RuntimeError, match=said):
        pull.square().sum().backward()


@pytest.mark.parametrize("part", ["layer", "base", "head", "network"])
def test_the_way_out_leads_to_the_second_derivative(part):
    run, x = PARTS[part][0](training=False), nodes()

    def penalty(at):
        return torch.func.grad(lambda y: run(y).square().sum())(at).square().sum()

    (found,) = torch.autograd.grad(penalty(x), x)
    along = torch.randn_like(x)
    step = 1e-6 * along
    with torch.no_grad():
        slope = (penalty(x + step) - penalty(x - step)) / 2e-6
    assert_close((found * along).sum(), slope, rtol=1e-4, atol=1e-6)
