import copy
import inspect
import itertools
import pickle
from functools import partial

import numpy as np
import pytest
import torch
from tests.nn.cases import STRUCTURES, VARIANTS
from torch import nn
from torch.testing import assert_close
from torch.utils.checkpoint import checkpoint
from torch_geometric.data import Batch, Data
from torch_geometric.nn import GCNConv, MessagePassing, MultiAggregation
from torch_geometric.nn.aggr import Aggregation

import lfds
from lfds.config.network import PAPER_LAYER, PAPER_SLOTS, LayerSettings, NetworkSettings
from lfds.nn.pool import penalty
from lfds.testing import assert_matches_reference

X = torch.randn(7, 4, generator=torch.Generator().manual_seed(0))
INDEX = torch.tensor([2, 0, 0, 3, 2, 2, 0])
every_structure = pytest.mark.parametrize("name", STRUCTURES)
every_anchors = pytest.mark.parametrize("anchors", lfds.nn.ANCHORS)


# Defaults, the layer of the paper, sizes.


def test_defaults_are_those_of_the_settings():
    signature = inspect.signature(lfds.LFDSPool).parameters
    defaults = {name: signature[name].default for name in LayerSettings.layer_fields()}
    assert defaults == LayerSettings().layer_options()


@every_structure
def test_a_structure_by_name_is_that_of_the_default_settings(name):
    pool = lfds.LFDSPool(4, name)
    assert type(pool.structure) is lfds.STRUCTURES[name]
    expected = lfds.STRUCTURES[name].from_settings(NetworkSettings(pool=name))
    assert repr(pool.structure) == repr(expected)
    assert pool.structure.num_slots == 16
    assert pool.out_channels == 2 * 2 * 4  # layers, maxima and weighted sums, channels


@every_structure
def test_the_paper_has_64_slots_a_sum_dropout_blend_and_maxima(name):
    pool = lfds.LFDSPool.paper(4, name)
    assert pool.structure.num_slots == PAPER_SLOTS == 64
    assert (pool.reduction, pool.readout, pool.slot_dropout.p) == ("sum", "max", 0.4)
    assert (pool.counts, pool.node_norm, pool.input_map) == (None, None, None)
    assert pool.blend is not None
    assert pool(X, INDEX).shape == (4, pool.out_channels) == (4, 2 * 4)


def test_the_paper_does_not_normalize_a_learned_adjacency():
    assert not lfds.LFDSPool.paper(4, "learned-spatial").structure.normalized
    assert lfds.LFDSPool(4, "learned-spatial").structure.normalized


def test_options_override_the_paper():
    pool = lfds.LFDSPool.paper(4, "image", num_slots=9, blend=False, anchors="mixture", depth=1)
    assert (pool.structure.num_slots, pool.blend, pool.depth) == (9, None, 1)
    assert (pool.reduction, pool.readout) == ("sum", "max")
    assert isinstance(pool.anchors, lfds.nn.MixtureAnchors)
    structure = lfds.Loop(5)
    assert lfds.LFDSPool.paper(4, structure).structure is structure


def test_the_options_of_the_paper_are_options_of_the_layer():
    assert set(PAPER_LAYER) <= set(LayerSettings.layer_fields())


@every_structure
@pytest.mark.parametrize("make", [lfds.LFDSPool, lfds.LFDSPool.paper], ids=["default", "paper"])
def test_num_slots(name, make):
    pool = make(4, name, num_slots=25)
    assert pool.structure.num_slots == 25
    assert pool.shares(X).shape == (7, 25)


@every_structure
@pytest.mark.parametrize("depth", [1, 2, 5])
def test_any_depth(name, depth):
    pool = lfds.LFDSPool(4, STRUCTURES[name](), depth=depth, readout="max")
    assert len(pool.layers) == depth
    assert pool(X, INDEX).shape == (4, pool.out_channels) == (4, 4 * depth)


@every_structure
def test_hidden_channels_are_a_linear_map_before_the_layer(name):
    pool = lfds.LFDSPool(4, STRUCTURES[name](), hidden_channels=3)
    assert (pool.in_channels, pool.hidden_channels, pool.out_channels) == (4, 3, 12)
    assert_matches_reference(pool)
    plain = lfds.LFDSPool(3, STRUCTURES[name]())
    plain.load_state_dict(pool.state_dict(), strict=False)
    linear = nn.Linear(4, 3, bias=False)
    linear.load_state_dict(pool.input_map.state_dict())
    for mode in (True, False):
        expected = plain.train(mode)(linear(X), INDEX)
        assert_close(pool.train(mode)(X, INDEX), expected)
    assert_close(pool.shares(X, INDEX), plain.shares(linear(X), INDEX))
    assert_close(pool.activations(X, INDEX), plain.activations(linear(X), INDEX))


def test_without_hidden_channels_there_is_no_map():
    pool = lfds.LFDSPool(4)
    assert (pool.input_map, pool.hidden_channels) == (None, 4)
    same = lfds.LFDSPool(4, hidden_channels=4)
    assert same.input_map is not None


def test_reset_draws_the_linear_map_anew():
    pool = lfds.LFDSPool(4, hidden_channels=3)
    before = pool.input_map.weight.detach().clone()
    pool.reset_parameters()
    assert not torch.allclose(pool.input_map.weight, before)


# A PyG aggregation.


def test_it_is_a_pyg_aggregation():
    pool = lfds.LFDSPool(4).eval()
    assert isinstance(pool, Aggregation)
    ptr, order = torch.tensor([0, 3, 3, 6, 7]), INDEX.argsort(stable=True)
    expected = pool(X, INDEX)
    assert_close(pool(X[order], ptr=ptr), expected)
    assert_close(pool(X[order], INDEX[order], ptr), expected)
    assert_close(pool(X, INDEX, dim_size=4, dim=0), expected)
    assert_close(pool(X, INDEX.int()), expected)
    assert pool(X, INDEX, dim_size=6).shape == (6, pool.out_channels)
    assert pool(X).shape == (1, pool.out_channels)


def test_it_aggregates_messages():
    class Sender(MessagePassing):
        def forward(self, x, edge_index):
            return self.propagate(edge_index, x=x)

    pool = lfds.LFDSPool(4, lfds.Loop(5)).eval()
    edge_index = torch.tensor([[1, 2, 0, 5, 3], [0, 0, 6, 2, 2]])
    received = Sender(aggr=pool)(X, edge_index)
    assert received.shape == (7, pool.out_channels)
    assert_close(received[0], pool(X[[1, 2]])[0])
    assert_close(received[2], pool(X[[5, 3]])[0])
    assert_close(received[1], pool(X[:0])[0])


def test_it_is_one_of_several_aggregations():
    both = MultiAggregation([lfds.LFDSPool(4), "mean"])
    assert both(X, INDEX.sort().values).shape == (4, 16 + 4)


@every_structure
def test_gradients_reach_a_network_before_it(name):
    graphs = [Data(x=torch.randn(n, 3), edge_index=torch.randint(n, (2, 2 * n))) for n in (4, 9, 2)]
    batch = Batch.from_data_list(graphs)
    convolution, pool = GCNConv(3, 4), lfds.LFDSPool(4, STRUCTURES[name]())
    vectors = pool(convolution(batch.x, batch.edge_index), batch.batch)
    vectors.square().sum().backward()
    assert vectors.shape == (3, pool.out_channels)
    assert float(convolution.lin.weight.grad.abs().sum()) > 0


# A torch module.


@every_structure
@every_anchors
@pytest.mark.parametrize("hidden_channels", [None, 16])  # enough for some to pass the ReLU
def test_every_parameter_learns(name, anchors, hidden_channels):
    pool = lfds.LFDSPool(4, STRUCTURES[name](), anchors=anchors, hidden_channels=hidden_channels)
    vectors = pool(X, INDEX)
    assert vectors.shape == (4, pool.out_channels)
    (vectors.square().sum() + pool.penalty()).backward()
    idle = [key for key, value in pool.named_parameters() if not value.grad.abs().sum() > 0]
    assert idle == []


@every_structure
def test_no_graphs(name):
    pool = lfds.LFDSPool(4, STRUCTURES[name](), hidden_channels=3)
    for mode in (True, False):
        x = torch.zeros(0, 4, requires_grad=True)
        vectors = pool.train(mode)(x, torch.zeros(0, dtype=torch.long))
        assert vectors.shape == (0, pool.out_channels)
        vectors.sum().backward()
        assert x.grad.shape == (0, 4)
    assert pool.picks(X[:0], INDEX[:0], dim_size=0).shape == (0, 2, 16)


@every_structure
def test_one_node_in_training(name):
    assert lfds.LFDSPool(4, STRUCTURES[name]())(X[:1]).isfinite().all()


@every_structure
def test_hooks_on_inner_modules_fire(name):
    pool, seen = lfds.LFDSPool(4, STRUCTURES[name](), hidden_channels=3, blend=True), set()
    for part, module in pool.named_modules():
        module.register_forward_hook(lambda *_, part=part: seen.add(part))
    pool(X, INDEX)
    assert {"", "input_map", "anchors", "node_norm", "blend", "counts", "weights.1"} <= seen
    assert {"layers.0", "layers.1", "layers.0.activation", "layers.1.activation.norm"} <= seen


def gradients(run, module):
    """The gradients of nodes and parameters; slot dropout draws the same every time."""
    module.zero_grad()
    torch.manual_seed(0)
    x = X.double().requires_grad_()
    run(x, INDEX).square().sum().backward()
    return [x.grad, *(parameter.grad for parameter in module.parameters())]


@every_structure
@pytest.mark.parametrize("make", [lfds.LFDSPool, lfds.LFDSPool.paper], ids=["default", "paper"])
@pytest.mark.parametrize("training", [True, False])
def test_checkpointing_gives_the_same_gradients(name, make, training):
    pool = make(4, STRUCTURES[name]()).double().train(training)
    same = copy.deepcopy(pool)
    found = gradients(partial(checkpoint, same, use_reentrant=False), same)
    assert_close(found, gradients(pool, pool))


def test_low_memory_gives_the_same_vectors():
    pool = lfds.LFDSPool(4, lfds.Loop(5)).eval()
    frugal = copy.deepcopy(pool)
    frugal.low_memory = True
    assert_close(frugal(X, INDEX), pool(X, INDEX))


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("make", [lfds.LFDSPool, lfds.LFDSPool.paper], ids=["default", "paper"])
@every_structure
def test_other_precisions(name, make, dtype):
    x = torch.randn(70, 4)
    index = INDEX.repeat(10)
    pool = make(4, STRUCTURES[name](), hidden_channels=3).to(dtype)
    vectors = pool(x.to(dtype), index)
    vectors.float().square().sum().backward()
    assert vectors.dtype == dtype
    assert vectors.isfinite().all()
    exact = copy.deepcopy(pool).float().eval()(x, index)
    error = (pool.eval()(x.to(dtype), index).float() - exact).abs().max() / exact.abs().max()
    assert error < {torch.float64: 1e-6, torch.bfloat16: 0.05, torch.float16: 0.005}[dtype]


@every_anchors
@pytest.mark.parametrize("hidden_channels", [None, 6])
def test_autocast(anchors, hidden_channels):
    x, index = torch.randn(70, 4), INDEX.repeat(10)
    network = nn.Sequential(nn.Linear(4, 8), nn.ReLU())
    pool = lfds.LFDSPool(8, anchors=anchors, hidden_channels=hidden_channels)
    exact = pool(network(x), index)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        vectors = pool(network(x), index)
        vectors.float().square().sum().backward()
    assert (vectors.float() - exact).abs().max() < 0.1 * exact.abs().max()
    assert network[0].weight.grad.dtype == torch.float32
    assert all(parameter.grad.isfinite().all() for parameter in pool.parameters())


@pytest.mark.parametrize("name", {**STRUCTURES, **VARIANTS})
def test_copies_and_pickles_pool_the_same(name):
    structure = {**STRUCTURES, **VARIANTS}[name]()
    options = {"anchors": "mixture", "reduction": "mass", "hidden_channels": 3}
    pool = lfds.LFDSPool(4, structure, **options).eval()
    for twin in (copy.deepcopy(pool), pickle.loads(pickle.dumps(pool))):
        assert torch.equal(twin(X, INDEX), pool(X, INDEX))
        assert repr(twin) == repr(pool)
        twin.reset_parameters()
        assert not torch.allclose(twin(X, INDEX), pool(X, INDEX))


@every_structure
def test_meta_tensors(name):
    pool = lfds.LFDSPool(4, STRUCTURES[name](), hidden_channels=3).to("meta")
    vectors = pool(X.to("meta"), ptr=torch.tensor([0, 3, 7], device="meta"))
    assert vectors.shape == (2, pool.out_channels)
    assert repr(pool).startswith("LFDSPool(4 -> 12")


@pytest.mark.parametrize("make", [lfds.LFDSPool, lfds.LFDSPool.paper], ids=["default", "paper"])
def test_derivatives_of_torch_func(make):
    pool = make(4, lfds.Loop(5)).double().eval()
    x, direction = X.double(), torch.randn(7, 4, dtype=torch.float64)

    def pooled(x):
        return pool(x, INDEX, dim_size=4)

    _, slope = torch.func.jvp(pooled, (x,), (direction,))
    step = 1e-6
    assert_close(slope, (pooled(x + step * direction) - pooled(x - step * direction)) / (2 * step))
    grad = torch.func.grad(lambda x: pooled(x).square().sum())(x)
    own = x.clone().requires_grad_()
    pooled(own).square().sum().backward()
    assert_close(grad, own.grad)


def test_anchors_that_are_given():
    start = torch.randn(8, 4)
    assert_close(lfds.LFDSPool(4, lfds.Loop(8), anchors=start).anchors(), start)
    module = lfds.nn.MixtureAnchors(4, 8, candidates=2)
    assert lfds.LFDSPool(4, lfds.Loop(8), anchors=module).anchors is module
    wide = lfds.LFDSPool(9, lfds.Loop(8), hidden_channels=4, anchors=start)
    assert_close(wide.anchors(), start)


def test_repr():
    pool = lfds.LFDSPool(16, lfds.Loop(32), depth=3, hidden_channels=8, anchors="mixture")
    assert repr(pool) == (
        "LFDSPool(16 -> 48, Loop(32 slots), hidden_channels=8, anchors=MixtureAnchors, "
        "reduction='mean', depth=3, readout='max+weighted')"
    )


# What can be read from it.


@every_anchors
def test_shares_are_in_the_order_of_the_nodes(anchors):
    pool = lfds.LFDSPool(4, lfds.Loop(5), anchors=anchors).eval()
    found = pool.shares(X, INDEX)
    assert_close(found.sum(dim=1), torch.ones(7))
    for graph in (0, 2, 3):
        (own,) = torch.where(graph == INDEX)
        assert_close(found[own], pool.shares(X[own]))


@every_structure
@every_anchors
def test_the_output_is_read_from_the_activations(name, anchors):
    pool = lfds.LFDSPool(4, STRUCTURES[name](), anchors=anchors, depth=3, readout="max").eval()
    slots = pool.activations(X, INDEX, dim_size=5)
    assert slots.shape == (5, 3, 16, 4)
    assert_close(slots.amax(dim=2).flatten(1), pool(X, INDEX, dim_size=5))
    pool.readout = "max+mean"
    both = torch.cat([slots.amax(dim=2), slots.mean(dim=2)], dim=2)
    assert_close(both.flatten(1), pool(X, INDEX, dim_size=5))


def count_picks(slots):
    graphs, depth, num_slots, channels = slots.shape
    counts = torch.zeros(graphs, depth, num_slots)
    for graph, layer, channel in itertools.product(range(graphs), range(depth), range(channels)):
        column = slots[graph, layer, :, channel].tolist()
        best = [slot for slot, value in enumerate(column) if value == max(column)]
        for slot in best:
            counts[graph, layer, slot] += 1 / len(best)
    return counts


def test_picks_count_the_channels_of_which_a_slot_has_the_maximum():
    pool = lfds.LFDSPool(4, lfds.Loop(6)).eval()
    picks = pool.picks(X, INDEX)
    assert_close(picks, count_picks(pool.activations(X, INDEX)))
    assert_close(picks.sum(dim=-1), torch.full((4, 2), 4.0))


def test_slots_that_tie_have_equal_parts_of_a_pick():
    pool = lfds.LFDSPool(4, lfds.Array(5)).eval()
    with torch.no_grad():
        for layer in pool.layers:
            layer.convolution.weight.zero_()
            layer.convolution.bias.fill_(-1.0)
    assert_close(pool.picks(X, INDEX), torch.full((4, 2, 5), 4 / 5))


def test_penalties_of_a_model_are_summed_once_for_each_structure():
    shared = lfds.LearnedSpectrum(6)
    model = nn.ModuleDict(
        {
            "one": lfds.LFDSPool(4, shared),
            "same": lfds.LFDSPool(4, shared),
            "other": nn.Sequential(lfds.LFDSPool(4, lfds.LearnedSpectrum(5))),
            "none": lfds.LFDSPool(4, "loop"),
        }
    )
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.1 * torch.randn(parameter.shape))
    expected = model["one"].penalty() + model["other"][0].penalty()
    assert_close(penalty(model), expected)
    assert penalty(nn.Linear(2, 2)).item() == 0
    assert model["none"].penalty().item() == 0


# Options that cannot be.


@pytest.mark.plain
@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((4, "lop"), ValueError, "one of image, .*got 'lop'; did you mean 'loop'"),
        ((4, "spiral"), ValueError, f"one of {', '.join(lfds.STRUCTURES)}"),
        ((4, lfds.Loop), TypeError, r"got the class Loop; use Loop\(\.\.\.\)"),
        ((4, torch.ones(3, 3)), TypeError, r"use LatentGraph\(adjacency\)"),
        ((0,), ValueError, "in_channels must be at least 1, got 0"),
        ((4.0,), TypeError, "in_channels must be an integer, got 4.0"),
        ((4, "loop", {"depth": 0}), ValueError, "depth must be at least 1, got 0"),
        ((4, "loop", {"hidden_channels": 0}), ValueError, "hidden_channels must be at least 1"),
        ((4, "loop", {"hidden_channels": 2.5}), TypeError, "hidden_channels must be an integer"),
        ((4, "loop", {"num_slots": 1}), ValueError, "num_slots must be at least 2, got 1"),
        ((4, "loop", {"num_slots": 2}), ValueError, r"at least 3.*got 2; use Sequence\(2\)"),
        ((4, "loop", {"num_slots": 2.5}), TypeError, "num_slots must be an integer, got 2.5"),
        ((4, "image", {"num_slots": 12}), ValueError, "square number, got 12; use 9 or 16$"),
        ((4, lfds.Loop(5), {"num_slots": 5}), ValueError, "has its own number of slots"),
        ((4, "loop", {"anchors": "mixtures"}), ValueError, "did you mean 'mixture'"),
        ((4, "loop", {"anchors": 3}), TypeError, "anchors must be a name .* got int"),
        ((4, "loop", {"reduction": "max"}), ValueError, "one of sum, mean, mass, got 'max'"),
        ((4, "loop", {"readout": "mean"}), ValueError, "readout must be one of max, max.mean"),
        ((4, "loop", {"slot_dropout": 1.0}), ValueError, "0 switches it off"),
        (
            (4, lfds.Image(8, 8), {"anchors": torch.randn(60, 4)}),
            ValueError,
            r"\[64, 4\], a row for each slot of Image\(8x8 slots\), got \[60, 4\]",
        ),
        (
            (4, lfds.Loop(8), {"anchors": lfds.nn.FixedAnchors(4, 9)}),
            ValueError,
            r"\[8, 4\].*got \[9, 4\]",
        ),
        ((4, "loop", {"slots": 8}), TypeError, "slots"),
        ((4, "loop", {"low_memory": "no"}), TypeError, "low_memory must be True or False"),
        ((4, "loop", {"blend": "no"}), TypeError, "blend must be True or False, got 'no'"),
        ((4, "loop", {"node_norm": 1}), TypeError, "node_norm must be True or False, got 1"),
        ((4, "loop", {"counts": 1}), TypeError, "counts must be True or False, got 1"),
        ((4, "loop", {"slot_dropout": "0.4"}), TypeError, "slot_dropout must be a number"),
    ],
)
@pytest.mark.parametrize("make", [lfds.LFDSPool, lfds.LFDSPool.paper], ids=["default", "paper"])
def test_invalid_options_are_refused_in_one_line(make, arguments, error, message):
    *positional, options = arguments if isinstance(arguments[-1], dict) else (*arguments, {})
    with pytest.raises(error, match=message) as refused:
        make(*positional, **options)
    assert "\n" not in str(refused.value)


@pytest.mark.plain
def test_sizes_may_be_integers_of_numpy():
    pool = lfds.LFDSPool(np.int64(4), "image", num_slots=np.int64(9), hidden_channels=np.int64(3))
    assert (pool.in_channels, pool.structure.num_slots, pool.hidden_channels) == (4, 9, 3)
