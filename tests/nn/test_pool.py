import copy
import itertools
import pickle

import numpy as np
import pytest
import torch
from torch import nn
from torch.testing import assert_close
from torch_geometric.data import Batch, Data
from torch_geometric.nn import GCNConv, MessagePassing, MultiAggregation
from torch_geometric.nn.aggr import Aggregation

import lfds
from lfds.nn.pool import penalty

X = torch.randn(7, 4, generator=torch.Generator().manual_seed(0))
INDEX = torch.tensor([2, 0, 0, 3, 2, 2, 0])


@pytest.mark.parametrize("name", lfds.STRUCTURES)
@pytest.mark.parametrize("anchors", lfds.nn.ANCHORS)
def test_every_parameter_learns(name, anchors):
    pool = lfds.LFDSPool(4, name, anchors=anchors)
    vectors = pool(X, INDEX)
    assert vectors.shape == (4, pool.out_channels) == (4, 8)
    (vectors.square().sum() + pool.penalty()).backward()
    idle = [key for key, value in pool.named_parameters() if not value.grad.abs().sum() > 0]
    assert idle == []


def test_it_is_a_pyg_aggregation():
    pool = lfds.LFDSPool(4).eval()
    assert isinstance(pool, Aggregation)
    ptr, order = torch.tensor([0, 3, 3, 6, 7]), INDEX.argsort(stable=True)
    expected = pool(X, INDEX)
    assert_close(pool(X[order], ptr=ptr), expected)
    assert_close(pool(X[order], INDEX[order], ptr), expected)
    assert_close(pool(X, INDEX, dim_size=4, dim=0), expected)
    assert_close(pool(X, INDEX.int()), expected)
    assert pool(X, INDEX, dim_size=6).shape == (6, 8)
    assert pool(X).shape == (1, 8)


def test_it_aggregates_messages():
    class Sender(MessagePassing):
        def forward(self, x, edge_index):
            return self.propagate(edge_index, x=x)

    pool = lfds.LFDSPool(4, lfds.Loop(5)).eval()
    edge_index = torch.tensor([[1, 2, 0, 5, 3], [0, 0, 6, 2, 2]])
    received = Sender(aggr=pool)(X, edge_index)
    assert received.shape == (7, 8)
    assert_close(received[0], pool(X[[1, 2]])[0])
    assert_close(received[2], pool(X[[5, 3]])[0])
    assert_close(received[1], pool(X[:0])[0])


def test_it_stands_beside_other_aggregations():
    both = MultiAggregation([lfds.LFDSPool(4), "mean"])
    assert both(X, INDEX.sort().values).shape == (4, 12)


def test_it_pools_a_network_trained_with_pyg():
    graphs = [Data(x=torch.randn(n, 3), edge_index=torch.randint(n, (2, 2 * n))) for n in (4, 9, 2)]
    batch = Batch.from_data_list(graphs)
    convolution, pool = GCNConv(3, 4), lfds.LFDSPool(4, "image")
    vectors = pool(convolution(batch.x, batch.edge_index), batch.batch)
    vectors.sum().backward()
    assert vectors.shape == (3, 8)
    assert float(convolution.lin.weight.grad.abs().sum()) > 0


@pytest.mark.parametrize("depth", [1, 2, 5])
def test_any_depth(depth):
    pool = lfds.LFDSPool(4, depth=depth)
    assert pool.out_channels == 4 * depth
    assert pool(X, INDEX).shape == (4, 4 * depth)


def test_no_graphs():
    pool = lfds.LFDSPool(4)
    for mode in (True, False):
        x = torch.zeros(0, 4, requires_grad=True)
        vectors = pool.train(mode)(x, torch.zeros(0, dtype=torch.long))
        assert vectors.shape == (0, 8)
        vectors.sum().backward()
        assert x.grad.shape == (0, 4)


def test_one_node_in_training():
    assert lfds.LFDSPool(4)(X[:1]).isfinite().all()


@pytest.mark.parametrize("anchors", lfds.nn.ANCHORS)
def test_shares_come_in_the_order_of_the_nodes(anchors):
    pool = lfds.LFDSPool(4, lfds.Loop(5), anchors=anchors)
    found = pool.shares(X, INDEX)
    assert_close(found.sum(dim=1), torch.ones(7))
    for graph in (0, 2, 3):
        (own,) = torch.where(graph == INDEX)
        assert_close(found[own], pool.shares(X[own]))


def test_the_blend_is_what_it_says():
    pool = lfds.LFDSPool(4, lfds.Loop(5), blend=False)
    assert pool.blend is None
    blended = lfds.LFDSPool(4, lfds.Loop(5), anchors=pool.anchors)
    batch = lfds.nn.ops.ragged.ragged(X)
    largest = X.amax(dim=0)
    assert_close(blended.place(batch)[0], pool.place(batch)[0] + largest)


def test_slot_dropout_silences_slots_in_training_only():
    pool = lfds.LFDSPool(4, slot_dropout=0.5)
    assert not torch.allclose(pool(X), pool(X))
    pool.eval()
    assert torch.equal(pool(X), pool(X))


def test_low_memory_changes_nothing_but_memory():
    pool = lfds.LFDSPool(4, lfds.Loop(5)).eval()
    thrifty = copy.deepcopy(pool)
    thrifty.low_memory = True
    assert_close(thrifty(X, INDEX), pool(X, INDEX))


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("name", lfds.STRUCTURES)
def test_other_precisions(name, dtype):
    pool = lfds.LFDSPool(4, name).to(dtype)
    vectors = pool(X.to(dtype), INDEX)
    vectors.float().square().sum().backward()
    assert vectors.dtype == dtype
    assert vectors.isfinite().all()
    exact = copy.deepcopy(pool).float().eval()(X, INDEX)
    error = (pool.eval()(X.to(dtype), INDEX).float() - exact).abs().max() / exact.abs().max()
    assert error < {torch.float64: 1e-6, torch.bfloat16: 0.05, torch.float16: 0.005}[dtype]


@pytest.mark.parametrize("anchors", lfds.nn.ANCHORS)
def test_autocast(anchors):
    network = nn.Sequential(nn.Linear(4, 8), nn.ReLU())
    pool = lfds.LFDSPool(8, anchors=anchors, slot_dropout=0.0)
    exact = pool(network(X), INDEX)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        vectors = pool(network(X), INDEX)
        vectors.float().sum().backward()
    assert_close(vectors.float(), exact, rtol=0.1, atol=0.2)
    assert network[0].weight.grad.dtype == torch.float32
    assert all(parameter.grad.isfinite().all() for parameter in pool.parameters())


@pytest.mark.parametrize("name", lfds.STRUCTURES)
def test_copies_and_pickles_are_the_same_pooling(name):
    pool = lfds.LFDSPool(4, name, anchors="mixture", reduction="mass").eval()
    for twin in (copy.deepcopy(pool), pickle.loads(pickle.dumps(pool))):
        assert torch.equal(twin(X, INDEX), pool(X, INDEX))
        assert repr(twin) == repr(pool)
        twin.reset_parameters()
        assert not torch.allclose(twin(X, INDEX), pool(X, INDEX))


def test_repr_shows_the_map():
    assert repr(lfds.LFDSPool(16, lfds.Loop(32), depth=3)) == (
        "LFDSPool(16 -> 48, Loop(32 slots), anchors=FixedAnchors, reduction='sum', depth=3)"
    )


def test_the_penalties_of_a_model_are_found_wherever_they_are():
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


@pytest.mark.plain
@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ((4, "lop"), ValueError, "one of image, array.*got 'lop'; did you mean 'loop'"),
        ((4, "spiral"), ValueError, "one of image, array, sequence, loop, learned-spatial"),
        ((4, lfds.Loop), TypeError, r"got the class Loop; use Loop\(\.\.\.\)"),
        ((4, torch.ones(3, 3)), TypeError, r"use LatentGraph\(adjacency\)"),
        ((0,), ValueError, "channels must be at least 1, got 0"),
        ((4.0,), TypeError, "channels must be an integer, got 4.0"),
        ((4, "loop", {"depth": 0}), ValueError, "depth must be at least 1, got 0"),
        ((4, "loop", {"anchors": "mixtures"}), ValueError, "did you mean 'mixture'"),
        ((4, "loop", {"anchors": 3}), TypeError, "anchors must be a name .* got int"),
        ((4, "loop", {"reduction": "max"}), ValueError, "one of sum, mean, mass, got 'max'"),
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
        ((4, "loop", {"slot_dropout": "0.4"}), TypeError, "slot_dropout must be a number"),
    ],
)
def test_wrong_options(arguments, error, words):
    *positional, options = arguments if isinstance(arguments[-1], dict) else (*arguments, {})
    with pytest.raises(error, match=words):
        lfds.LFDSPool(*positional, **options)


@pytest.mark.plain
def test_channels_may_be_counted_by_numpy():
    assert lfds.LFDSPool(np.int64(4)).channels == 4


def test_derivatives_by_torch_func_are_right():
    pool = lfds.LFDSPool(4, lfds.Loop(5)).double().eval()
    x, direction = X.double(), torch.randn(7, 4, dtype=torch.float64)

    def pooled(x):
        return pool(x, INDEX, dim_size=4)

    _, slope = torch.func.jvp(pooled, (x,), (direction,))
    step = 1e-6
    assert_close(slope, (pooled(x + step * direction) - pooled(x - step * direction)) / (2 * step))
    pull = torch.func.grad(lambda x: pooled(x).square().sum())(x)
    own = x.clone().requires_grad_()
    pooled(own).square().sum().backward()
    assert_close(pull, own.grad)


def test_a_pooling_without_values():
    pool = lfds.LFDSPool(4, lfds.Loop(5)).to("meta")
    assert pool(X.to("meta"), ptr=torch.tensor([0, 3, 7], device="meta")).shape == (2, 8)
    assert repr(pool).startswith("LFDSPool(4 -> 8")


def test_anchors_given_are_taken():
    start = torch.randn(8, 4)
    assert_close(lfds.LFDSPool(4, lfds.Loop(8), anchors=start).anchors(), start)
    module = lfds.nn.MixtureAnchors(4, 8, candidates=2)
    assert lfds.LFDSPool(4, lfds.Loop(8), anchors=module).anchors is module


@pytest.mark.parametrize("anchors", ["fixed", "generated", "mixture"])
@pytest.mark.parametrize("structure", list(lfds.STRUCTURES))
def test_the_maxima_of_the_activations_are_the_output(structure, anchors):
    pool = lfds.LFDSPool(4, structure, anchors=anchors, depth=3).eval()
    slots = pool.activations(X, INDEX, dim_size=5)
    assert slots.shape == (5, 3, 64, 4)
    assert_close(slots.amax(dim=2).flatten(1), pool(X, INDEX, dim_size=5))


def test_maxima_and_means_of_the_activations_are_the_output_side_by_side():
    pool = lfds.LFDSPool(4, "loop", readout="max+mean", counts=True).eval()
    slots = pool.activations(X, INDEX)
    both = torch.cat([slots.amax(dim=2), slots.mean(dim=2)], dim=2)
    assert_close(both.flatten(1), pool(X, INDEX))


def picked_slowly(slots):
    graphs, depth, num_slots, channels = slots.shape
    counts = torch.zeros(graphs, depth, num_slots)
    for graph, layer, channel in itertools.product(range(graphs), range(depth), range(channels)):
        column = slots[graph, layer, :, channel].tolist()
        best = [slot for slot, value in enumerate(column) if value == max(column)]
        for slot in best:
            counts[graph, layer, slot] += 1 / len(best)
    return counts


def test_picks_count_the_channels_a_slot_has_won():
    pool = lfds.LFDSPool(4, lfds.Loop(6), depth=2).eval()
    picks = pool.picks(X, INDEX)
    assert_close(picks, picked_slowly(pool.activations(X, INDEX)))
    assert_close(picks.sum(dim=-1), torch.full((4, 2), 4.0))


def test_where_no_slot_responds_all_have_won_alike():
    pool = lfds.LFDSPool(4, lfds.Array(5), blend=False).eval()
    with torch.no_grad():
        for layer in pool.layers:
            layer.convolution.weight.zero_()
            layer.convolution.bias.fill_(-1.0)
    assert_close(pool.picks(X, INDEX), torch.full((4, 2, 5), 4 / 5))


def test_nothing_is_picked_for_no_graphs():
    pool = lfds.LFDSPool(4, lfds.Loop(6)).eval()
    assert pool.picks(X[:0], INDEX[:0], dim_size=0).shape == (0, 2, 6)
