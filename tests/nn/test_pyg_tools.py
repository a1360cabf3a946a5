"""The layer in PyG: its signature, its layers, its resolver and its tools."""

import copy
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from torch import nn
from torch.testing import assert_close
from torch_geometric.explain import Explainer, GNNExplainer
from torch_geometric.nn import (
    DegreeScalerAggregation,
    GATConv,
    GCNConv,
    HeteroConv,
    MultiAggregation,
    PNAConv,
    SAGEConv,
)
from torch_geometric.nn.resolver import aggregation_resolver
from torch_geometric.utils import to_dense_batch

import lfds

X = torch.randn(12, 4, generator=torch.Generator().manual_seed(0))
INDEX = torch.tensor([2, 0, 0, 3, 2, 2, 0, 3, 3, 3, 0, 2])  # no node of graph 1
EDGES = torch.randint(12, (2, 40), generator=torch.Generator().manual_seed(0))


def make_pool(**options) -> lfds.LFDSPool:
    torch.manual_seed(0)
    return lfds.LFDSPool(4, lfds.Loop(5), **options)


# The signature of PyG's aggregations.


def test_max_num_elements_is_ignored():
    pool = make_pool().eval()
    assert torch.equal(pool(X, INDEX, max_num_elements=2), pool(X, INDEX))
    assert torch.equal(pool(X, INDEX, None, 4, -2, 2), pool(X, INDEX))


@pytest.mark.parametrize("dim", [-2, 0, 1, -3])
@pytest.mark.parametrize("sorted_by", ["index", "ptr", "neither"])
def test_further_dimensions_are_pooled_one_by_one(dim, sorted_by):
    pool = make_pool().eval()
    stack = torch.randn(3, 2, 12, 4, generator=torch.Generator().manual_seed(1))
    if sorted_by == "ptr":
        arguments, graphs = {"ptr": torch.tensor([0, 4, 4, 8, 12])}, 4
    else:
        arguments, graphs = ({"index": INDEX}, 4) if sorted_by == "index" else ({}, 1)
    pooled = pool(stack.movedim(-2, dim), **arguments, dim=dim)
    assert pooled.movedim(dim, -2).shape == (3, 2, graphs, 16)
    for i in range(3):
        for j in range(2):
            assert_close(pooled.movedim(dim, -2)[i, j], pool(stack[i, j], **arguments))


def test_further_dimensions_have_gradients_and_may_be_empty():
    pool = make_pool()
    x = torch.randn(12, 3, 4, requires_grad=True)
    pool(x, INDEX, dim=0, dim_size=6).sum().backward()
    assert x.grad.abs().sum() > 0
    assert pool(x[:, :0], INDEX, dim=0, dim_size=6).shape == (6, 0, 16)


@pytest.mark.plain
@pytest.mark.parametrize(
    ("x", "arguments", "message"),
    [
        (X[None], {"index": INDEX[:3]}, "index must name a graph for each of the 12 rows"),
        (X[None], {"index": INDEX, "dim_size": 2}, "pass dim_size=4 or more"),
        (X[None], {"ptr": torch.tensor([0, 5])}, "ptr must end at the number of rows of x, 12"),
        (X[None], {"index": INDEX, "dim": 2}, "dim must be the node dimension .*any but the last"),
        (X[None], {"index": INDEX, "dim": 7}, "dim must be the node dimension"),
        (X[None], {"index": INDEX, "weight": torch.ones(12)}, "weight goes with x .nodes, chan"),
        (X[:, 0], {"index": INDEX}, "x must have two dimensions"),
    ],
)
def test_wrong_dimensions_are_refused_in_one_line(x, arguments, message):
    with pytest.raises(ValueError, match=message) as refused:
        make_pool()(x, **arguments)
    assert "\n" not in str(refused.value)


# As `aggr=` of a layer.


@pytest.mark.parametrize(
    "make",
    [
        lambda pool: SAGEConv(4, 3, aggr=pool),
        lambda pool: GATConv(4, 4, heads=2, aggr=pool),
        lambda pool: GCNConv(4, 4, aggr=pool),
        lambda pool: HeteroConv({("a", "to", "a"): SAGEConv(4, 3, aggr=pool)}),
    ],
    ids=["SAGEConv", "GATConv", "GCNConv", "HeteroConv"],
)
def test_layers_of_pyg_aggregate_with_it(make):
    layer = make(make_pool(out_channels=4))
    if isinstance(layer, HeteroConv):
        out = layer({"a": X}, {("a", "to", "a"): EDGES})["a"]
    else:
        out = layer(X, EDGES)
    out.square().sum().backward()
    assert out.shape[0] == 12
    idle = [name for name, value in layer.named_parameters() if value.grad is None]
    assert idle == []


def test_towers_of_pna():
    degrees = torch.bincount(EDGES[1].bincount())
    aggregations = ["mean", make_pool(out_channels=4)]
    layer = PNAConv(4, 8, aggregations, ["identity"], degrees, towers=2)
    assert layer(X, EDGES).shape == (12, 8)


def test_several_aggregations_side_by_side():
    order = INDEX.sort().values
    assert MultiAggregation(["mean", make_pool()])(X, order).shape == (4, 4 + 16)
    scaled = DegreeScalerAggregation([make_pool()], ["identity", "linear"], torch.tensor([1, 2, 3]))
    assert scaled(X, order, dim_size=4).shape == (4, 2 * 16)


def test_the_resolver_knows_the_name():
    pool = aggregation_resolver("LFDSPool", 4, "image", num_slots=9)
    assert isinstance(pool, lfds.LFDSPool)
    assert pool.structure.num_slots == 9
    layer = SAGEConv(4, 3, aggr="LFDSPool", aggr_kwargs={"in_channels": 4, "out_channels": 4})
    assert layer(X, EDGES).shape == (12, 3)


def test_out_channels_is_a_linear_map_at_the_end():
    pool = make_pool(out_channels=3).eval()
    plain = copy.deepcopy(pool)
    plain.output_map = None
    expected = plain(X, INDEX) @ pool.output_map.weight.T + pool.output_map.bias
    assert_close(pool(X, INDEX), expected)
    assert pool.out_channels == 3
    assert pool(X[:0], INDEX[:0]).shape == (0, 3)
    lfds.testing.assert_matches_reference(make_pool(out_channels=3))
    before = pool.output_map.weight.clone()
    pool.reset_parameters()
    assert not torch.equal(pool.output_map.weight, before)


# The width from the first batch.


@pytest.mark.parametrize("options", [{}, {"hidden_channels": 3}, {"out_channels": 3}], ids=str)
@pytest.mark.parametrize("anchors", lfds.nn.ANCHORS)
def test_lazy_channels(options, anchors):
    lazy = copy.deepcopy(lfds.LFDSPool(-1, "loop", anchors=anchors, **options).double())
    lazy.reset_parameters()
    assert repr(lazy).startswith("LFDSPool(-1 -> ")
    assert (lazy.in_channels, lazy.out_channels > 0) == (-1, bool(options))
    lazy.eval()(X.double(), INDEX)
    assert not any(module.training for module in lazy.modules())
    eager = lfds.LFDSPool(4, "loop", anchors=anchors, **options).double().eval()
    assert (lazy.in_channels, lazy.out_channels) == (eager.in_channels, eager.out_channels)
    eager.load_state_dict(lazy.state_dict())
    assert_close(eager(X.double(), INDEX), lazy(X.double(), INDEX))
    late = lfds.LFDSPool(-1, "loop", anchors=anchors, **options).double()
    late.load_state_dict(lazy.state_dict())
    assert_close(late.eval()(X.double(), INDEX), lazy(X.double(), INDEX))


@pytest.mark.plain
def test_lazy_channels_are_checked_from_the_second_batch_on():
    pool = lfds.LFDSPool(-1)
    with pytest.raises(TypeError, match="x must be a tensor"):
        pool([1.0])
    with pytest.raises(ValueError, match="two dimensions"):
        pool(X[0])
    pool(X, INDEX)
    with pytest.raises(ValueError, match="x must have 4 channels, got 3"):
        pool(X[:, :3], INDEX)
    with pytest.raises(ValueError, match="out_channels must be at least 1, got 0"):
        lfds.LFDSPool(-1, out_channels=0)


# Weights of nodes, padded batches.


@pytest.mark.parametrize("reduction", lfds.nn.REDUCTIONS)
@pytest.mark.parametrize("options", [{}, {"counts": False, "blend": True, "anchors": "mixture"}])
def test_a_weight_counts_nodes(reduction, options):
    pool = make_pool(reduction=reduction, **options).double().eval()
    x, times = X.double(), torch.tensor([2, 0, 1, 0, 3, 1, 1, 0, 0, 0, 5, 1])
    expected = pool(x.repeat_interleave(times, 0), INDEX.repeat_interleave(times), dim_size=4)
    assert_close(pool(x, INDEX, weight=times.double()), expected)
    ones = pool(x, INDEX, weight=torch.ones(12).double())
    assert_close(ones, pool(x, INDEX))


@pytest.mark.parametrize("reduction", lfds.nn.REDUCTIONS)
def test_distribute_takes_weights_with_gradients(reduction):
    x, anchors = X.double().requires_grad_(), torch.randn(5, 4).double().requires_grad_()
    weight = torch.rand(12).double().add(0.1).requires_grad_()
    ptr = torch.tensor([0, 3, 3, 12])

    def run(x, anchors, weight):
        return lfds.nn.distribute(x, anchors, ptr, weight=weight, reduction=reduction)

    assert torch.autograd.gradcheck(run, (x, anchors, weight))
    part = run(x, anchors, weight)[0]
    share = (x[:3] @ anchors.T).softmax(dim=1) * weight[:3, None]
    divisor = {"sum": 1, "mean": weight[:3].sum(), "mass": share.sum(0)[:, None]}[reduction]
    assert_close(part, share.T @ x[:3] / divisor)


@pytest.mark.plain
@pytest.mark.parametrize(
    ("weight", "error", "message"),
    [
        (torch.ones(3), ValueError, r"each of the 12 rows of x, got \[3\]"),
        (torch.ones(12).double(), TypeError, "weight must be of the dtype of x"),
        (-torch.ones(12), ValueError, "not negative, got -1.0 for node 0"),
        (torch.full((12,), torch.nan), ValueError, "weight must be finite"),
        ([1.0] * 12, TypeError, "weight must be a tensor .nodes., got list"),
    ],
)
def test_wrong_weights_are_refused_in_one_line(weight, error, message):
    for run in (
        lambda: make_pool()(X, INDEX, weight=weight),
        lambda: lfds.nn.distribute(X, torch.ones(5, 4), torch.tensor([0, 12]), weight=weight),
    ):
        with pytest.raises(error, match=message) as refused:
            run()
        assert "\n" not in str(refused.value)


def test_padded_batches():
    pool = make_pool().eval()
    order = INDEX.argsort(stable=True)
    padded, mask = to_dense_batch(X[order], INDEX[order], fill_value=torch.nan, batch_size=5)
    assert_close(pool.forward_dense(padded, mask), pool(X, INDEX, dim_size=5))
    assert_close(pool.forward_dense(X.view(3, 4, 4)), pool(X, torch.arange(12) // 4))


@pytest.mark.plain
def test_wrong_padded_batches_are_refused():
    padded, mask = X.view(3, 4, 4), torch.ones(3, 4)
    with pytest.raises(ValueError, match=r"mask must be of torch.bool \[3, 4\].*got torch.float32"):
        make_pool().forward_dense(padded, mask)
    with pytest.raises(ValueError, match=r"padded batch .*got \[12, 4\]"):
        make_pool().forward_dense(X)


# Tools.


class Network(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.conv, self.pool = GCNConv(4, 4), make_pool()
        self.head = nn.Linear(self.pool.out_channels, 2)

    def forward(self, x, edge_index, batch=None):
        return self.head(self.pool(self.conv(x, edge_index).relu(), batch))


def test_gnn_explainer():
    explainer = Explainer(
        Network().eval(),
        GNNExplainer(epochs=3),
        explanation_type="model",
        node_mask_type="attributes",
        edge_mask_type="object",
        model_config={
            "mode": "multiclass_classification",
            "task_level": "graph",
            "return_type": "raw",
        },
    )
    explained = explainer(X, EDGES)
    assert explained.node_mask.shape == X.shape
    assert explained.edge_mask.abs().sum() > 0


def test_captum_attributes_to_inner_layers():
    captum = pytest.importorskip("captum.attr")
    pool = make_pool().eval()

    def score(x):
        return pool(x[0]).sum(dim=1)

    layer = pool.layers[0].transforms
    activations = captum.LayerActivation(score, layer).attribute(X[None])
    assert_close(activations, layer(pool.place(pool.normalized(pool._ragged(X, None, None, None)))))
    gradients = captum.Saliency(score).attribute(X[None].clone().requires_grad_())
    assert gradients.shape == X[None].shape
    assert gradients.abs().sum() > 0


def test_graphgym_pooling():
    register = pytest.importorskip("torch_geometric.graphgym.register")
    register.register_pooling("lfds", make_pool())
    try:
        assert register.pooling_dict["lfds"](X, INDEX).shape == (4, 16)
    finally:
        del register.pooling_dict["lfds"]


TWO_PROCESSES = """
import sys
sys.path.insert(0, sys.argv[1])
from gin_on_mutag import molecule
from lightning_training import Classifier, train

if __name__ == "__main__":
    graphs = [molecule(i % 2 == 1) for i in range(80)]
    train(Classifier(3, 2), graphs, max_epochs=1, strategy="ddp_spawn", devices=2)
    print("trained")
"""


@pytest.mark.slow
def test_lightning_trains_in_two_processes(tmp_path):
    pytest.importorskip("lightning")
    script = tmp_path / "two_processes.py"
    script.write_text(TWO_PROCESSES)
    command = [sys.executable, str(script), str(Path(__file__).parents[2] / "examples")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "trained" in done.stdout
