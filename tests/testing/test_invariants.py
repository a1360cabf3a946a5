"""Every law holds for every pooling of ours, and catches a culprit that breaks it."""

import itertools

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn
from torch_geometric.nn import aggr

import lfds
from lfds import testing
from lfds.testing.trial import draw_graphs

STRUCTURES = {
    "image": lambda: lfds.Image(5, 4),
    "array": lambda: lfds.Array(6),
    "sequence": lambda: lfds.Sequence(5),
    "loop": lambda: lfds.Loop(5),
    "learned-spatial": lambda: lfds.LearnedGraph(4),
    "learned-spatial-normalised": lambda: lfds.LearnedGraph(4, normalized=True),
    "learned-spectral": lambda: lfds.LearnedSpectrum(4),
    "exactly-orthonormal": lambda: lfds.LearnedSpectrum(4, orthonormal="exact"),
    "own-graph": lambda: lfds.LatentGraph(torch.ones(4, 4)),
}
LAWS = [getattr(testing, name) for name in testing.__all__ if name.startswith("assert_")]
GENERAL = [
    testing.assert_order_free,
    testing.assert_company_free,
    testing.assert_isolated,
    testing.assert_empty_graph_finite,
    testing.assert_gradients_right,
    testing.assert_precise,
]
EVERYTHING = list(itertools.product(STRUCTURES, lfds.nn.ANCHORS, lfds.nn.REDUCTIONS))


def test_the_structures_tried_are_all_there_are():
    assert set(lfds.STRUCTURES) <= set(STRUCTURES)
    assert len(LAWS) == 9


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
@pytest.mark.parametrize(("structure", "anchors", "reduction"), EVERYTHING)
def test_every_pooling_keeps_every_law(law, structure, anchors, reduction):
    law(lfds.LFDSPool(3, STRUCTURES[structure](), anchors=anchors, reduction=reduction))


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
@pytest.mark.parametrize(
    "options",
    [
        {"depth": 1},
        {"depth": 3},
        {"blend": False},
        {"low_memory": True},
        {"counts": True},
        {"counts": True, "reduction": "mean", "low_memory": True},
        {"counts": True, "reduction": "mass", "anchors": "mixture", "blend": False},
        {"readout": "max+mean"},
    ],
    ids=lambda options: "-".join(options),
)
def test_options_keep_every_law(law, options):
    pool = lfds.LFDSPool(3, lfds.Loop(5), **options)
    if pool.counts is not None:  # at zero there would be nothing to get wrong
        torch.nn.init.normal_(pool.counts.direction)
    law(pool)


SIZES = st.lists(st.integers(0, 8), min_size=1, max_size=6)


@settings(max_examples=15)
@given(
    sizes=SIZES,
    seed=st.integers(0, 999),
    case=st.sampled_from(EVERYTHING),
    low_memory=st.booleans(),
)
def test_graphs_of_any_sizes(sizes, seed, case, low_memory):
    structure, anchors, reduction = case
    pool = lfds.LFDSPool(
        3, STRUCTURES[structure](), anchors=anchors, reduction=reduction, low_memory=low_memory
    )
    graphs = draw_graphs(3, sizes, seed=seed)
    testing.assert_order_free(pool, graphs, seed=seed)
    testing.assert_company_free(pool, graphs)
    testing.assert_isolated(pool, graphs)
    testing.assert_agrees_with_reference(pool, graphs)


def sums(x: Tensor, index: Tensor, dim_size: int) -> Tensor:
    return x.new_zeros(dim_size, x.shape[1]).index_add(0, index, x)


def counts(index: Tensor, dim_size: int) -> Tensor:
    return index.bincount(minlength=dim_size)[:, None]


def nodes_weighted_by_position(x, index, *, dim_size):
    return sums(x * torch.arange(len(x), dtype=x.dtype)[:, None], index, dim_size)


def mean_over_padded_length(x, index, *, dim_size):
    return sums(x, index, dim_size) / counts(index, dim_size).max()


def difference_from_the_batch_mean(x, index, *, dim_size):
    return sums(x - x.mean(dim=0), index, dim_size)


def mean_that_divides_by_zero(x, index, *, dim_size):
    return sums(x, index, dim_size) / counts(index, dim_size)


def graphs_counted_by_their_nodes(x, index, *, dim_size):
    return sums(x, index, int(index.max()) + 1 if len(index) else 0)


class Halved(torch.autograd.Function):
    """A backward that is wrong by a factor."""

    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, grad):
        return grad / 2


def sum_with_a_wrong_backward(x, index, *, dim_size):
    return sums(Halved.apply(x), index, dim_size)


def nan_for_everybody(x, index, *, dim_size):
    return sums(x, index, dim_size) * (x - x).sum().sqrt()  # an infinite slope, times zero


def sum_from_differences_of_running_sums(x, index, *, dim_size):
    """Right in float64, and drowned by rounding in float32 once the running sum is large."""
    running = torch.cat([x.new_zeros(1, x.shape[1]), (x + 1e5).cumsum(dim=0)])
    ends = counts(index, dim_size).cumsum(dim=0).flatten()
    starts = torch.cat([ends.new_zeros(1), ends[:-1]])
    return running[ends] - running[starts] - 1e5 * counts(index, dim_size)


def sum_in_double_whatever_comes(x, index, *, dim_size):
    return sums(x.double(), index, dim_size)


class Forgetful(nn.Module):
    """Something learned that ``state_dict`` does not know."""

    channels = 3

    def __init__(self):
        super().__init__()
        self.reset_parameters()

    def reset_parameters(self):
        self.direction = torch.randn(3, dtype=torch.float64)

    def forward(self, x, index, *, dim_size):
        return sums(x * self.direction, index, dim_size)


@pytest.mark.parametrize(
    ("law", "culprit", "words"),
    [
        (testing.assert_order_free, nodes_weighted_by_position, "order of the nodes"),
        (testing.assert_company_free, mean_over_padded_length, "changes with its batch"),
        (testing.assert_isolated, difference_from_the_batch_mean, "pulls on nodes of other"),
        (testing.assert_isolated, nan_for_everybody, "pulls on nodes of other"),
        (testing.assert_empty_graph_finite, mean_that_divides_by_zero, "is not finite"),
        (testing.assert_empty_graph_finite, graphs_counted_by_their_nodes, "1 graphs gave 0"),
        (
            testing.assert_gradients_right,
            sum_with_a_wrong_backward,
            "the gradients are wrong: Jacobian mismatch",
        ),
        (testing.assert_precise, sum_from_differences_of_running_sums, "float32 is off by"),
        (testing.assert_precise, sum_in_double_whatever_comes, "gave torch.float64"),
    ],
    ids=lambda value: getattr(value, "__name__", "-"),
)
def test_each_law_catches_its_culprit(law, culprit, words):
    with pytest.raises(AssertionError, match=words):
        law(culprit, channels=3)


def test_the_state_law_catches_what_is_not_saved():
    with pytest.raises(AssertionError, match="after a round trip"):
        testing.assert_state_round_trip(Forgetful())


def test_the_state_law_needs_a_reset_that_resets():
    class Stubborn(Forgetful):
        def __init__(self):
            super().__init__()
            self.scale = nn.Parameter(torch.ones(()))
            self.direction = torch.ones(3, dtype=torch.float64)

        def reset_parameters(self):
            pass

    with pytest.raises(AssertionError, match="reset_parameters of Stubborn changes nothing"):
        testing.assert_state_round_trip(Stubborn())


def test_a_pooling_that_ignores_its_nodes_is_isolated():
    testing.assert_isolated(lambda x, index, *, dim_size: torch.ones(dim_size, 2), channels=3)


def test_the_laws_leave_the_generator_of_the_caller_alone():
    pool = lfds.LFDSPool(3, lfds.Loop(5))
    before = torch.get_rng_state()
    testing.assert_order_free(pool)
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize("law", GENERAL, ids=lambda law: law.__name__)
def test_a_plain_sum_keeps_the_general_laws(law):
    law(lambda x, index, *, dim_size: sums(x, index, dim_size), channels=3)


def test_the_company_law_finds_what_padding_does_to_pyg():
    testing.assert_company_free(aggr.MeanAggregation(), channels=3)
    testing.assert_order_free(aggr.MaxAggregation(), channels=3)
    for leaking in (aggr.LSTMAggregation(3, 4), aggr.GRUAggregation(3, 4)):
        with pytest.raises(AssertionError, match="changes with its batch"):
            testing.assert_company_free(leaking)


def test_the_order_law_for_poolings_that_need_a_sorted_index():
    testing.assert_order_free(aggr.SortAggregation(2), channels=3, sorted_index=True)
    with pytest.raises(AssertionError, match="order of the nodes"):
        testing.assert_order_free(aggr.LSTMAggregation(3, 4), channels=3, sorted_index=True)


def test_a_pooling_of_unknown_width_is_asked_for_it():
    with pytest.raises(ValueError, match="pass channels= or graphs="):
        testing.assert_order_free(lambda x, index, *, dim_size: sums(x, index, dim_size))


def test_laws_of_modules_and_poolings_say_what_they_take():
    with pytest.raises(TypeError, match="only a module has a state_dict"):
        testing.assert_state_round_trip(nodes_weighted_by_position, channels=3)
    with pytest.raises(AssertionError, match="has no reset_parameters"):
        testing.assert_state_round_trip(Sum(), channels=3)


class Sum(nn.Module):
    def forward(self, x, index, *, dim_size):
        return sums(x, index, dim_size)
