"""The batches that poolings are timed on: graph sizes as in datasets, random features."""

from collections.abc import Callable
from statistics import NormalDist
from typing import NamedTuple

import torch
from torch import Tensor

CHANNELS = 64


class Batch(NamedTuple):
    """A ragged batch with four edges per node, for the peers that need some."""

    x: Tensor
    index: Tensor
    ptr: Tensor
    edge_index: Tensor

    @property
    def num_graphs(self) -> int:
        return len(self.ptr) - 1


def skewed(num_graphs: int, num_nodes: int, sigma: float, largest: int) -> list[int]:
    """Return sizes at the quantiles of a log-normal, the last one replaced by ``largest``."""
    normal = NormalDist(sigma=sigma)
    raw = [pow(2.718281828, normal.inv_cdf((i + 0.5) / num_graphs)) for i in range(num_graphs - 1)]
    scale = (num_nodes - largest) / sum(raw)
    return [*(max(1, round(scale * size)) for size in raw), largest]


SIZES: dict[str, Callable[[], list[int]]] = {
    "PROTEINS-like": lambda: skewed(128, 4_780, 0.8, 450),
    "DD-like": lambda: skewed(128, 31_150, 0.6, 4_000),
    "one of 10^4": lambda: [10_000],
    "one of 10^5": lambda: [100_000],
    "one of 10^6": lambda: [1_000_000],
}


def make_batch(name: str) -> Batch:
    generator = torch.Generator().manual_seed(0)
    sizes = torch.tensor(SIZES[name]())
    num_nodes = int(sizes.sum())
    index = torch.repeat_interleave(sizes)
    ptr = torch.cat([sizes.new_zeros(1), sizes.cumsum(0)])
    x = torch.randn(num_nodes, CHANNELS, generator=generator)
    target = torch.arange(num_nodes).repeat_interleave(4)
    within = (torch.rand(len(target), generator=generator) * sizes[index[target]]).long()
    source = ptr[index[target]] + within
    return Batch(x, index, ptr, torch.stack([source, target]))
