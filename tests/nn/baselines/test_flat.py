import pytest
import torch
from torch.testing import assert_close
from torch_geometric.nn import aggr

from lfds.nn.baselines.flat import AttentionPool, MaxMeanPool, MaxPool, MeanPool, SumPool
from lfds.nn.ops.edges import Edges

PTR = torch.tensor([0, 3, 3, 4, 9])
INDEX = torch.repeat_interleave(PTR.diff())
EDGES = Edges.from_rows(torch.zeros(10).long(), torch.zeros(0).long())


@pytest.mark.parametrize(
    ("pool", "peer"),
    [
        (MaxPool, aggr.MaxAggregation()),
        (MeanPool, aggr.MeanAggregation()),
        (SumPool, aggr.SumAggregation()),
        (MaxMeanPool, aggr.MultiAggregation(["max", "mean"])),
    ],
)
def test_flat_poolings_are_those_of_pyg(pool, peer):
    x = torch.randn(9, 5)
    found = pool(5)(x, PTR, EDGES)
    assert_close(found, peer(x, INDEX, dim_size=4))
    assert found.shape[1] == pool(5).out_channels


def test_attention_is_that_of_pyg():
    pool = AttentionPool(5)
    x = torch.randn(9, 5) * 50  # scores that would overflow without care
    peer = aggr.AttentionalAggregation(pool.gate)
    assert_close(pool(x, PTR, EDGES), peer(x, INDEX, dim_size=4))
    (1e4 * x).requires_grad_()
    assert pool(1e4 * x, PTR, EDGES).isfinite().all()
