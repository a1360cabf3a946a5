"""The spatial layer on each of its adjacencies, against the slow reference."""

import pytest
import torch
from tests.nn.cases import STRUCTURES, VARIANTS, dense_matrix, directed_edges
from torch.autograd import gradcheck, gradgradcheck
from torch.testing import assert_close
from torch.utils.checkpoint import checkpoint

from lfds.nn import GraphStructure
from lfds.nn.baselines.diff import DenseAdjacency
from lfds.nn.baselines.tgp import WeightedPairs
from lfds.nn.spatial import Activation, Adjacency, SpatialLayer
from lfds.testing.reference import reference_spatial_layer

PTR = torch.tensor([0, 4, 4, 9])


def edges_case():
    """Nodes of a batch; directed, weighted edges."""
    x = torch.randn(9, 5, dtype=torch.float64)
    edges = directed_edges(x, PTR)
    weight = torch.rand(len(edges.rows.column), dtype=torch.float64)
    pairs = torch.stack([edges.rows.column.long(), edges.target])
    edges = edges.from_index(pairs, 9, weight)
    return x, edges, dense_matrix(edges)


def pairs_case():
    """What is left of nodes; weights with a gradient, and a pair that is there twice."""
    x = torch.randn(6, 5, dtype=torch.float64)
    pairs = torch.tensor([[0, 1, 5, 3, 3], [1, 2, 0, 4, 4]])
    weight = torch.rand(5, dtype=torch.float64, requires_grad=True)
    matrix = torch.zeros(6, 6, dtype=torch.float64)
    matrix = matrix.index_put((pairs[1], pairs[0]), weight.detach(), accumulate=True)
    return x, WeightedPairs(pairs, weight), matrix


def dense_case():
    """Clusters; one matrix for each graph."""
    matrix = torch.rand(3, 4, 4, dtype=torch.float64)
    return torch.randn(3, 4, 5, dtype=torch.float64), DenseAdjacency(matrix), matrix


def structure_case(build):
    """Slots; the same matrix for all graphs."""
    structure = build().double()
    weights = structure.sum_of_neighbours(torch.eye(structure.num_slots).double()[None])[0]
    x = torch.randn(3, structure.num_slots, 5, dtype=torch.float64)
    return x, structure, weights.detach().expand(3, -1, -1)


BUILDERS = {
    name: build
    for name, build in {**STRUCTURES, **VARIANTS}.items()
    if isinstance(build(), GraphStructure)
}
CASES = {"edges": edges_case, "pairs": pairs_case, "dense": dense_case}
CASES |= {name: lambda build=build: structure_case(build) for name, build in BUILDERS.items()}
every_adjacency = pytest.mark.parametrize("case", CASES)


def trained_layer(x, adjacency):
    """A layer whose scales, shifts and statistics are not the initial ones."""
    layer = SpatialLayer(5, 4).double()
    torch.nn.init.normal_(layer.activation.norm.weight)
    torch.nn.init.normal_(layer.activation.norm.bias)
    layer(x, adjacency)
    return layer.eval()


@every_adjacency
def test_it_matches_the_slow_reference(case):
    x, adjacency, matrix = CASES[case]()
    assert isinstance(adjacency, Adjacency)
    layer = trained_layer(x, adjacency)
    found = layer(x, adjacency)
    if x.dim() == 2:
        assert_close(found, reference_spatial_layer(layer, x, matrix))
    else:
        expected = [reference_spatial_layer(layer, *one) for one in zip(x, matrix, strict=True)]
        assert_close(found, torch.stack(expected))


@pytest.mark.parametrize("case", ["edges", "pairs", "dense"])
def test_a_transposed_adjacency_is_noticed(case):
    x, adjacency, matrix = CASES[case]()
    layer = trained_layer(x, adjacency)
    rows, matrices = (x, matrix) if x.dim() == 3 else (x[None], matrix[None])
    wrong = reference_spatial_layer(layer, rows[0], matrices[0].mT)
    assert not torch.allclose(layer(x, adjacency).view(*rows.shape[:2], 4)[0], wrong)


def test_in_training_it_normalizes_by_the_batch():
    x, edges, matrix = edges_case()
    layer = SpatialLayer(5, 4).double()
    own, sent = (x @ part.T for part in layer.transforms.weight.chunk(2))

    def f(rows):
        rows = rows.relu()
        return (rows - rows.mean(0)) / (rows.var(0, correction=0) + 1e-5).sqrt()

    assert_close(layer(x, edges), matrix @ f(sent) + f(own))


@every_adjacency
@pytest.mark.parametrize("training", [True, False])
def test_gradients_of_first_and_second_order(case, training):
    x, adjacency, _ = CASES[case]()
    layer = trained_layer(x, adjacency).train(training)
    for parameter in layer.parameters():
        parameter.requires_grad_(False)

    def run(x):
        return layer(x, adjacency).square()

    assert gradcheck(run, x.requires_grad_(), fast_mode=True)
    assert gradgradcheck(run, x, fast_mode=True)


def test_a_gradient_penalty_reaches_the_parameters():
    x, edges, _ = edges_case()
    layer = SpatialLayer(5, 4).double()
    x.requires_grad_()
    (grad,) = torch.autograd.grad(layer(x, edges).square().sum(), x, create_graph=True)
    grad.square().sum().backward()
    assert layer.transforms.weight.grad.abs().sum() > 0


def test_weights_of_pairs_have_a_gradient():
    x, pairs, _ = pairs_case()
    trained_layer(x, pairs)(x, pairs).square().sum().backward()
    assert (pairs.weight.grad != 0).any()


def test_it_works_under_checkpointing():
    x, edges, _ = edges_case()
    layer = trained_layer(x, edges)
    x.requires_grad_()
    found = torch.autograd.grad(checkpoint(layer, x, edges, use_reentrant=False).square().sum(), x)
    assert_close(found, torch.autograd.grad(layer(x, edges).square().sum(), x))


def test_hooks_on_inner_modules_fire():
    x, edges, _ = edges_case()
    layer, seen = SpatialLayer(5, 4).double(), []
    for name, module in layer.named_modules():
        module.register_forward_hook(lambda *_, name=name: seen.append(name))
    layer(x, edges)
    assert seen == ["transforms", "activation.norm", "activation", ""]


def test_reset_forgets_weights_and_statistics():
    x, edges, _ = edges_case()
    layer = trained_layer(x, edges)
    before = layer.transforms.weight.detach().clone()
    layer.reset_parameters()
    assert not torch.allclose(layer.transforms.weight, before)
    assert not layer.activation.norm.running_mean.any()
    assert (layer.activation.norm.weight == 1).all()


def test_activation_is_relu_then_batch_norm():
    rows = Activation(3)(torch.randn(50, 3))
    assert_close(rows.mean(0), torch.zeros(3), atol=1e-6, rtol=0)
    assert_close(rows.var(0, correction=0), torch.ones(3), atol=1e-3, rtol=0)
    assert (rows.amin(0) > -1.5).all()  # all that was negative is one value, below the mean


def test_activation_normalizes_slots_of_all_graphs_together():
    activation, slots = Activation(3), torch.randn(4, 6, 3)
    assert_close(activation(slots), Activation(3)(slots.flatten(0, 1)).view(4, 6, 3))


def test_activation_normalizes_a_single_row_by_running_statistics():
    activation = Activation(3)
    activation(torch.randn(50, 3))
    before = activation.norm.running_mean.clone()
    row = torch.randn(1, 3)
    in_training = activation(row)
    assert_close(activation.norm.running_mean, before)
    assert_close(activation.eval()(row), in_training)
    assert activation(torch.zeros(0, 3)).shape == (0, 3)


# Edges with features.


def featured_case():
    """Directed, weighted edges with three features each, and these as a matrix of rows."""
    x, edges, matrix = edges_case()
    features = torch.randn(len(edges.rows.column), 3, dtype=torch.float64)
    rows = torch.zeros(9, 9, 3, dtype=torch.float64)
    rows[edges.target, edges.rows.column.long()] = features
    edges = edges.from_rows(edges.rows.ptr, edges.rows.column, edges.rows.weight, features)
    return x, edges, matrix, rows


def featured_layer(x, edges):
    layer = SpatialLayer(5, 4, edge_channels=3).double()
    torch.nn.init.normal_(layer.activation.norm.weight)
    torch.nn.init.normal_(layer.activation.norm.bias)
    layer(x, edges)
    return layer.eval()


def test_features_of_edges_match_the_slow_reference_and_its_gradients():
    x, edges, matrix, rows = featured_case()
    layer = featured_layer(x, edges)
    x.requires_grad_()
    found, expected = layer(x, edges), reference_spatial_layer(layer, x, matrix, rows)
    assert_close(found, expected)
    upstream, wanted = torch.randn_like(found), [x, *layer.parameters()]
    gradients = (torch.autograd.grad(one, wanted, upstream) for one in (found, expected))
    for mine, slow in zip(*gradients, strict=True):
        assert_close(mine, slow)


def test_features_of_the_opposite_edges_are_noticed():
    x, edges, matrix, rows = featured_case()
    layer = featured_layer(x, edges)
    wrong = reference_spatial_layer(layer, x, matrix, rows.transpose(0, 1))
    assert not torch.allclose(layer(x, edges), wrong)


@pytest.mark.parametrize("training", [True, False])
def test_features_of_edges_have_gradients_of_first_and_second_order(training):
    x, edges, _, _ = featured_case()
    layer = featured_layer(x, edges).train(training)
    for parameter in layer.parameters():
        parameter.requires_grad_(False)

    def run(x, features):
        return layer(x, edges._replace(features=features)).square()

    inputs = (x.requires_grad_(), edges.features.requires_grad_())
    assert gradcheck(run, inputs, fast_mode=True)
    assert gradgradcheck(run, inputs, fast_mode=True)


def test_edges_in_another_order_carry_their_features():
    x, edges, _, _ = featured_case()
    layer = featured_layer(x, edges)
    order = torch.randperm(len(edges.target))
    pairs = torch.stack([edges.rows.column.long(), edges.target])[:, order]
    moved = edges.from_index(pairs, 9, edges.rows.weight[order], edges.features[order])
    assert_close(layer(x, moved), layer(x, edges))
    ones = edges._replace(rows=edges.rows._replace(weight=torch.ones_like(edges.rows.weight)))
    plain = edges.from_rows(*ones.rows, edges.features)
    only = edges.forward_only(edges.rows.ptr, edges.rows.column, edges.features)
    assert_close(layer(x, only), layer(x, plain))
    mask = torch.tensor([0, 1, 2, 3, 8])
    kept = torch.zeros(9, dtype=torch.bool).index_fill(0, mask, True)
    sub, matrix, rows = edges.subgraph(kept), dense_matrix(edges), torch.zeros(9, 9, 3).double()
    rows[edges.target, edges.rows.column.long()] = edges.features
    expected = reference_spatial_layer(layer, x[kept], matrix[kept][:, kept], rows[kept][:, kept])
    assert_close(layer(x[kept], sub), expected)


def test_forward_derivatives_of_torch_func_with_features_of_edges():
    x, edges, matrix, rows = featured_case()
    layer, along = featured_layer(x, edges), torch.randn(9, 5, dtype=torch.float64)
    _, slope = torch.func.jvp(lambda x: layer(x, edges), (x,), (along,))
    _, expected = torch.func.jvp(
        lambda x: reference_spatial_layer(layer, x, matrix, rows), (x,), (along,)
    )
    assert_close(slope, expected)


def test_resetting_draws_the_transform_of_edges_anew():
    x, edges, _, _ = featured_case()
    layer = featured_layer(x, edges)
    before = layer.edge_transform.weight.detach().clone()
    layer.reset_parameters()
    assert not torch.allclose(layer.edge_transform.weight, before)
