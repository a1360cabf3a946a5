"""A pooling on a latent structure that no longer learns."""

from typing import final

import torch
from jaxtyping import Float
from torch import Tensor

from lfds.nn.accel.frozen.graphs import Graphs
from lfds.nn.accel.frozen.layer import FrozenLayer, scale_and_shift
from lfds.nn.anchors import FixedAnchors
from lfds.nn.ops.segment import slot_max
from lfds.nn.pool import LFDSPool
from lfds.nn.projection import divided
from lfds.nn.structures import Loop, Sequence
from lfds.nn.structures.spatial import SpatialLayer, repeated_edges


@final
class FrozenPool:
    r"""One :class:`LFDSPool`, for a limited number of graphs at a time.

    A norm of the nodes, :math:`\mathbf{s} \odot \mathbf{x}_i + \mathbf{b}`, is not made for each of
    them: it goes into the anchors and, after nodes were shared out, into the slots.

    .. math::
        \langle \mathbf{w}_k, \mathbf{s} \odot \mathbf{x}_i + \mathbf{b} \rangle
            &= \langle \mathbf{w}_k \odot \mathbf{s}, \mathbf{x}_i \rangle
               + \langle \mathbf{w}_k, \mathbf{b} \rangle \\
        \sum_i p_{ik} (\mathbf{s} \odot \mathbf{x}_i + \mathbf{b})
            &= \mathbf{s} \odot \sum_i p_{ik} \mathbf{x}_i + m_k \mathbf{b}

    The layers of a loop and of a sequence are frozen.  Those of other structures, convolutions and
    dense products, run as they are, and so does a pooling whose anchors depend on the graph.

    Args:
        pool: What was learned.
        most: How many graphs will be pooled at once.
    """

    def __init__(self, pool: LFDSPool, most: int) -> None:
        self.pool = pool
        self.norm = None if pool.node_norm is None else scale_and_shift(pool.node_norm.norm)
        self.anchors: Tensor | None = None
        if isinstance(pool.anchors, FixedAnchors):
            anchors = pool.anchors(None).detach()
            scale, shift = self.norm or (torch.ones_like(anchors[0]), torch.zeros_like(anchors[0]))
            self.anchors = (anchors * scale).t().contiguous()
            self.offsets = anchors @ shift
        self.layers: list[FrozenLayer] = []
        if isinstance(pool.structure, Loop | Sequence):
            self.slots = _slots_as_nodes(pool.structure, most)
            spatial = (layer for layer in pool.layers if isinstance(layer, SpatialLayer))
            self.layers += (
                FrozenLayer(layer.transforms.weight, layer.activation.norm) for layer in spatial
            )

    def __call__(
        self, graphs: Graphs, largest: Float[Tensor, "graphs channels"]
    ) -> Float[Tensor, "graphs out_channels"]:
        """Pool graphs, of which the largest values are known already."""
        if self.anchors is None:
            pooled: Tensor = self.pool(graphs.x, ptr=graphs.ptr - graphs.ptr[0])
            return pooled
        slots = self._placed(graphs, self.anchors, largest)
        vectors: list[Tensor] = []
        for k in range(self.pool.depth):
            slots, highest = self._talked(slots, k)
            vectors += self.pool.read(slots, highest, k)
        return torch.cat(vectors, dim=1)

    def _placed(self, graphs: Graphs, anchors: Tensor, largest: Tensor) -> Tensor:
        from lfds.nn.accel.numba_inference import place

        share = torch.addmm(self.offsets, graphs.x, anchors).softmax(dim=1)
        total = share.new_empty(graphs.num_graphs, share.shape[1], graphs.x.shape[1])
        mass = share.new_empty(total.shape[:2])
        place(*(part.numpy() for part in (graphs.x, share, graphs.ptr, total, mass)))
        if self.norm is not None:
            scale, shift = self.norm
            total = torch.addcmul(mass[:, :, None] * shift, total, scale)
            # A graph without nodes has maxima of zero, before and after.
            there = (graphs.ptr.diff() > 0)[:, None]
            largest = torch.where(there, torch.addcmul(shift, largest, scale), largest)
        slots = divided(total, mass, graphs.ptr, self.pool.reduction)
        if self.pool.counts is not None:
            slots = self.pool.counts(slots, mass)
        if self.pool.blend is not None:
            slots = self.pool.blend(slots, largest)
        return slots

    def _talked(self, slots: Tensor, k: int) -> tuple[Tensor, Tensor]:
        """The slots after a layer, and their maxima."""
        if not self.layers:
            slots = self.pool.layers[k](slots, self.pool.structure)
            return slots, slot_max(slots)
        rows = slots.flatten(0, 1)
        ptr, edge_ptr, source = self.slots
        ptr, edge_ptr = ptr[: len(slots) + 1], edge_ptr[: len(rows) + 1]
        after, highest = self.layers[k](Graphs(rows, ptr, edge_ptr, source))
        return after.view(slots.shape), highest


def _slots_as_nodes(structure: Loop | Sequence, most: int) -> tuple[Tensor, Tensor, Tensor]:
    """The slots of so many graphs as nodes: where graphs begin, where edges do, and from where."""
    size = structure.num_slots
    rows = repeated_edges(structure.adjacency, most).rows
    return torch.arange(most + 1) * size, rows.ptr.long(), rows.column % size
