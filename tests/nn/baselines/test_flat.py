import pytest
import torch
from tests.nn.cases import no_edges
from torch.testing import assert_close
from torch_geometric.nn import aggr

from lfds.nn.baselines.flat import AttentionPool, MaxMeanPool, MaxPool, MeanPool, SumPool

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
