import pytest
import torch
from tests.nn.drawn_edges import OnDrawnEdges
from torch import nn

from lfds.config.network import POOLS
from lfds.nn import POOLINGS, GraphPooling, NetworkSettings
from lfds.testing import (
    assert_company_free,
    assert_empty_graph_finite,
    assert_gradients_right,
    assert_isolated,
    assert_order_free,
    assert_precise,
)

SMALL = {
    "width": 8, "layers": 1, "slots": 9, "clusters": 5, "sorted_nodes": 10, "heads": 2, "seeds": 3
}  # fmt: skip


def build(name: str) -> OnDrawnEdges:
    torch.manual_seed(0)
    return OnDrawnEdges(POOLINGS[name](NetworkSettings(pool=name, **SMALL)))


def test_settings_know_every_name():
    assert set(POOLINGS) == set(POOLS)


@pytest.mark.parametrize("name", POOLINGS)
def test_a_vector_of_the_promised_length_and_a_penalty(name):
    pool = build(name).pool
    assert isinstance(pool, GraphPooling)
    found = OnDrawnEdges(pool)(torch.randn(7, 8), torch.tensor([0, 0, 2, 2, 2, 2, 2]), dim_size=3)
    assert found.shape == (3, pool.out_channels)
    assert pool.penalty().shape == ()


@pytest.mark.parametrize("name", POOLINGS)
def test_blind_to_the_order_of_nodes(name):
    assert_order_free(build(name))


@pytest.mark.parametrize("name", POOLINGS)
def test_the_same_alone_and_in_company(name):
    assert_company_free(build(name))


@pytest.mark.parametrize("name", POOLINGS)
def test_no_graph_pulls_on_another(name):
    assert_isolated(build(name))


@pytest.mark.parametrize("name", POOLINGS)
def test_graphs_without_nodes_are_finite(name):
    assert_empty_graph_finite(build(name))


@pytest.mark.parametrize("name", POOLINGS)
def test_gradients(name):
    assert_gradients_right(build(name))


@pytest.mark.parametrize("name", POOLINGS)
def test_single_precision(name):
    assert_precise(build(name))


class ByPosition(nn.Module):
    """A culprit: edges joined by the position of nodes are not the same after a move."""

    channels = 8

    def forward(self, x, index, *, dim_size):
        shifted = x.roll(1, dims=0)
        return torch.zeros(dim_size, 8, dtype=x.dtype).index_add(0, index, (x + shifted).relu())


def test_the_laws_catch_edges_that_do_not_follow_their_nodes():
    with pytest.raises(AssertionError, match="order"):
        assert_order_free(ByPosition())
    with pytest.raises(AssertionError, match="pulls on"):
        assert_isolated(ByPosition())
