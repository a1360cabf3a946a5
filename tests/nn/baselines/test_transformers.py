import torch
from torch.testing import assert_close

from lfds.nn.baselines.transformers import TransformerPool
from lfds.nn.ops.edges import Edges


def test_graphs_with_nodes_are_pooled_as_in_pyg_and_others_are_zero():
    ptr = torch.tensor([0, 0, 3, 3, 8])
    edges = Edges.from_rows(torch.zeros(9).long(), torch.zeros(0).long())
    x = torch.randn(8, 8)
    for pool in (
        TransformerPool.set_transformer(8, heads=2),
        TransformerPool.graph_multiset(8, seeds=3, heads=2),
    ):
        pool.eval()
        found = pool(x, ptr, edges)
        expected = pool.aggregation(x, torch.tensor([0] * 3 + [1] * 5))
        assert_close(found[[1, 3]], expected)
        assert (found[[0, 2]] == 0).all()


def test_a_batch_without_any_node():
    edges = Edges.from_rows(torch.tensor([0]), torch.zeros(0).long())
    found = TransformerPool.set_transformer(8)(torch.zeros(0, 8), torch.tensor([0, 0]), edges)
    assert found.tolist() == [[0.0] * 8]
