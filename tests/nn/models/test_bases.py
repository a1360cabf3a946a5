"""Every base with every pooling: gradients, invariances, initial weights, features of edges."""

import pytest
import torch
from tests.nn.cases import POOLING_NAMES, small_settings
from torch.testing import assert_close
from torch_geometric.nn import GATv2Conv, GCNConv, GINConv, GINEConv, PNAConv, SAGEConv
from torch_geometric.nn.aggr import DegreeScalerAggregation

from lfds.config.registry import BASES
from lfds.nn import Edges, GraphNetwork, NetworkSettings
from lfds.nn.models.inference import inference_copy
from lfds.nn.ops.ragged import index_from_ptr
from lfds.nn.randomness import initialize_from

OTHERS = tuple(name for name in BASES if name != "spatial")
EDGES = tuple(name for name in OTHERS if BASES[name].uses_edges)


def build(base, pool="loop", edge_channels=0, **options):
    torch.manual_seed(0)
    settings = small_settings(pool, base=base, **options)
    return GraphNetwork(5, 3, settings, edge_channels=edge_channels).double()


def batch(sizes=(6, 0, 9, 1), edge_channels=0):
    ptr = torch.tensor([0, *sizes]).cumsum(0)
    x = torch.randn(sum(sizes), 5).double()
    index = torch.repeat_interleave(ptr.diff())
    # Not a threshold on a sum, by which many nodes have the same neighbours and, after a layer that
    # sees little else, the same score: which of them a ranking keeps would depend on their order.
    linked = (x[:, :4] @ x[:, 1:].T > 0.3) & (index[:, None] == index)
    pairs = linked.fill_diagonal_(False).nonzero().T
    features = torch.randn(pairs.shape[1], edge_channels).double()
    return x, ptr, Edges.from_index(pairs, len(x), features=features)


def assert_invariant(model, x, ptr, edges):
    """Permutation-invariant in nodes and edges, and batch-independent, in evaluation."""
    model.eval()
    together = model(x, ptr, edges)
    for graph, size in enumerate(ptr.diff().tolist()):
        mask = index_from_ptr(ptr, len(x)) == graph
        alone = model(x[mask], torch.tensor([0, size]), edges.subgraph(mask))
        assert_close(alone[0], together[graph])
    order = torch.cat(
        [start + torch.randperm(n) for start, n in zip(ptr[:-1], ptr.diff().tolist(), strict=True)]
    )
    shuffled = torch.randperm(edges.pairs.shape[1])
    features = None if edges.features is None else edges.features[shuffled]
    pairs = order.argsort()[edges.pairs][:, shuffled]
    moved = Edges.from_index(pairs, len(x), features=features)
    assert_close(model(x[order], ptr, moved), together)


@pytest.mark.parametrize("pool", POOLING_NAMES)
@pytest.mark.parametrize("base", OTHERS)
def test_every_pooling_runs_on_every_base(base, pool):
    channels = 2 * BASES[base].uses_edges
    model, (x, ptr, edges) = build(base, pool, channels), batch((6, 0, 9, 1), channels)
    (model(x, ptr, edges).square().sum() + model.penalty()).backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.isfinite().all(), name
    assert_invariant(model, x, ptr, edges)


@pytest.mark.parametrize("base", EDGES)
def test_features_of_edges_count_where_a_base_takes_them(base):
    model, (x, ptr, edges) = build(base, edge_channels=2).eval(), batch(edge_channels=2)
    other = edges._replace(features=edges.features.flip(0))
    assert not torch.allclose(model(x, ptr, other), model(x, ptr, edges))
    plain, (x, ptr, edges) = build(base), batch()
    assert_invariant(plain, x, ptr, edges)  # without any they run, too


@pytest.mark.parametrize("base", [name for name in OTHERS if name not in EDGES])
def test_a_base_that_takes_no_features_of_edges_says_so(base):
    with pytest.raises(ValueError, match=f"the base '{base}' does not use features of edges, got"):
        build(base, edge_channels=2)


@pytest.mark.parametrize("base", BASES)
def test_initial_weights_come_from_the_stream_of_a_seed(base):
    settings = small_settings("loop", base=base)
    made = []
    for _ in range(2):
        torch.rand(3)  # the global generator does not matter
        with initialize_from(7):
            made.append(GraphNetwork(5, 3, settings).state_dict())
    assert all(torch.equal(made[0][name], made[1][name]) for name in made[0])


@pytest.mark.parametrize("base", OTHERS)
def test_batches_of_one_node_and_of_none(base):
    model = build(base)
    one = Edges.from_rows(torch.tensor([0, 0]), torch.zeros(0).long())
    assert model(torch.randn(1, 5).double(), torch.tensor([0, 1]), one).isfinite().all()
    none = Edges.from_rows(torch.tensor([0]), torch.zeros(0).long())
    found = model.eval()(torch.zeros(0, 5).double(), torch.tensor([0, 0, 0]), none)
    assert found.isfinite().all()


@pytest.mark.parametrize("base", OTHERS)
def test_the_copy_for_inference_and_stored_weights(base):
    channels = 2 * BASES[base].uses_edges
    model, inputs = build(base, edge_channels=channels), batch(edge_channels=channels)
    model(*inputs)
    expected = model.eval()(*inputs)
    assert_close(inference_copy(model)(*inputs), expected)
    again = build(base, edge_channels=channels)
    again.load_state_dict(model.state_dict())
    assert_close(again.eval()(*inputs), expected)
    with torch.device("meta"):
        shapes = GraphNetwork(5, 3, model.settings, edge_channels=channels).state_dict()
    assert {name: one.shape for name, one in shapes.items()} == {
        name: one.shape for name, one in model.state_dict().items()
    }


def test_the_layers_are_those_of_pyg():
    kinds = {
        "gin": GINConv, "gine": GINEConv, "gcn": GCNConv, "sage": SAGEConv, "gat": GATv2Conv,
        "pna": PNAConv,
    }  # fmt: skip
    for name, kind in kinds.items():
        first = build(name).base.layers[0].eval()
        assert type(first.conv) is kind
        x, ptr, edges = batch()
        expected = first.activation(first.conv(x, edges.pairs, **first._given(x, edges)))
        assert_close(first(x, edges, ptr), expected)


def test_pna_scales_by_the_degrees_of_the_training_nodes():
    model = build("pna")
    degrees = torch.tensor([1, 3, 3, 0])
    model.set_degrees(degrees)
    scalers = [one for one in model.modules() if isinstance(one, DegreeScalerAggregation)]
    assert len(scalers) == 3
    for scaler in scalers:
        assert float(scaler.avg_deg_lin) == pytest.approx(7 / 4)
        assert float(scaler.avg_deg_log) == pytest.approx(float(degrees.log1p().mean()))
    model.set_degrees(torch.zeros(4).long())  # no edges at all: nothing to scale by
    assert float(scalers[0].avg_deg_lin) == pytest.approx(7 / 4)
    build("gin").set_degrees(degrees)  # others do not need them


def test_names_and_widths_are_checked():
    with pytest.raises(ValueError, match=r"no base is called 'gim'.*gin"):
        NetworkSettings(pool="max", base="gim")
    for base in ("gat", "gps"):
        with pytest.raises(ValueError, match="width must be a multiple of heads, got 10 and 4"):
            NetworkSettings(pool="max", base=base, width=10)
    assert NetworkSettings(pool="max", base="gin", width=10).uses_edges is False
    assert "base" not in NetworkSettings(pool="max").as_recorded()
