import torch
from tests.nn.cases import no_edges
from torch.testing import assert_close

from lfds.nn.baselines.transformers import TransformerPool


def test_graphs_are_pooled_as_in_pyg_and_those_without_nodes_are_zero():
    ptr = torch.tensor([0, 0, 3, 3, 8])
    x = torch.randn(8, 8)
    for pool in (
        TransformerPool.set_transformer(8, heads=2),
        TransformerPool.graph_multiset(8, seeds=3, heads=2),
    ):
        pool.eval()
        found = pool(x, ptr, no_edges(8))
        expected = pool.aggregation(x, torch.tensor([0] * 3 + [1] * 5))
        assert_close(found[[1, 3]], expected)
        assert (found[[0, 2]] == 0).all()


def test_a_batch_without_any_node():
    found = TransformerPool.set_transformer(8)(torch.zeros(0, 8), torch.tensor([0, 0]), no_edges(0))
    assert found.tolist() == [[0.0] * 8]
