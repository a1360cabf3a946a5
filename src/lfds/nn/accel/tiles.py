r"""Tiles: runs of nodes of one graph, of bounded length; the unit of work on accelerators.

A graph of :math:`n` nodes has :math:`\lceil n / s \rceil` tiles of size :math:`s`, so all graphs
have at most :math:`\lfloor N / s \rfloor + G`. That many are always made, the last ones empty:
the number follows from shapes, and the host need not wait for the device to count.
"""

from typing import NamedTuple

import torch
from jaxtyping import Int
from torch import Tensor

# Tiles that keep a large accelerator busy when there are few graphs.
ENOUGH = 256


class Tiles(NamedTuple):
    """The tiles of a batch, graph after graph.

    Attributes:
        start: First row of each tile.
        stop: Row behind the last of each tile; no larger than ``start`` where it is empty.
        graph: Graph of each tile.
        first: First tile of each graph, then the number of tiles in use.
    """

    start: Int[Tensor, "tiles"]
    stop: Int[Tensor, "tiles"]
    graph: Int[Tensor, "tiles"]
    first: Int[Tensor, "boundaries"]


def tile_size(num_nodes: int, num_graphs: int, *, least: int = 16, most: int = 8192) -> int:
    """Return the rows of a tile: about a mean graph, and fewer where that gives too few tiles.

    >>> tile_size(128 * 30, 128), tile_size(100_000, 1), tile_size(10_000_000, 2)
    (16, 256, 8192)
    """
    mean = -(-num_nodes // max(1, num_graphs))
    size = min(most, _power_of_two(mean))
    if num_nodes // size < ENOUGH:
        size = min(size, _power_of_two(num_nodes // ENOUGH + 1) // 2)
    return max(least, size)


def _power_of_two(number: int) -> int:
    return 1 << max(0, number - 1).bit_length()


def num_tiles(num_nodes: int, num_graphs: int, size: int) -> int:
    """Return how many tiles there are at most; the last ones may be empty."""
    return num_nodes // size + num_graphs


def first_tiles(ptr: Int[Tensor, "boundaries"], size: int) -> Int[Tensor, "boundaries"]:
    """Return the first tile of each graph, then the number of tiles in use."""
    counts = (ptr.diff() + (size - 1)).div(size, rounding_mode="floor")
    return torch.nn.functional.pad(counts.cumsum(0), (1, 0))


def make_tiles(ptr: Int[Tensor, "boundaries"], num_nodes: int, size: int) -> Tiles:
    """Cut every graph into tiles of ``size`` rows; there is at least one graph."""
    num_graphs = ptr.shape[0] - 1
    first = first_tiles(ptr, size)
    number = torch.arange(num_tiles(num_nodes, num_graphs, size), device=ptr.device)
    graph = (torch.searchsorted(first, number, right=True) - 1).clamp(max=num_graphs - 1)
    start = ptr[graph] + (number - first[graph]) * size
    stop = torch.minimum(start + size, ptr[graph + 1])
    return Tiles(start, stop, graph, first)
