"""Share the nodes of every graph out over the slots of a structure."""

from typing import Literal, get_args

import torch
from jaxtyping import Float, Int
from torch import Tensor

from lfds.nn.checks import check_anchors, check_finite, check_ptr
from lfds.nn.operator import LEAST_MASS
from lfds.nn.ragged import index_from_ptr

Reduction = Literal["sum", "mean", "mass"]
REDUCTIONS: tuple[Reduction, ...] = get_args(Reduction)


def shares(
    x: Float[Tensor, "nodes channels"],
    anchors: Float[Tensor, "... slots channels"],
    ptr: Int[Tensor, "boundaries"] | None = None,
) -> Float[Tensor, "nodes slots"]:
    r"""Tell how much of every node goes to every slot.

    .. math::
        p_{ik} = \frac{\exp \langle \mathbf{x}_i, \mathbf{w}_k \rangle}
                      {\sum_u \exp \langle \mathbf{x}_i, \mathbf{w}_u \rangle}

    Args:
        x: Node features :math:`\mathbf{x}_i`.
        anchors: One :math:`\mathbf{w}_k` for each slot, the same for all graphs, or per graph.
        ptr: Where each graph begins; needed only for anchors per graph.
    """
    if ptr is None:
        ptr = torch.tensor([0, x.shape[0]], device=x.device)
    check_anchors(x, anchors, ptr)
    if anchors.dim() == 2:
        return (x @ anchors.mT).softmax(dim=-1)
    own = anchors[index_from_ptr(ptr, x.shape[0])]
    return (own @ x[:, :, None])[:, :, 0].softmax(dim=-1)


def distribute(
    x: Float[Tensor, "nodes channels"],
    anchors: Float[Tensor, "... slots channels"],
    ptr: Int[Tensor, "boundaries"],
    *,
    reduction: Reduction = "sum",
    low_memory: bool = False,
) -> Float[Tensor, "boundaries-1 slots channels"]:
    r"""Place the nodes of every graph on the slots of a structure.

    .. math::
        \mathbf{y}_{gk} = \frac{1}{c_{gk}} \sum_{i \in g} p_{ik} \, \mathbf{x}_i

    Args:
        x: Node features :math:`\mathbf{x}_i`, graph after graph.
        anchors: One vector for each slot, [slots, channels] for all graphs or
            [graphs, slots, channels]; they make the shares :math:`p_{ik}` (see :func:`shares`).
        ptr: Row of ``x`` at which each graph begins, then the number of rows.
        reduction: What to divide by. ``"sum"``: :math:`c = 1`, as in the paper, so that large
            graphs give large values. ``"mean"``: the number of nodes of the graph. ``"mass"``:
            :math:`c_{gk} = \sum_{i \in g} p_{ik}`, what the slot received.
        low_memory: Compute the shares again in the backward pass, some thousand nodes at a time,
            instead of keeping all of them. About a sixth more arithmetic; the extra memory no
            longer grows with the number of nodes.

    A graph without nodes gets zeros. float16 and bfloat16 are computed in float32 and rounded once.

    Example:
        >>> x = torch.tensor([[1.0, 0.0], [0.0, 1.0], [2.0, 2.0]])
        >>> anchors = torch.zeros(4, 2)  # no preference: a quarter of each node for every slot
        >>> distribute(x, anchors, torch.tensor([0, 2, 3]))[:, 0]
        tensor([[0.2500, 0.2500],
                [0.5000, 0.5000]])
    """
    check_ptr(ptr, x.shape[0], None)
    check_anchors(x, anchors, ptr)
    if reduction not in REDUCTIONS:
        raise ValueError(f"reduction must be one of {', '.join(REDUCTIONS)}, got {reduction!r}")
    if torch.onnx.is_in_onnx_export():
        return _distribute_plainly(x, anchors, ptr, reduction)
    slots: Tensor
    slots, _, _ = torch.ops.lfds.distribute(x, anchors, ptr, reduction, low_memory)
    check_finite(x, slots, ptr)
    return slots


def _distribute_plainly(x: Tensor, anchors: Tensor, ptr: Tensor, reduction: Reduction) -> Tensor:
    """The definition in basic operations: what an ONNX file can hold."""
    share = shares(x, anchors, ptr)
    graph = index_from_ptr(ptr, x.shape[0])
    num_graphs = ptr.shape[0] - 1
    placed = (share[:, :, None] * x[:, None, :]).flatten(1)
    total = x.new_zeros(num_graphs, placed.shape[1]).index_add(0, graph, placed)
    total = total.view(num_graphs, share.shape[1], x.shape[1])
    if reduction == "mean":
        return total / ptr.diff().clamp(min=1)[:, None, None]
    if reduction == "mass":
        mass = x.new_zeros(num_graphs, share.shape[1]).index_add(0, graph, share)
        return total / mass.clamp(min=LEAST_MASS)[:, :, None]
    return total
