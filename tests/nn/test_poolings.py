"""Every pooling of the registry, on graphs with edges."""

import pytest
import torch
from tests.nn.cases import POOLING_NAMES, AsAggregation, named_pooling, no_edges
from torch import nn

from lfds.config.registry import POOLINGS
from lfds.nn import GraphPooling
from lfds.testing import (
    assert_batch_independent,
    assert_empty_graph_finite,
    assert_float32_accurate,
    assert_gradients_correct,
    assert_no_cross_graph_gradient,
    assert_permutation_invariant,
)

ASSERTIONS = [
    assert_permutation_invariant,
    assert_batch_independent,
    assert_no_cross_graph_gradient,
    assert_empty_graph_finite,
    assert_gradients_correct,
    assert_float32_accurate,
]
every_pooling = pytest.mark.parametrize("name", POOLING_NAMES)


@every_pooling
def test_a_vector_of_the_promised_length_and_a_penalty(name):
    pool = named_pooling(name, layers=2)
    assert isinstance(pool, GraphPooling)
    assert pool.in_channels == (16 if pool.uses_all_layers else 8)
    x, index = torch.randn(7, pool.in_channels), torch.tensor([0, 0, 2, 2, 2, 2, 2])
    assert AsAggregation(pool)(x, index, dim_size=3).shape == (3, pool.out_channels)
    assert pool.penalty().shape == ()


@every_pooling
@pytest.mark.parametrize("check", ASSERTIONS, ids=lambda check: check.__name__)
def test_the_properties_of_a_pooling_hold(check, name):
    check(AsAggregation(named_pooling(name, layers=1)))


@every_pooling
@pytest.mark.parametrize("layers", [1, 3])
def test_settings_decide_which_layers_are_used(name, layers):
    pool = named_pooling(name, layers=layers)
    assert pool.in_channels == 8 * (layers if pool.uses_all_layers else 1)
    if layers > 1 and pool.replaces_readout:  # otherwise the head would not see the first layers
        assert pool.uses_all_layers


def test_every_pooling_has_a_summary():
    assert all(entry.summary for entry in POOLINGS.values())


class EdgesByPosition(nn.Module):
    """Broken: the neighbour of a node is the one before it, wherever it belongs."""

    in_channels = 8

    def forward(self, x, index, *, dim_size):
        shifted = x.roll(1, dims=0)
        return torch.zeros(dim_size, 8, dtype=x.dtype).index_add(0, index, (x + shifted).relu())


def test_edges_that_do_not_move_with_their_nodes_are_noticed():
    with pytest.raises(AssertionError, match="order of the nodes"):
        assert_permutation_invariant(EdgesByPosition())
    with pytest.raises(AssertionError, match="nodes of other graphs"):
        assert_no_cross_graph_gradient(EdgesByPosition())


class First(GraphPooling):
    """A pooling of the user's own: the first node of every graph."""

    @classmethod
    def from_settings(cls, settings):
        return cls(settings.width, settings.width)

    def forward(self, nodes, ptr, edges):
        return nodes[ptr[:-1]]


def test_a_pooling_of_ones_own():
    pool = First(3, 3)
    assert (pool.in_channels, pool.out_channels) == (3, 3)
    assert (pool.replaces_readout, pool.uses_all_layers) == (False, False)
    assert pool.penalty() == 0
    assert pool(torch.eye(3)[:2], torch.tensor([0, 2]), no_edges(2)).tolist() == [[1, 0, 0]]


def test_the_interface_is_abstract():
    with pytest.raises(TypeError, match="abstract"):
        GraphPooling(3, 3)
