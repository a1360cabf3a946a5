"""The ragged operations as batched torch operations, without a loop over graphs, on any device.

Tiles (:mod:`lfds.nn.accel.tiles`) are filled up with zeros to the same length and multiplied at
once; results of tiles are added per graph. The number of operations depends on the number of nodes
only: large batches are cut into chunks of tiles.
"""

from collections.abc import Iterator
from typing import NamedTuple

import torch
from torch import Tensor

from lfds.nn.accel.tiles import make_tiles, tile_size

# Rows of all tiles that are processed at once: bounds the memory for what is gathered from `x`.
CHUNK = 1 << 18


class Chunk(NamedTuple):
    """Some tiles: their rows of ``x``, which of them exist, and the graph of each tile."""

    rows: Tensor
    valid: Tensor
    graph: Tensor

    def gather(self, x: Tensor) -> Tensor:
        """Return the rows of each tile, [tiles, size, ...]; zeros behind its end."""
        taken = x[self.rows.clamp(max=x.shape[0] - 1)]
        # Not a product: a NaN of another graph must not come in.
        return taken.masked_fill(~self.valid.view(*self.valid.shape, *(1,) * (x.dim() - 1)), 0)

    def scatter(self, out: Tensor, values: Tensor) -> None:
        """Write the rows of each tile to ``out``, whose last row takes those behind an end."""
        rows = torch.where(self.valid, self.rows, out.shape[0] - 1)
        out[rows] = values


def chunks(ptr: Tensor, num_nodes: int) -> Iterator[Chunk]:
    """Cut a batch of at least one node into chunks of tiles."""
    size = tile_size(num_nodes, ptr.shape[0] - 1)
    tiles = make_tiles(ptr, num_nodes, size)
    offset = torch.arange(size, device=ptr.device)
    step = max(1, CHUNK // size)
    for begin in range(0, tiles.graph.shape[0], step):
        start, stop, graph = (part[begin : begin + step] for part in tiles[:3])
        rows = start[:, None] + offset
        yield Chunk(rows, rows < stop[:, None], graph)


def gram(a: Tensor, b: Tensor, ptr: Tensor) -> Tensor:
    """See :func:`lfds.nn.ops.segment_matmul.ragged_gram`."""
    sums = a.new_zeros(ptr.shape[0] - 1, a.shape[1], b.shape[1])
    for chunk in chunks(ptr, a.shape[0]) if a.shape[0] else ():
        sums.index_add_(0, chunk.graph, torch.bmm(chunk.gather(a).mT, chunk.gather(b)))
    return sums


def matmul(a: Tensor, matrices: Tensor, ptr: Tensor) -> Tensor:
    """See :func:`lfds.nn.ops.segment_matmul.ragged_matmul`."""
    out = a.new_empty(a.shape[0] + 1, matrices.shape[2])
    for chunk in chunks(ptr, a.shape[0]) if a.shape[0] else ():
        chunk.scatter(out, torch.bmm(chunk.gather(a), matrices[chunk.graph]))
    return out[:-1]


def place(x: Tensor, anchors: Tensor, ptr: Tensor, weight: Tensor | None) -> tuple[Tensor, Tensor]:
    """Return the sums and the masses of the slots, in the dtype of ``anchors``."""
    shape = (ptr.shape[0] - 1, anchors.shape[-2])
    sums, mass = anchors.new_zeros(*shape, x.shape[1]), anchors.new_zeros(shape)
    for chunk in chunks(ptr, x.shape[0]) if x.shape[0] else ():
        nodes = chunk.gather(x).to(anchors.dtype)
        share = _weighed(_shares(nodes, anchors, chunk), weight, chunk)
        sums.index_add_(0, chunk.graph, torch.bmm(share.mT, nodes))
        mass.index_add_(0, chunk.graph, share.sum(dim=1))
    return sums, mass


def place_backward(
    grad: Tensor,
    grad_mass: Tensor | None,
    x: Tensor,
    anchors: Tensor,
    ptr: Tensor,
    weight: Tensor | None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Return the gradients of nodes, anchors and weights, from those of the sums and masses."""
    grad_x = x.new_empty(x.shape[0] + 1, x.shape[1])
    grad_weight = anchors.new_empty(x.shape[0] + 1)
    grad_anchors = torch.zeros_like(anchors)
    for chunk in chunks(ptr, x.shape[0]) if x.shape[0] else ():
        nodes, own = chunk.gather(x).to(anchors.dtype), grad[chunk.graph]
        share = _shares(nodes, anchors, chunk)
        grad_share = torch.bmm(nodes, own.mT)
        if grad_mass is not None:
            grad_share += grad_mass[chunk.graph][:, None]
        by_weight = (share * grad_share).sum(dim=-1, keepdim=True)
        grad_logits = _weighed(share * (grad_share - by_weight), weight, chunk)
        by_nodes = torch.bmm(_weighed(share, weight, chunk), own)
        if anchors.dim() == 2:
            by_nodes += grad_logits @ anchors
            grad_anchors.addmm_(grad_logits.flatten(0, 1).t(), nodes.flatten(0, 1))
        else:
            by_nodes += torch.bmm(grad_logits, anchors[chunk.graph])
            grad_anchors.index_add_(0, chunk.graph, torch.bmm(grad_logits.mT, nodes))
        chunk.scatter(grad_x, by_nodes.to(x.dtype))
        chunk.scatter(grad_weight, by_weight[:, :, 0])
    return grad_x[:-1], grad_anchors, grad_weight[:-1]


def _shares(nodes: Tensor, anchors: Tensor, chunk: Chunk) -> Tensor:
    """Return the shares of the nodes of each tile, [tiles, size, slots]; zeros behind its end."""
    own = anchors if anchors.dim() == 2 else anchors[chunk.graph]
    return (nodes @ own.mT).softmax(dim=-1) * chunk.valid[:, :, None]


def _weighed(share: Tensor, weight: Tensor | None, chunk: Chunk) -> Tensor:
    return share if weight is None else share * chunk.gather(weight).to(share.dtype)[:, :, None]
