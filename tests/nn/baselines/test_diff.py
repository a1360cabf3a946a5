import copy
import pickle

import pytest
import torch
from torch.testing import assert_close
from torch_geometric.nn import dense_diff_pool

from lfds.nn.baselines.diff import DiffPool
from lfds.nn.ops.edges import Edges


def one_graph(nodes, seed):
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(nodes, 6, generator=generator, dtype=torch.float64)
    adjacency = (torch.rand(nodes, nodes, generator=generator) < 0.4).double()
    target, source = adjacency.nonzero(as_tuple=True)
    return x, adjacency, torch.stack([source, target])


@pytest.mark.parametrize("nodes", [1, 7, 20])
def test_one_graph_is_pooled_as_in_pyg(nodes):
    x, adjacency, index = one_graph(nodes, 0)
    pool = DiffPool(6, 4).double()
    logits = torch.randn(nodes, 4, dtype=torch.float64)
    ptr, edges = torch.tensor([0, nodes]), Edges.from_index(index, nodes)
    slots, pooled, link, entropy = dense_diff_pool(x, adjacency, logits)
    found = pool.down_size(x, logits, ptr, edges)
    assert_close(found[0], slots)
    assert_close(found[1], pooled)
    assert_close(found[2], link + entropy)
    only_link = DiffPool(6, 4, entropy_weight=0.0).double().down_size(x, logits, ptr, edges)
    assert_close(only_link[2], link)


def test_the_losses_of_a_batch_are_means_over_graphs_and_nodes():
    graphs = [one_graph(nodes, nodes) for nodes in (3, 9, 5)]
    logits = [torch.randn(len(x), 4, dtype=torch.float64) for x, _, _ in graphs]
    theirs = [dense_diff_pool(x, a, s) for (x, a, _), s in zip(graphs, logits, strict=True)]
    sizes = torch.tensor([3, 9, 5])
    ptr = torch.tensor([0, 3, 12, 17])
    index = torch.cat([index + at for (_, _, index), at in zip(graphs, ptr, strict=False)], dim=1)
    x = torch.cat([x for x, _, _ in graphs])
    found = (
        DiffPool(6, 4).double().down_size(x, torch.cat(logits), ptr, Edges.from_index(index, 17))
    )
    link = torch.stack([one[2] for one in theirs]).mean()
    entropy = (torch.stack([one[3] for one in theirs]) * sizes).sum() / 17
    assert_close(found[2], link + entropy)
    assert_close(found[1], torch.cat([one[1] for one in theirs]))


def test_edge_weights_in_the_link_loss():
    x, adjacency, index = one_graph(8, 3)
    weight = torch.rand(index.shape[1], dtype=torch.float64)
    weighted = adjacency.clone()
    weighted[index[1], index[0]] = weight
    logits = torch.randn(8, 4, dtype=torch.float64)
    link = dense_diff_pool(x, weighted, logits)[2]
    pool = DiffPool(6, 4, entropy_weight=0.0).double()
    found = pool.down_size(x, logits, torch.tensor([0, 8]), Edges.from_index(index, 8, weight))
    assert_close(found[2], link)


def test_a_perfect_fit_has_finite_gradients():
    logits = (100 * torch.eye(4)).requires_grad_()  # every node its own cluster
    loops = torch.arange(4).repeat(2, 1)
    pool = DiffPool(6, 4)
    pool.down_size(torch.randn(4, 6), logits, torch.tensor([0, 4]), Edges.from_index(loops, 4))[
        2
    ].backward()
    assert logits.grad.isfinite().all()


def test_the_penalty_belongs_to_the_last_batch_and_is_not_copied():
    pool = DiffPool(6, 4).double()
    assert pool.penalty() == 0
    x, _, index = one_graph(7, 0)
    pool(x, torch.tensor([0, 7]), Edges.from_index(index, 7))
    assert pool.penalty() > 0
    pool.penalty().backward()
    assert pool.assign.transforms.weight.grad.abs().sum() > 0
    for other in (copy.deepcopy(pool), pickle.loads(pickle.dumps(pool))):
        assert other.penalty() == 0


class WithoutEdges(torch.nn.Module):
    """Assignments that do not depend on the edges."""

    def forward(self, nodes, edges):
        return nodes[:, :4]


def test_clusters_aggregate_by_the_mean_over_neighbours():
    x, _, index = one_graph(8, 3)
    pool = DiffPool(6, 4).double().eval()
    pool.assign = WithoutEdges()
    ptr, ones = torch.tensor([0, 8]), torch.ones(index.shape[1], dtype=torch.float64)
    once, thrice = (pool(x, ptr, Edges.from_index(index, 8, times * ones)) for times in (1.0, 3.0))
    assert_close(once, thrice)
    without = pool(x, ptr, Edges.from_index(index[:, :0], 8))
    assert without.isfinite().all()
    assert not torch.allclose(once, without)
