"""Maximum, sum and mean over the nodes, and maximum over the slots, of every graph.

A graph without nodes has zeros.
"""

from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn import functional as F  # noqa: N812

from lfds.nn.accel.dispatch import (
    backend_for,
    only_basic_operations,
    runs_eagerly,
    working_dtype,
)
from lfds.nn.ops.ragged import index_from_ptr
from lfds.nn.ops.segment_matmul import weighted_sums


def ragged_max(
    x: Float[Tensor, "nodes channels"], ptr: Int[Tensor, "boundaries"]
) -> Float[Tensor, "boundaries-1 channels"]:
    r"""Take the maximum over the nodes of every graph.

    .. math::
        m_{gc} = \max_{i \in g} x_{ic}

    Nodes that tie get equal parts of the gradient, so that it does not depend on their order.
    """
    if backend_for(x) == "triton" and not only_basic_operations():
        fused: Tensor = torch.ops.lfds.ragged_max(x, ptr)
        return fused
    # Not `segment_reduce`, whose negative gradients are not divided among ties (torch 2.13). Not in
    # low precision, in which ties cannot be counted.
    rows = x.to(working_dtype(x))
    if runs_eagerly(x) and backend_for(x) == "cpu":
        eager: Tensor = _RaggedMax.apply(rows, ptr)  # type: ignore[no-untyped-call]
        return eager.to(x.dtype)
    return _largest(rows, ptr).to(x.dtype)


def _largest(x: Tensor, ptr: Tensor) -> Tensor:
    graph = index_from_ptr(ptr, x.shape[0])[:, None].expand_as(x)
    lowest = x.new_full((ptr.shape[0] - 1, x.shape[1]), -torch.inf)
    largest = lowest.scatter_reduce(0, graph, x, "amax")
    return torch.where((ptr.diff() > 0)[:, None], largest, 0.0)


def slot_max(
    slots: Float[Tensor, "graphs slots channels"],
) -> Float[Tensor, "graphs channels"]:
    """Take the maximum over the slots of every graph; ties as in :func:`ragged_max`."""
    full_precision = slots.dtype == working_dtype(slots)
    if full_precision and runs_eagerly(slots) and backend_for(slots) == "cpu":
        largest: Tensor = _SlotMax.apply(slots)  # type: ignore[no-untyped-call]
        return largest
    return slots.amax(dim=1)


def _equal(one: Tensor, other: Tensor) -> Tensor:
    """Return 1 where two are equal, else 0; as numbers at once, not as truth values first."""
    return torch.eq(one, other, out=torch.empty(one.shape, dtype=one.dtype))


class _RaggedMax(torch.autograd.Function):
    """The gradient of torch's ``scatter_reduce`` in half of its passes over the nodes."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, ptr: Tensor) -> Tensor:
        largest = _largest(x, ptr)
        ctx.save_for_backward(x, ptr, largest)
        return largest

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None]:
        x, ptr, largest = (kept.detach() for kept in ctx.saved_tensors)
        if x.numel() == 0:
            return torch.zeros_like(x), None
        graph = torch.repeat_interleave(ptr.diff(), output_size=x.shape[0])
        ties = _equal(x, largest.index_select(0, graph))
        nodes = torch.arange(x.shape[0])
        # A sum over runs of rows: several times faster than `index_add`.
        counts = F.embedding_bag(nodes, ties, ptr, mode="sum", include_last_offset=True)
        return (grads[0] / counts.clamp(min=1)).index_select(0, graph).mul_(ties), None


class _SlotMax(torch.autograd.Function):
    """The gradient of torch's ``amax`` in half of its passes over the slots."""

    @staticmethod
    def forward(ctx: Any, slots: Tensor) -> Tensor:
        largest = slots.amax(dim=1)
        ctx.save_for_backward(slots, largest)
        return largest

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> Tensor:
        slots, largest = (kept.detach() for kept in ctx.saved_tensors)
        ties = _equal(slots, largest[:, None])
        return (grads[0] / ties.sum(dim=1))[:, None] * ties


def ragged_sum(
    x: Float[Tensor, "nodes channels"], ptr: Int[Tensor, "boundaries"]
) -> Float[Tensor, "boundaries-1 channels"]:
    """Sum the nodes of every graph."""
    return weighted_sums(x.new_ones(x.shape[0], 1), x, ptr)[:, 0]


def ragged_mean(
    x: Float[Tensor, "nodes channels"], ptr: Int[Tensor, "boundaries"]
) -> Float[Tensor, "boundaries-1 channels"]:
    """Average the nodes of every graph."""
    return ragged_sum(x, ptr) / ptr.diff().clamp(min=1)[:, None]


torch.library.define("lfds::ragged_max", "(Tensor x, Tensor ptr) -> Tensor")
torch.library.define(
    "lfds::ragged_max_backward", "(Tensor grad, Tensor x, Tensor ptr, Tensor top) -> Tensor"
)


def _max(x: Tensor, ptr: Tensor) -> Tensor:
    from lfds.nn.accel import triton_max

    return triton_max.ragged_max(x, ptr)


def _max_backward(grad: Tensor, x: Tensor, ptr: Tensor, top: Tensor) -> Tensor:
    from lfds.nn.accel import triton_max

    return triton_max.ragged_max_backward(grad, x, ptr, top)


def _max_shape(x: Tensor, ptr: Tensor) -> Tensor:
    return x.new_empty(ptr.shape[0] - 1, x.shape[1])


def _max_backward_shape(grad: Tensor, x: Tensor, ptr: Tensor, top: Tensor) -> Tensor:
    return x.new_empty(x.shape)


def _keep(ctx: Any, inputs: tuple[Tensor, Tensor], output: Tensor) -> None:
    ctx.save_for_backward(*inputs, output)


def _backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:
    return torch.ops.lfds.ragged_max_backward(grad, *ctx.saved_tensors), None


torch.library.impl("lfds::ragged_max", "default", _max)
torch.library.impl("lfds::ragged_max_backward", "default", _max_backward)
torch.library.register_fake("lfds::ragged_max", _max_shape)
torch.library.register_fake("lfds::ragged_max_backward", _max_backward_shape)
torch.library.register_autograd("lfds::ragged_max", _backward, setup_context=_keep)
