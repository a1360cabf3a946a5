"""Every pooling of ours passes every assertion, and every assertion fails a broken one."""

import itertools

import networkx as nx
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.nn.cases import STRUCTURES, VARIANTS
from torch import Tensor, nn
from torch_geometric.nn import aggr

import lfds
from lfds import testing
from lfds.nn import GraphStructure, Symmetry
from lfds.testing.invariants import random_graphs

BUILDERS = {**STRUCTURES, **VARIANTS}
ASSERTIONS = [getattr(testing, name) for name in testing.__all__ if name.startswith("assert_")]
GENERAL = [
    testing.assert_permutation_invariant,
    testing.assert_batch_independent,
    testing.assert_no_cross_graph_gradient,
    testing.assert_empty_graph_finite,
    testing.assert_gradients_correct,
    testing.assert_float32_accurate,
]
EVERYTHING = [
    *itertools.product(STRUCTURES, lfds.nn.ANCHORS, lfds.nn.REDUCTIONS),
    *((name, "fixed", "mean") for name in VARIANTS),
    *((name, "mixture", "mass") for name in VARIANTS),
]
# Every two of structure, anchors and reduction meet; all combinations of three are slow.
PAIRS = {
    (structure, anchors, lfds.nn.REDUCTIONS[(row + column) % len(lfds.nn.REDUCTIONS)])
    for row, structure in enumerate(STRUCTURES)
    for column, anchors in enumerate(lfds.nn.ANCHORS)
} | set(EVERYTHING[-2 * len(VARIANTS) :])
each_assertion = pytest.mark.parametrize("check", ASSERTIONS, ids=lambda check: check.__name__)


def test_every_structure_of_the_registry_is_tested():
    assert set(lfds.STRUCTURES) <= set(BUILDERS)
    for first, second in ((0, 1), (0, 2), (1, 2)):
        met = {(case[first], case[second]) for case in PAIRS}
        assert met == {(case[first], case[second]) for case in EVERYTHING}
    assert len(ASSERTIONS) == 9


@each_assertion
@pytest.mark.parametrize(
    ("structure", "anchors", "reduction"),
    [pytest.param(*case, marks=() if case in PAIRS else pytest.mark.slow) for case in EVERYTHING],
)
def test_every_pooling_passes(check, structure, anchors, reduction):
    check(lfds.LFDSPool(3, BUILDERS[structure](), anchors=anchors, reduction=reduction))


@each_assertion
@pytest.mark.parametrize("structure", BUILDERS)
def test_the_layer_of_the_paper_passes(check, structure):
    check(lfds.LFDSPool.paper(3, BUILDERS[structure]()))


@each_assertion
@pytest.mark.parametrize(
    "options",
    [
        {"depth": 1},
        {"depth": 3},
        {"blend": True},
        {"counts": False},
        {"node_norm": False},
        {"readout": "max"},
        {"readout": "max+mean"},
        {"low_memory": True},
        {"low_memory": True, "reduction": "mass", "anchors": "mixture", "blend": True},
        {"hidden_channels": 5},
        {"hidden_channels": 2, "node_norm": False, "anchors": "generated", "blend": True},
    ],
    ids=lambda options: "-".join(f"{key}={value}" for key, value in options.items()),
)
def test_options_pass(check, options):
    check(lfds.LFDSPool(3, lfds.Loop(5), **options))


@settings(max_examples=15)
@given(
    sizes=st.lists(st.integers(0, 8), min_size=1, max_size=6),
    seed=st.integers(0, 999),
    case=st.sampled_from(EVERYTHING),
    hidden_channels=st.sampled_from([None, 2, 5]),
    low_memory=st.booleans(),
)
def test_graphs_of_any_sizes_pass(sizes, seed, case, hidden_channels, low_memory):
    structure, anchors, reduction = case
    pool = lfds.LFDSPool(
        3,
        BUILDERS[structure](),
        anchors=anchors,
        reduction=reduction,
        hidden_channels=hidden_channels,
        low_memory=low_memory,
    )
    graphs = random_graphs(3, sizes, seed=seed)
    testing.assert_permutation_invariant(pool, graphs, seed=seed)
    testing.assert_batch_independent(pool, graphs)
    testing.assert_no_cross_graph_gradient(pool, graphs)
    testing.assert_matches_reference(pool, graphs)


def sums(x: Tensor, index: Tensor, dim_size: int) -> Tensor:
    return x.new_zeros(dim_size, x.shape[1]).index_add(0, index, x)


def counts(index: Tensor, dim_size: int) -> Tensor:
    return index.bincount(minlength=dim_size)[:, None]


# Broken implementations.


def weights_by_position(x, index, *, dim_size):
    return sums(x * torch.arange(len(x), dtype=x.dtype)[:, None], index, dim_size)


def mean_over_padded_length(x, index, *, dim_size):
    return sums(x, index, dim_size) / counts(index, dim_size).max()


def difference_from_the_batch_mean(x, index, *, dim_size):
    return sums(x - x.mean(dim=0), index, dim_size)


def mean_that_divides_by_zero(x, index, *, dim_size):
    return sums(x, index, dim_size) / counts(index, dim_size)


def ignores_dim_size(x, index, *, dim_size):
    return sums(x, index, int(index.max()) + 1 if len(index) else 0)


class Halved(torch.autograd.Function):
    """A backward that is wrong by a factor."""

    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, grad):
        return grad / 2


def wrong_backward(x, index, *, dim_size):
    return sums(Halved.apply(x), index, dim_size)


def nan_for_every_graph(x, index, *, dim_size):
    return sums(x, index, dim_size) * (x - x).sum().sqrt()  # an infinite slope, times zero


def differences_of_running_sums(x, index, *, dim_size):
    """Exact in float64, and drowned by rounding in float32 once the running sum is large."""
    running = torch.cat([x.new_zeros(1, x.shape[1]), (x + 1e5).cumsum(dim=0)])
    ends = counts(index, dim_size).cumsum(dim=0).flatten()
    starts = torch.cat([ends.new_zeros(1), ends[:-1]])
    return running[ends] - running[starts] - 1e5 * counts(index, dim_size)


def always_float64(x, index, *, dim_size):
    return sums(x.double(), index, dim_size)


@pytest.mark.parametrize(
    ("check", "broken", "message"),
    [
        (testing.assert_permutation_invariant, weights_by_position, "order of the nodes"),
        (testing.assert_batch_independent, mean_over_padded_length, "depends on its batch"),
        (
            testing.assert_no_cross_graph_gradient,
            difference_from_the_batch_mean,
            "gradients of up to .* nodes of other graphs",
        ),
        (testing.assert_no_cross_graph_gradient, nan_for_every_graph, "up to nan"),
        (testing.assert_empty_graph_finite, mean_that_divides_by_zero, "is not finite"),
        (testing.assert_empty_graph_finite, ignores_dim_size, "1 graphs gave 0"),
        (
            testing.assert_gradients_correct,
            wrong_backward,
            "the gradients are wrong: Jacobian mismatch",
        ),
        (testing.assert_float32_accurate, differences_of_running_sums, "float32 is off by"),
        (testing.assert_float32_accurate, always_float64, "gave torch.float64"),
    ],
    ids=lambda value: getattr(value, "__name__", "-"),
)
def test_a_broken_implementation_fails(check, broken, message):
    with pytest.raises(AssertionError, match=message):
        check(broken, channels=3)


@pytest.mark.parametrize("check", GENERAL, ids=lambda check: check.__name__)
def test_a_plain_sum_passes(check):
    check(lambda x, index, *, dim_size: sums(x, index, dim_size), channels=3)


def test_a_pooling_without_gradients_has_none_across_graphs():
    testing.assert_no_cross_graph_gradient(
        lambda x, index, *, dim_size: torch.ones(dim_size, 2), channels=3
    )


class Unsaved(nn.Module):
    """A direction that is not in ``state_dict``."""

    in_channels = 3

    def __init__(self):
        super().__init__()
        self.reset_parameters()

    def reset_parameters(self):
        self.direction = torch.randn(3, dtype=torch.float64)

    def forward(self, x, index, *, dim_size):
        return sums(x * self.direction, index, dim_size)


class NeverReset(Unsaved):
    """``reset_parameters`` that does nothing."""

    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(()))
        self.direction = torch.ones(3, dtype=torch.float64)

    def reset_parameters(self):
        pass


class Sum(nn.Module):
    def forward(self, x, index, *, dim_size):
        return sums(x, index, dim_size)


def test_a_broken_state_dict_fails():
    with pytest.raises(AssertionError, match="after a round trip"):
        testing.assert_state_dict_round_trip(Unsaved())
    with pytest.raises(AssertionError, match="reset_parameters of NeverReset changes nothing"):
        testing.assert_state_dict_round_trip(NeverReset())
    with pytest.raises(AssertionError, match="has no reset_parameters"):
        testing.assert_state_dict_round_trip(Sum(), channels=3)
    with pytest.raises(TypeError, match="only a module has a state_dict"):
        testing.assert_state_dict_round_trip(weights_by_position, channels=3)


def test_padding_of_pyg_aggregations_is_found():
    testing.assert_batch_independent(aggr.MeanAggregation(), channels=3)
    testing.assert_permutation_invariant(aggr.MaxAggregation(), channels=3)
    for leaking in (aggr.LSTMAggregation(3, 4), aggr.GRUAggregation(3, 4)):
        with pytest.raises(AssertionError, match="depends on its batch"):
            testing.assert_batch_independent(leaking)


def test_poolings_that_need_a_sorted_index():
    testing.assert_permutation_invariant(aggr.SortAggregation(2), channels=3, sorted_index=True)
    with pytest.raises(AssertionError, match="order of the nodes"):
        testing.assert_permutation_invariant(aggr.LSTMAggregation(3, 4), sorted_index=True)


def test_a_pooling_without_in_channels_needs_channels_or_graphs():
    with pytest.raises(ValueError, match="Sum has no in_channels; pass channels= or graphs="):
        testing.assert_permutation_invariant(Sum())


def test_the_global_random_state_is_left_alone():
    pool = lfds.LFDSPool.paper(3, lfds.Loop(5))
    before = torch.get_rng_state()
    testing.assert_permutation_invariant(pool)
    assert torch.equal(torch.get_rng_state(), before)


class OneWayLoop(GraphStructure):
    """A slot receives from its left neighbour only."""

    adjacency = None
    symmetries = lfds.Loop.symmetries

    def sum_of_neighbours(self, slots):
        return slots.roll(1, dims=1)


class OpenLoop(GraphStructure):
    """A path that claims to be closed."""

    adjacency = None
    symmetries = lfds.Loop.symmetries
    sum_of_neighbours = lfds.Sequence.sum_of_neighbours


class LeaningSequence(GraphStructure):
    """The slot before counts twice as much as the one after."""

    adjacency = None
    symmetries = lfds.Sequence.symmetries

    def sum_of_neighbours(self, slots):
        before = nn.functional.pad(slots[:, :-1], (0, 0, 1, 0))
        return lfds.Sequence.sum_of_neighbours(self, slots) + before


class NumberedGraph(GraphStructure):
    """What a slot receives depends on its number."""

    adjacency = None

    def sum_of_neighbours(self, slots):
        return slots * torch.arange(self.num_slots, dtype=slots.dtype)[:, None]

    def symmetries(self):
        yield Symmetry("any order", torch.arange(self.num_slots).flip(0), self)


@pytest.mark.parametrize("broken", [OneWayLoop, OpenLoop, LeaningSequence, NumberedGraph])
def test_a_structure_without_the_symmetry_that_it_claims_fails(broken):
    with pytest.raises(AssertionError, match=f"layer 0 of {broken.__name__}.*not equivariant"):
        testing.assert_equivariant(lfds.LFDSPool(3, broken(6), anchors="fixed"))


@pytest.mark.parametrize("name", STRUCTURES)
def test_a_layer_that_distinguishes_slots_by_position_fails(name):
    pool = lfds.LFDSPool(3, STRUCTURES[name]())
    testing.assert_equivariant(pool)
    bias = torch.randn(pool.structure.num_slots, 3)
    pool.layers[0].register_forward_hook(lambda module, inputs, output: output + bias)
    with pytest.raises(AssertionError, match=r"layer 0 of .* is not equivariant"):
        testing.assert_equivariant(pool)


def test_a_structure_too_small_to_be_checked_fails():
    with pytest.raises(AssertionError, match=r"Array\(3 slots\) is too small"):
        testing.assert_equivariant(lfds.LFDSPool(3, lfds.Array(3)))


def test_a_torus_is_equivariant():
    torus = lfds.LatentGraph(nx.grid_2d_graph(3, 4, periodic=True))
    testing.assert_equivariant(lfds.LFDSPool(3, torus))


def test_equivariance_is_of_latent_layers():
    with pytest.raises(TypeError, match="only an LFDSPool has a structure, got Identity"):
        testing.assert_equivariant(nn.Identity())
    pool = lfds.LFDSPool(3, lfds.Image(4, 4), latent=nn.Conv2d(3, 3, 3))
    with pytest.raises(TypeError, match="latent= has no latent layers"):
        testing.assert_equivariant(pool)
