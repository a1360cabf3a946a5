"""The projection: distribute the nodes of every graph over the slots of a structure."""

from typing import get_args

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn.functional import pad

from lfds.config.network import Reduction
from lfds.nn.accel.dispatch import (
    is_accelerated,
    only_basic_operations,
    own_precision,
    values_may_be_read,
    working_dtype,
)
from lfds.nn.input_checks import (
    check_anchors,
    check_finite,
    check_flag,
    check_nodes,
    check_ptr,
    check_weight,
)
from lfds.nn.ops.distribute import run_distribute
from lfds.nn.ops.distribute_device import LEAST_MASS, distribute_on_device
from lfds.nn.ops.ragged import Ragged, index_from_ptr, sum_by_graph

REDUCTIONS: tuple[Reduction, ...] = get_args(Reduction)

OPERATOR_REDUCTIONS = ("sum", "mean", "mass")
"""Those that the operators of :mod:`lfds.nn.ops` divide by; for others, :func:`divided` does."""


def shares(
    x: Float[Tensor, "nodes channels"],
    anchors: Float[Tensor, "... slots channels"],
    ptr: Int[Tensor, "boundaries"] | None = None,
) -> Float[Tensor, "nodes slots"]:
    r"""Return how much of every node goes to every slot.

    .. math::
        p_{ik} = \frac{\exp \langle \mathbf{x}_i, \mathbf{w}_k \rangle}
                      {\sum_u \exp \langle \mathbf{x}_i, \mathbf{w}_u \rangle}

    Args:
        x: Node features :math:`\mathbf{x}_i`.
        anchors: One :math:`\mathbf{w}_k` for each slot, the same for all graphs, or per graph.
        ptr: Where each graph begins; needed only for anchors per graph.
    """
    check_nodes(x)
    if ptr is None:
        ptr = torch.tensor([0, x.shape[0]], device=x.device)
    check_ptr(ptr, x.shape[0])
    check_anchors(x, anchors, ptr.shape[0] - 1)
    with own_precision(x):
        logits = _logits(x.to(working_dtype(x)), anchors.to(working_dtype(x)), ptr.long())
        return logits.softmax(dim=-1).to(x.dtype)


def _logits(x: Tensor, anchors: Tensor, ptr: Tensor) -> Tensor:
    if anchors.dim() == 2:
        return x @ anchors.mT
    if values_may_be_read(ptr):
        parts = zip(x.split(ptr.diff().tolist()), anchors, strict=True)
        return torch.cat(
            [x.new_empty(0, anchors.shape[1]), *(part @ own.mT for part, own in parts)]
        )
    own = anchors[index_from_ptr(ptr, x.shape[0])]
    return (own @ x[:, :, None])[:, :, 0]


def distribute(
    x: Float[Tensor, "nodes channels"],
    anchors: Float[Tensor, "... slots channels"],
    ptr: Int[Tensor, "boundaries"],
    *,
    weight: Float[Tensor, "nodes"] | None = None,
    reduction: Reduction = "sum",
    low_memory: bool = False,
) -> Float[Tensor, "boundaries-1 slots channels"]:
    r"""Distribute the nodes of every graph over the slots of a structure.

    .. math::
        \mathbf{y}_{gk} = \frac{1}{c_{gk}} \sum_{i \in g} w_i \, p_{ik} \, \mathbf{x}_i

    Args:
        x: Node features :math:`\mathbf{x}_i`, graph after graph.
        anchors: One vector for each slot, [slots, channels] for all graphs or
            [graphs, slots, channels]; they make the shares :math:`p_{ik}` (see :func:`shares`).
        ptr: Row of ``x`` at which each graph begins, then the number of rows.
        weight: How much of every node there is, :math:`w_i`; one of each by default.
        reduction: What to divide by. ``"sum"``: :math:`c = 1`, as in the paper, so that large
            graphs give large values. ``"mean"``: the number of nodes of the graph (the sum of their
            weights). ``"mass"``: the mass of the slot, :math:`c_{gk} = \sum_{i \in g} w_i p_{ik}`
            (at least :math:`10^{-12}`: a slot of less mass goes to zero).
        low_memory: Compute the shares again in the backward pass instead of keeping them: about a
            sixth more arithmetic, and extra memory that does not grow with the number of nodes.

    A graph without nodes gets zeros. float16 and bfloat16 are computed in float32 and rounded once.

    Example:
        >>> x = torch.tensor([[1.0, 0.0], [0.0, 1.0], [2.0, 2.0]])
        >>> anchors = torch.zeros(4, 2)  # a quarter of each node for every slot
        >>> distribute(x, anchors, torch.tensor([0, 2, 3]))[:, 0]
        tensor([[0.2500, 0.2500],
                [0.5000, 0.5000]])
    """
    check_nodes(x)
    check_ptr(ptr, x.shape[0])
    if weight is not None:
        check_weight(weight, x)
    return place(Ragged(x, ptr.long(), None, weight), anchors, reduction, low_memory)


def place(
    batch: Ragged,
    anchors: Float[Tensor, "... slots channels"],
    reduction: Reduction,
    low_memory: bool,
) -> Float[Tensor, "graphs slots channels"]:
    """:func:`distribute` for a batch that is in order."""
    x, ptr, order, weight = batch
    check_anchors(x, anchors, ptr.shape[0] - 1)
    if reduction not in REDUCTIONS:
        raise ValueError(f"reduction must be one of {', '.join(REDUCTIONS)}, got {reduction!r}")
    if weight is not None or reduction not in OPERATOR_REDUCTIONS:
        return place_and_weigh(batch, anchors, reduction, low_memory)[0]
    if only_basic_operations():
        return _distribute_literally(x, anchors, ptr, reduction)
    slots = run_distribute(x, anchors, ptr, reduction, check_flag("low_memory", low_memory))
    check_finite(slots, x, anchors, ptr, order)
    return slots


def place_and_weigh(
    batch: Ragged,
    anchors: Float[Tensor, "... slots channels"],
    reduction: Reduction,
    low_memory: bool,
) -> tuple[Float[Tensor, "graphs slots channels"], Float[Tensor, "graphs slots"]]:
    r"""Distribute nodes as :func:`place` does, and return the mass of every slot, differentiably.

    The mass :math:`m_k = \sum_i w_i p_{ik}` is the sum of one more channel, which is
    :math:`w_i` in every node and zero in every anchor. With weights, :math:`w_i \mathbf{x}_i` is
    summed in channels of its own too: the channels themselves are those that make the shares.
    """
    x, ptr, order, weight = batch
    if is_accelerated(x) and not only_basic_operations():
        check_anchors(x, anchors, ptr.shape[0] - 1)
        # The operator's mean is over nodes, whatever they weigh.
        unweighted = reduction == "mean" and weight is not None
        outside = unweighted or reduction not in OPERATOR_REDUCTIONS
        by = "sum" if outside else reduction
        slots, masses = distribute_on_device(x, anchors, ptr, by, weight)
        check_finite(slots, x, anchors, ptr, order)
        if outside:
            slots = divided(slots, masses, batch, reduction)
        return slots.to(x.dtype), masses.to(x.dtype)
    channels, dtype = x.shape[1], working_dtype(x)
    # Four more channels, three of them zero: rows stay multiples of 16 bytes, which is faster.
    one = x.new_tensor([1.0, 0.0, 0.0, 0.0]).expand(x.shape[0], 4)
    if weight is None:
        widened = torch.cat([x, one], dim=1).to(dtype)
    else:
        amount = weight.to(dtype)[:, None]
        widened = torch.cat([x.to(dtype), amount * x, amount * one], dim=1)
    padded = pad(anchors, (0, widened.shape[1] - channels)).to(dtype)
    sums = place(Ragged(widened, ptr, order), padded, "sum", low_memory)
    total, mass = sums[:, :, -channels - 4 : -4], sums[:, :, -4]
    return divided(total, mass, batch, reduction).to(x.dtype), mass.to(x.dtype)


def _distribute_literally(x: Tensor, anchors: Tensor, ptr: Tensor, reduction: Reduction) -> Tensor:
    """The definition in basic operations: for ONNX files and the transforms of ``torch.func``."""
    share = shares(x, anchors, ptr)
    placed = (share[:, :, None] * x[:, None, :]).flatten(1)
    total = sum_by_graph(placed, ptr).view(-1, share.shape[1], x.shape[1])
    return divided(total, sum_by_graph(share, ptr), Ragged(x, ptr, None), reduction)


def divided(total: Tensor, mass: Tensor, batch: Ragged, reduction: Reduction) -> Tensor:
    """Divide the sums of the slots by what the reduction says."""
    if reduction == "mean" and batch.weight is None:
        return total / batch.ptr.diff().clamp(min=1)[:, None, None]
    if reduction == "mean":  # what all slots have is what all nodes weigh
        return total / mass.sum(dim=1).clamp(min=LEAST_MASS)[:, None, None]
    if reduction == "mass":
        return total / mass.clamp(min=LEAST_MASS)[:, :, None]
    return total
