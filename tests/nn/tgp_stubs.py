"""Stubs of torch-geometric-pool, for tests where it is not installed.

Each has the interface of some poolers of ``tgp`` 1.0. ``tests/nn/baselines/test_tgp.py`` runs the
real ones as well, where they are installed.
"""

import sys
from dataclasses import dataclass
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from lfds.nn.baselines.tgp import check_pooler


@dataclass
class Pooled:
    """As ``tgp.src.PoolingOutput``."""

    x: Tensor
    edge_index: Tensor
    batch: Tensor
    edge_weight: Tensor | None = None
    loss: dict[str, Tensor] | None = None


class Pooler(nn.Module):
    @classmethod
    def get_signature(cls):
        names = cls.__init__.__code__.co_varnames[1 : cls.__init__.__code__.co_argcount]
        return SimpleNamespace(args=names)


class Above(Pooler):
    """Keeps nodes by score, as `topk`: edges without weights, no losses.

    The order of the nodes is reversed, so that the batch is not sorted by graph.
    """

    def __init__(self, in_channels, ratio=0.5):
        super().__init__()
        self.in_channels, self.ratio = in_channels, ratio

    def forward(self, x, adj, edge_weight, batch):
        kept = (x[:, 0] > -0.2).nonzero()[:, 0].flip(0)
        number = torch.full((len(x),), -1).index_copy(0, kept, torch.arange(len(kept)))
        pairs = number[adj]
        return Pooled(x[kept], pairs[:, (pairs >= 0).all(dim=0)], batch[kept])


class Clusters(Pooler):
    """Assigns nodes to clusters, as `mincut`: edge weights with gradients, and losses."""

    def __init__(self, in_channels, k, adj_transpose=True, batched=True, sparse_output=False):
        super().__init__()
        assert sparse_output
        assert not adj_transpose
        self.k, self.batched = k, batched
        self.shares = nn.Linear(in_channels, k)

    def forward(self, x, adj, edge_weight, batch):
        share = self.shares(x).softmax(dim=-1)
        graphs = int(batch.max()) + 1
        own = nn.functional.one_hot(batch, graphs).to(x.dtype)
        wide = (own[:, :, None] * share[:, None]).flatten(1)  # [nodes, graphs * k]
        sent = (edge_weight[:, None] * wide[adj[0]]).T @ wide[adj[1]]
        pairs = sent.nonzero().T
        losses = {"one": share.square().mean(), "other": -share.mean()}
        return Pooled(
            wide.T @ x, pairs, torch.arange(graphs).repeat_interleave(self.k), sent[*pairs], losses
        )


class Twice(Above):
    """Widens the nodes, as `eigen`."""

    def forward(self, x, adj, edge_weight, batch):
        pooled = super().forward(x, adj, edge_weight, batch)
        return Pooled(torch.cat([pooled.x, pooled.x], 1), pooled.edge_index, pooled.batch)


class Drawing(Above):
    """Draws from the global generator of numpy, as `eigen` does through scikit-learn."""

    def forward(self, x, adj, edge_weight, batch):
        pooled = super().forward(x, adj, edge_weight, batch)
        return Pooled(pooled.x * np.random.rand(), pooled.edge_index, pooled.batch)


class Lacking(Pooler):
    """Fails when it is called, as `graclus` without torch_cluster."""

    def __init__(self):
        super().__init__()

    def forward(self, x, adj, edge_weight, batch):
        raise ImportError("torch_cluster is required\nand more lines")


@pytest.fixture
def stubs(monkeypatch):
    """Replace ``tgp`` by the stubs."""
    package, poolers = ModuleType("tgp"), ModuleType("tgp.poolers")
    poolers.pooler_map = {
        "above": Above,
        "clusters": Clusters,
        "drawing": Drawing,
        "lacking": Lacking,
        "twice": Twice,
    }
    monkeypatch.setitem(sys.modules, "tgp", package)
    monkeypatch.setitem(sys.modules, "tgp.poolers", poolers)
    check_pooler.cache_clear()
    yield
    check_pooler.cache_clear()
