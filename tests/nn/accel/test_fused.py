import copy

import pytest
import torch
from torch.testing import assert_close

from lfds.nn.accel.bags import Bags
from lfds.nn.accel.fused import Layer, can_fuse, fused_layer
from lfds.nn.models.backbone import GraphLayer
from lfds.nn.ops.edges import Edges
from lfds.nn.ops.spmm import sum_of_neighbours


def in_parts(layer, x, edges, kept):
    """The same layer by operations that torch differentiates itself."""
    size = edges.num_nodes
    adjacency = torch.zeros(size, size, dtype=x.dtype)
    adjacency[edges.target, edges.rows.column.long()] = edges.rows.weight.to(x.dtype)
    own, sent = layer.activation.norm((x @ layer.transforms.weight.T).relu()).chunk(2, dim=1)
    out = own + adjacency @ sent
    return out if kept is None else out * kept


def drawn(dtype, weighted):
    index = torch.tensor([[0, 1, 2, 3, 3, 6], [1, 2, 0, 0, 1, 5]])  # directed; 4 has none
    weight = torch.randn(6, dtype=dtype) if weighted else None
    return torch.randn(7, 5, dtype=dtype), Edges.from_index(index, 7, weight)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("masked", [True, False])
def test_value_gradients_and_statistics_are_those_of_the_parts(dtype, training, masked):
    x, edges = drawn(dtype, weighted=masked)
    kept = torch.tensor([1, 0, 1, 1, 0, 1, 1], dtype=dtype)[:, None] if masked else None
    layer = GraphLayer(5, 4).to(dtype)
    for parameter in layer.parameters():
        parameter.data.add_(torch.randn_like(parameter))
    twin = copy.deepcopy(layer)
    for model in (layer, twin):
        model.train(training)
    one, other = x.clone().requires_grad_(), x.clone().requires_grad_()
    found = fused_layer(one, layer.learned, Bags(edges), kept)
    expected = in_parts(twin, other, edges, kept)
    assert_close(found, expected)
    pull = torch.randn_like(expected)
    found.backward(pull)
    expected.backward(pull)
    assert_close(one.grad, other.grad)
    for mine, theirs in zip(layer.parameters(), twin.parameters(), strict=True):
        assert_close(mine.grad, theirs.grad)
    for mine, theirs in zip(layer.buffers(), twin.buffers(), strict=True):
        assert_close(mine, theirs)


@pytest.mark.parametrize("statistic", ["running_mean", "running_var"])
@pytest.mark.parametrize("natively", [True, False])
def test_statistics_changed_before_the_way_back_spoil_no_gradient(statistic, natively, monkeypatch):
    if natively:
        pytest.importorskip("numba")
    monkeypatch.setattr("lfds.nn.accel.fused.runs_natively", lambda _: natively)
    x, edges = drawn(torch.float64, weighted=True)
    layer = GraphLayer(5, 4).double().eval()
    pull = torch.randn(7, 4, dtype=torch.float64)
    x.requires_grad_()
    weights = (x, layer.transforms.weight, layer.activation.norm.weight)
    expected = torch.autograd.grad(layer(x, edges), weights, pull)
    out = layer(x, edges)
    getattr(layer.activation.norm, statistic).add_(3)
    if natively:  # which keeps a copy
        for mine, theirs in zip(torch.autograd.grad(out, weights, pull), expected, strict=True):
            assert_close(mine, theirs)
    else:  # as torch does it
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            torch.autograd.grad(out, weights, pull)


def test_gradients_by_small_differences():
    x, edges = drawn(torch.float64, weighted=True)
    layer = GraphLayer(5, 4).double()
    kept = torch.tensor([1, 0, 1, 1, 0, 1, 1], dtype=torch.float64)[:, None]

    def call(x, weight):
        return fused_layer(x, Layer(weight, layer.activation.norm), Bags(edges), kept)

    weight = layer.transforms.weight.detach().requires_grad_()
    assert torch.autograd.gradcheck(call, (x.requires_grad_(), weight))


def test_the_pieces_are_taken_where_one_piece_is_not():
    x, edges = drawn(torch.float32, weighted=False)
    layer = GraphLayer(5, 4)
    with torch.autocast("cpu", torch.bfloat16):
        assert not can_fuse(x)
        assert layer(x, edges).isfinite().all()
    assert can_fuse(x)
    assert not can_fuse(x.half())
    assert not can_fuse(x[:1])


def test_both_ways_give_one_network():
    x, edges = drawn(torch.float64, weighted=True)
    layer = GraphLayer(5, 4).double()
    activated = layer.activation(layer.transforms(x)).chunk(2, dim=1)
    assert_close(layer(x, edges), sum_of_neighbours(activated[1], edges, activated[0]))
