import pytest
import torch
from torch.testing import assert_close
from torch_geometric.nn import SAGPooling, TopKPooling

from lfds.nn.baselines.rank import RankPool, highest
from lfds.nn.ops.edges import Edges

PTR = torch.tensor([0, 5, 6, 14])
INDEX = torch.repeat_interleave(PTR.diff())


def drawn():
    x = torch.randn(14, 6)
    pairs = torch.randint(0, 14, (2, 60))
    pairs = pairs[:, (INDEX[pairs[0]] == INDEX[pairs[1]])].unique(dim=1)
    return x, pairs


def pooling_of_pyg(pool, score, ratio):
    if score == "topk":
        peer = TopKPooling(6, ratio=ratio)
        peer.select.weight.data.copy_(pool.score.direction[None])
    else:
        peer = SAGPooling(6, ratio=ratio)
        peer.select.weight.data.fill_(1)  # its sign is that of the layer before
        peer.gnn.lin_root.weight.data.copy_(pool.score.own.weight)
        peer.gnn.lin_rel.weight.data.copy_(pool.score.sent.weight)
        peer.gnn.lin_rel.bias.data.copy_(pool.score.own.bias)
    return peer


def as_set(x, edge_index, index):
    """Nodes and edges, whatever the order of the nodes."""
    rows = torch.cat([index[:, None].to(x.dtype), x], dim=1)
    edges = torch.cat([rows[edge_index[0]], rows[edge_index[1]]], dim=1)
    return sorted(rows.tolist()), sorted(edges.tolist())


@pytest.mark.parametrize("score", ["topk", "sag"])
@pytest.mark.parametrize("ratio", [0.5, 0.3])
def test_nodes_and_edges_are_kept_as_in_pyg(score, ratio):
    x, pairs = drawn()
    pool = RankPool(6, ratio, score)
    kept, ptr, edges = pool.down_sample(x, PTR, Edges.from_index(pairs, 14))
    theirs = pooling_of_pyg(pool, score, ratio)(x, pairs, batch=INDEX)
    ours = torch.stack([edges.rows.column.long(), edges.target])
    found = as_set(kept, ours, torch.repeat_interleave(ptr.diff()))
    expected = as_set(theirs[0], theirs[1], theirs[3])
    for one, other in zip(found, expected, strict=True):
        assert_close(torch.tensor(one), torch.tensor(other))


def test_the_number_of_nodes_is_rounded_up():
    ptr = torch.tensor([0, 3, 3, 4])
    kept = highest(torch.tensor([0.1, 0.3, 0.2, -9.0]), ptr, 0.5)
    assert kept.tolist() == [False, True, True, True]


def test_gradients_reach_the_score():
    x, pairs = drawn()
    for score in ("topk", "sag"):
        pool = RankPool(6, 0.5, score)
        pool(x, PTR, Edges.from_index(pairs, 14)).square().sum().backward()
        assert all(p.grad.abs().sum() > 0 for p in pool.score.parameters())
