import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close

import lfds


@given(slots=st.integers(2, 7), scale=st.sampled_from([0.0, 1.0, 50.0]), seed=st.integers(0, 99))
def test_the_adjacency_is_symmetric_between_0_and_1_without_loops(slots, scale, seed):
    graph = lfds.LearnedGraph(slots)
    with torch.no_grad():
        generator = torch.Generator().manual_seed(seed)
        graph.logits.copy_(scale * torch.randn(slots, slots, generator=generator))
    adjacency = graph.adjacency
    assert torch.equal(adjacency, adjacency.T)
    assert (adjacency >= 0).all()
    assert (adjacency <= 1).all()
    assert (adjacency.diagonal() == 0).all()


def test_it_learns_through_the_pooling():
    pool = lfds.LFDSPool(4, lfds.LearnedGraph(6))
    pool(torch.randn(20, 4)).square().sum().backward()
    assert float(pool.structure.logits.grad.abs().sum()) > 0


def test_normalized_slots_receive_a_mean():
    graph = lfds.LearnedGraph(6, normalized=True)
    assert_close(graph.sum_of_neighbours(torch.ones(1, 6, 2)), torch.ones(1, 6, 2))
    raw = lfds.LearnedGraph(64)
    assert 28 < float(raw.sum_of_neighbours(torch.ones(1, 64, 1)).detach().mean()) < 35


def test_the_signal_is_slots_and_adjacency():
    graph, slots = lfds.LearnedGraph(6), torch.randn(2, 6, 3)
    same, adjacency = graph.signal(slots)
    assert torch.equal(same, slots)
    assert torch.equal(adjacency, graph.adjacency)
    adjacency.sum().backward()
    assert float(graph.logits.grad.abs().sum()) > 0


@pytest.mark.parametrize("normalized", [False, True])
def test_reset(normalized):
    graph = lfds.LearnedGraph(6, normalized=normalized)
    before = graph.adjacency
    graph.reset_parameters()
    assert not torch.allclose(before, graph.adjacency)
