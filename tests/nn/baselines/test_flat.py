import pytest
import torch
from tests.nn.cases import no_edges
from torch.testing import assert_close
from torch_geometric.nn import aggr

from lfds.nn.baselines.flat import (
    AttentionPool,
    MaxMeanPool,
    MaxPerceptronPool,
    MaxPool,
    MeanPool,
    StatsPool,
    SumPool,
)

PTR = torch.tensor([0, 3, 3, 4, 9])
INDEX = torch.repeat_interleave(PTR.diff())
EDGES = no_edges(9)


@pytest.mark.parametrize(
    ("pool", "theirs"),
    [
        (MaxPool, aggr.MaxAggregation()),
        (MeanPool, aggr.MeanAggregation()),
        (SumPool, aggr.SumAggregation()),
        (MaxMeanPool, aggr.MultiAggregation(["max", "mean"])),
    ],
)
def test_flat_poolings_are_those_of_pyg(pool, theirs):
    x = torch.randn(9, 5)
    found = pool(5)(x, PTR, EDGES)
    assert_close(found, theirs(x, INDEX, dim_size=4))
    assert found.shape[1] == pool(5).out_channels


def test_attention_is_that_of_pyg():
    pool = AttentionPool(5)
    x = torch.randn(9, 5) * 50
    theirs = aggr.AttentionalAggregation(pool.gate)
    assert_close(pool(x, PTR, EDGES), theirs(x, INDEX, dim_size=4))


def test_attention_does_not_overflow():
    x = (5e5 * torch.randn(9, 5)).requires_grad_()
    vectors = AttentionPool(5)(x, PTR, EDGES)
    vectors.sum().backward()
    assert vectors.isfinite().all()
    assert x.grad.isfinite().all()


def test_stats_are_maximum_mean_deviation_and_log_of_the_size():
    x, ptr = torch.randn(7, 3), torch.tensor([0, 4, 4, 7])
    edges = no_edges(7)
    found = StatsPool(3)(x, ptr, edges)
    for graph, nodes in enumerate((x[:4], x[:0], x[4:])):
        if len(nodes):
            expected = [nodes.amax(0), nodes.mean(0), nodes.std(0, correction=0)]
        else:
            expected = [torch.zeros(3)] * 2 + [torch.full((3,), 1e-4)]
        size = torch.tensor([float(len(nodes))]).log1p()
        assert_close(found[graph], torch.cat([*expected, size]), atol=1e-4, rtol=1e-4)


def test_a_maximum_with_a_perceptron_starts_with_the_maximum():
    x, ptr = torch.randn(7, 3), torch.tensor([0, 4, 7])
    edges = no_edges(7)
    pool = MaxPerceptronPool(3, width=5).eval()
    found = pool(x, ptr, edges)
    assert found.shape == (2, pool.out_channels) == (2, 3 + 20)
    assert_close(found[:, :3], MaxPool(3)(x, ptr, edges))
