"""Networks whose edges have features: invariances, the folded copy, bits without features."""

import pytest
import torch
from tests.nn.cases import POOLING_NAMES, directed_edges, small_settings
from torch import nn
from torch.testing import assert_close

from lfds.nn import Edges, GraphNetwork
from lfds.nn.models.inference import inference_copy
from lfds.nn.ops.ragged import index_from_ptr


def batch(sizes=(6, 0, 9, 1), dtype=torch.float64):
    ptr = torch.tensor([0, *sizes]).cumsum(0)
    x = torch.randn(sum(sizes), 5).to(dtype)
    edges = directed_edges(x, ptr)
    features = torch.randn(len(edges.target), 3).to(dtype)
    return x, ptr, Edges.from_rows(edges.rows.ptr, edges.rows.column, features=features)


def build(pool="loop", **options):
    torch.manual_seed(0)
    return GraphNetwork(5, 3, small_settings(pool, **options), edge_channels=3).double()


@pytest.mark.parametrize("pool", POOLING_NAMES)
def test_permutation_invariant_and_batch_independent(pool):
    model, (x, ptr, edges) = build(pool).eval(), batch()
    together = model(x, ptr, edges)
    for graph in range(4):
        mask = index_from_ptr(ptr, len(x)) == graph
        alone = model(x[mask], torch.tensor([0, int(mask.sum())]), edges.subgraph(mask))
        assert_close(alone[0], together[graph])
    pairs = torch.stack([edges.rows.column.long(), edges.target])
    order = torch.cat([torch.randperm(6), 6 + torch.randperm(9), torch.tensor([15])])
    shuffled = torch.randperm(pairs.shape[1])
    moved = Edges.from_index(
        order.argsort()[pairs][:, shuffled], 16, features=edges.features[shuffled]
    )
    assert_close(model(x[order], ptr, moved), together)


def test_every_parameter_has_a_gradient_and_other_features_other_outputs():
    model, (x, ptr, edges) = build(), batch((20, 0, 30, 1))
    model(x, ptr, edges).square().sum().backward()
    assert all((one.grad != 0).any() for one in model.base.parameters())
    model.eval()
    other = edges._replace(features=edges.features.flip(0))
    assert not torch.allclose(model(x, ptr, other), model(x, ptr, edges))


@pytest.mark.parametrize("pool", ["loop", "max", "diff", "topk"])
def test_the_folded_copy_gives_the_same_outputs(pool):
    model, (x, ptr, edges) = build(pool), batch()
    model(x, ptr, edges)
    for part in model.modules():
        if isinstance(part, nn.BatchNorm1d) and part.affine:
            nn.init.normal_(part.weight)
            nn.init.normal_(part.bias)
    only = Edges.forward_only(edges.rows.ptr, edges.rows.column, edges.features)
    folded = inference_copy(model)
    assert_close(folded(x, ptr, edges), model.eval()(x, ptr, edges))
    if pool in ("loop", "max"):  # the others use the transposed matrix
        assert_close(folded(x, ptr, only), model(x, ptr, edges))


def test_without_features_the_network_is_the_one_of_before():
    torch.manual_seed(0)
    plain = GraphNetwork(5, 3, small_settings("loop"))
    assert not any("edge" in name for name in plain.state_dict())
    torch.manual_seed(0)
    off = GraphNetwork(5, 3, small_settings("loop", edge_features=False), edge_channels=0)
    pairs = zip(plain.parameters(), off.parameters(), strict=True)
    assert all(one.equal(other) for one, other in pairs)
    x, ptr, edges = batch(dtype=torch.float32)
    empty = torch.empty(len(edges.target), 0)
    without = Edges.from_rows(edges.rows.ptr, edges.rows.column)
    assert Edges.from_rows(edges.rows.ptr, edges.rows.column, features=empty).features is None
    assert plain.eval()(x, ptr, without).equal(off.eval()(x, ptr, without))


def test_what_does_not_fit_is_refused_in_one_line():
    model, (x, ptr, edges) = build(), batch()
    without = Edges.from_rows(edges.rows.ptr, edges.rows.column)
    with pytest.raises(ValueError, match="edges must have 3 features each, got 0; build"):
        model(x, ptr, without)
    with pytest.raises(ValueError, match="edges must have 3 features each, got 2"):
        model(x, ptr, edges._replace(features=edges.features[:, :2]))
    with pytest.raises(TypeError, match=r"features of edges must be of the dtype of x.*float64"):
        model(x, ptr, edges._replace(features=edges.features.float()))
    plain = GraphNetwork(5, 3, small_settings("loop")).double()
    with pytest.raises(ValueError, match="edges must have 0 features each, got 3; build the net"):
        plain(x, ptr, edges)
    with pytest.raises(ValueError, match="features must hold a row for each of the 2 edges"):
        Edges.from_rows(torch.tensor([0, 1, 2]), torch.tensor([1, 0]), features=torch.ones(3, 1))
    with pytest.raises(ValueError, match="edge_channels must be at least 0, got -1"):
        GraphNetwork(5, 3, small_settings("loop"), edge_channels=-1)


def test_a_batch_without_edges():
    model = build().eval()
    edges = Edges.from_rows(
        torch.zeros(4).long(), torch.zeros(0).long(), features=torch.zeros(0, 3).double()
    )
    assert model(torch.randn(3, 5).double(), torch.tensor([0, 1, 3]), edges).isfinite().all()
