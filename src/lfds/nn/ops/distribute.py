r"""The operator behind :func:`lfds.nn.distribute` on the CPU: forward, backward, and their shapes.

For one graph, with its nodes :math:`\mathbf{X}` and the anchors :math:`\mathbf{W}`,

.. math::
    \mathbf{P} = \mathrm{softmax}(\mathbf{X} \mathbf{W}^\top), \qquad
    \mathbf{Y} = \mathbf{P}^\top \mathbf{X},

and a gradient :math:`\bar{\mathbf{Y}}` flows back as

.. math::
    \bar{\mathbf{P}} &= \mathbf{X} \bar{\mathbf{Y}}^\top \\
    \bar{s}_{ik} &= p_{ik} \big(\bar{p}_{ik} - \textstyle\sum_u \bar{p}_{iu} p_{iu}\big) \\
    \bar{\mathbf{X}} &= \mathbf{P} \bar{\mathbf{Y}} + \bar{\mathbf{S}} \mathbf{W} \\
    \bar{\mathbf{W}} &= \bar{\mathbf{S}}^\top \mathbf{X}

Every step is local to a node or a sum over nodes, so nodes can be processed block by block.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import torch
from torch import Tensor

from lfds.nn.accel.dispatch import is_accelerated, own_precision, runs_eagerly, working_dtype
from lfds.nn.input_checks import check_ptr_values
from lfds.nn.ops.distribute_device import (
    LEAST_MASS,
    distribute_on_device,
    refuse_second_backward,
)
from lfds.nn.ops.segment_matmul import ragged_gram, ragged_matmul

# Nodes per block: few enough to stay in the cache, enough to keep the products busy.
BLOCK = 8_192


class Block(NamedTuple):
    """Some nodes, the graphs they belong to, and where those graphs begin among them."""

    nodes: slice
    graphs: slice
    ptr: Tensor


def blocks(ptr: Tensor, num_nodes: int, size: int) -> Iterator[Block]:
    """Cut the nodes into runs of ``size``; a run may end in the middle of a graph."""
    starts = torch.arange(0, num_nodes, size, device=ptr.device)
    ends = (starts + size).clamp(max=num_nodes)
    first = torch.searchsorted(ptr, starts, right=True) - 1
    last = torch.searchsorted(ptr, ends)
    bounds = (starts.tolist(), ends.tolist(), first.tolist(), last.tolist())
    for start, end, low, high in zip(*bounds, strict=True):
        inside = ptr[low : high + 1].clamp(start, end) - start
        yield Block(slice(start, end), slice(low, high), inside)


torch.library.define(
    "lfds::distribute",
    "(Tensor x, Tensor anchors, Tensor ptr, str reduction, bool low_memory)"
    " -> (Tensor, Tensor, Tensor)",
)


def _distribute(
    x: Tensor, anchors: Tensor, ptr: Tensor, reduction: str, low_memory: bool
) -> tuple[Tensor, Tensor, Tensor]:
    """Return the slots and, for the backward pass, the shares (if kept) and the slots' masses."""
    dtype = working_dtype(x)
    anchors = anchors.to(dtype)
    kept = anchors.new_empty(0 if low_memory else (x.shape[0], anchors.shape[-2]))
    with own_precision(x):
        place = _place if x.shape[0] <= BLOCK else _place_by_blocks
        slots, mass = place(x, anchors, ptr, reduction, kept)
    if reduction == "mean":
        slots /= _sizes(ptr)
    elif reduction == "mass":
        slots /= mass.clamp(min=LEAST_MASS)[:, :, None]
    return slots.to(x.dtype), kept, mass


def _place(
    x: Tensor, anchors: Tensor, ptr: Tensor, reduction: str, kept: Tensor
) -> tuple[Tensor, Tensor]:
    """Return the sums and masses of the slots; the shares are written to ``kept`` unless empty."""
    nodes = x.to(anchors.dtype)
    share = _shares(nodes, anchors, ptr, kept if kept.numel() else None)
    mass = _masses(share, ptr) if reduction == "mass" else share.new_empty(0)
    return ragged_gram(share, nodes, ptr), mass


def _place_by_blocks(
    x: Tensor, anchors: Tensor, ptr: Tensor, reduction: str, kept: Tensor
) -> tuple[Tensor, Tensor]:
    num_graphs, num_slots = ptr.shape[0] - 1, anchors.shape[-2]
    slots = anchors.new_zeros(num_graphs, num_slots, x.shape[1])
    mass = anchors.new_zeros((num_graphs, num_slots) if reduction == "mass" else 0)
    for block in blocks(ptr, x.shape[0], BLOCK):
        own = anchors if anchors.dim() == 2 else anchors[block.graphs]
        out = kept[block.nodes]  # empty where shares are not kept
        part, mass_part = _place(x[block.nodes], own, block.ptr, reduction, out)
        slots[block.graphs] += part
        if reduction == "mass":
            mass[block.graphs] += mass_part
    return slots, mass


def _shares(x: Tensor, anchors: Tensor, ptr: Tensor, out: Tensor | None = None) -> Tensor:
    if anchors.dim() == 2:
        logits = torch.mm(x, anchors.t(), out=out)
    else:
        logits = ragged_matmul(x, anchors.mT, ptr)
    return torch.softmax(logits, dim=-1, out=logits if out is None else out)


def _masses(share: Tensor, ptr: Tensor) -> Tensor:
    graph = torch.repeat_interleave(ptr.diff())
    mass = share.new_zeros(ptr.shape[0] - 1, share.shape[1])
    return mass.index_add_(0, graph, share)


def _sizes(ptr: Tensor) -> Tensor:
    return ptr.diff().clamp(min=1)[:, None, None]


def _distribute_shapes(
    x: Tensor, anchors: Tensor, ptr: Tensor, reduction: str, low_memory: bool
) -> tuple[Tensor, Tensor, Tensor]:
    num_graphs, num_slots = ptr.shape[0] - 1, anchors.shape[-2]
    dtype = working_dtype(x)
    return (
        x.new_empty(num_graphs, num_slots, x.shape[1]),
        x.new_empty(0 if low_memory else (x.shape[0], num_slots), dtype=dtype),
        x.new_empty((num_graphs, num_slots) if reduction == "mass" else 0, dtype=dtype),
    )


torch.library.define(
    "lfds::distribute_backward",
    "(Tensor grad, Tensor x, Tensor anchors, Tensor ptr, Tensor slots, Tensor share, Tensor mass,"
    " str reduction, bool low_memory) -> (Tensor, Tensor)",
)


def _distribute_backward(
    grad: Tensor,
    x: Tensor,
    anchors: Tensor,
    ptr: Tensor,
    slots: Tensor,
    share: Tensor,
    mass: Tensor,
    reduction: str,
    low_memory: bool,
) -> tuple[Tensor, Tensor]:
    """Return the gradients of ``x`` and ``anchors``."""
    weights = anchors.to(working_dtype(x))
    grad, grad_mass = _undo_division(grad.to(weights.dtype), slots, ptr, mass, reduction)
    with own_precision(x):
        run = _backward_of_block if x.shape[0] <= BLOCK else _backward_by_blocks
        grad_x, grad_weights = run(x, weights, ptr, share, grad, grad_mass)
    return grad_x.to(x.dtype), grad_weights.to(anchors.dtype)


def _backward_of_block(
    x: Tensor,
    anchors: Tensor,
    ptr: Tensor,
    kept: Tensor,
    grad: Tensor,
    grad_mass: Tensor | None,
) -> tuple[Tensor, Tensor]:
    nodes = x.to(anchors.dtype)
    share = kept if kept.numel() else _shares(nodes, anchors, ptr)
    grad_logits = _logits_backward(nodes, share, grad, grad_mass, ptr)
    grad_x = ragged_matmul(share, grad, ptr)
    if anchors.dim() == 2:
        return grad_x.addmm_(grad_logits, anchors), grad_logits.t() @ nodes
    grad_x += ragged_matmul(grad_logits, anchors, ptr)
    return grad_x, ragged_gram(grad_logits, nodes, ptr)


def _backward_by_blocks(
    x: Tensor,
    anchors: Tensor,
    ptr: Tensor,
    kept: Tensor,
    grad: Tensor,
    grad_mass: Tensor | None,
) -> tuple[Tensor, Tensor]:
    grad_x, grad_anchors = torch.empty_like(x), torch.zeros_like(anchors)
    for block in blocks(ptr, x.shape[0], BLOCK):
        whose = slice(None) if anchors.dim() == 2 else block.graphs
        own_mass = None if grad_mass is None else grad_mass[block.graphs]
        grad_x[block.nodes], anchors_part = _backward_of_block(
            x[block.nodes],
            anchors[whose],
            block.ptr,
            kept[block.nodes],
            grad[block.graphs],
            own_mass,
        )
        grad_anchors[whose] += anchors_part
    return grad_x, grad_anchors


def _undo_division(
    grad: Tensor, slots: Tensor, ptr: Tensor, mass: Tensor, reduction: str
) -> tuple[Tensor, Tensor | None]:
    """Return the gradients of the sum and of the mass it was divided by."""
    if reduction == "sum":
        return grad.contiguous(), None
    if reduction == "mean":
        return grad / _sizes(ptr), None
    enough = mass >= LEAST_MASS
    grad = grad / mass.clamp(min=LEAST_MASS)[:, :, None]
    return grad, torch.where(enough, -(grad * slots).sum(dim=-1), 0.0)


def _logits_backward(
    x: Tensor, share: Tensor, grad: Tensor, grad_mass: Tensor | None, ptr: Tensor
) -> Tensor:
    grad_share = ragged_matmul(x, grad.mT, ptr)
    if grad_mass is not None:
        grad_share += grad_mass.repeat_interleave(ptr.diff(), dim=0)
    softmax_backward = torch.ops.aten._softmax_backward_data.out
    grad_logits: Tensor = softmax_backward(
        grad_share, share, -1, share.dtype, grad_input=grad_share
    )
    return grad_logits


def _distribute_backward_shapes(
    grad: Tensor,
    x: Tensor,
    anchors: Tensor,
    ptr: Tensor,
    slots: Tensor,
    share: Tensor,
    mass: Tensor,
    reduction: str,
    low_memory: bool,
) -> tuple[Tensor, Tensor]:
    return torch.empty_like(x), torch.empty_like(anchors)


def _keep(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, ...]) -> None:
    x, anchors, ptr, ctx.reduction, ctx.low_memory = inputs
    slots, share, mass = output
    kept = slots if ctx.reduction == "mass" else slots.new_empty(0)
    ctx.save_for_backward(x, anchors, ptr, kept, share, mass)
    # Shares and masses are kept for the backward pass only: no gradient flows through them, and no
    # zeros of their size are made in its place.
    ctx.mark_non_differentiable(share, mass)
    ctx.set_materialize_grads(False)


Gradients = tuple[Tensor | None, Tensor | None, None, None, None]


def _backward(ctx: Any, grad: Tensor | None, *_: Tensor | None) -> Gradients:
    if grad is None:
        return None, None, None, None, None
    grad_x, grad_anchors = torch.ops.lfds.distribute_backward(
        grad, *ctx.saved_tensors, ctx.reduction, ctx.low_memory
    )
    return grad_x, grad_anchors, None, None, None


def _distribute_when_compiled(
    x: Tensor, anchors: Tensor, ptr: Tensor, reduction: str, low_memory: bool
) -> tuple[Tensor, Tensor, Tensor]:
    # Values could not be checked while tracing, and a wrong `ptr` would read stray memory.
    if ptr.device.type == "cpu":
        check_ptr_values(ptr, x.shape[0])
    return _distribute(x, anchors, ptr, reduction, low_memory)


torch.library.impl("lfds::distribute", "default", _distribute_when_compiled)
torch.library.impl("lfds::distribute_backward", "default", _distribute_backward)
torch.library.register_fake("lfds::distribute", _distribute_shapes)
torch.library.register_fake("lfds::distribute_backward", _distribute_backward_shapes)
torch.library.register_autograd("lfds::distribute", _backward, setup_context=_keep)
torch.library.register_autograd("lfds::distribute_backward", refuse_second_backward)


class _Eagerly(torch.autograd.Function):
    """The same operator without torch's dispatcher in between.

    Below the dispatcher's autograd key torch cuts tensors into slices at half the speed, and there
    are four slices for every graph and product: a sixth of the time on small graphs.
    """

    @staticmethod
    def forward(ctx: Any, *inputs: Any) -> tuple[Tensor, Tensor, Tensor]:
        output = _distribute(*inputs)
        _keep(ctx, inputs, output)
        return output

    @staticmethod
    def backward(ctx: Any, *grads: Tensor | None) -> Gradients:
        if grads[0] is None or torch.is_grad_enabled():  # with create_graph=True
            return _backward(ctx, *grads)
        kept = (*ctx.saved_tensors, ctx.reduction, ctx.low_memory)
        grad_x, grad_anchors = _distribute_backward(grads[0], *kept)
        return grad_x, grad_anchors, None, None, None


def run_distribute(
    x: Tensor, anchors: Tensor, ptr: Tensor, reduction: str, low_memory: bool
) -> Tensor:
    """Run the operator: directly in eager mode, through torch's dispatcher otherwise."""
    if is_accelerated(x):
        return distribute_on_device(x, anchors, ptr, reduction)[0]
    arguments = (x, anchors, ptr, reduction, low_memory)
    slots: Tensor
    if runs_eagerly(x):
        slots, _, _ = _Eagerly.apply(*arguments)  # type: ignore[no-untyped-call]
    else:
        slots, _, _ = torch.ops.lfds.distribute(*arguments)
    return slots
