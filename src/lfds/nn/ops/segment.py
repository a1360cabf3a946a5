"""Maximum, sum, mean and variance over the nodes, and maximum over the slots, of every graph.

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
from lfds.nn.input_checks import check_ptr_values
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
        return _to_ties(grads[0], x, largest, ptr, _graph_of_rows(ptr, x)), None


def _to_ties(grad: Tensor, x: Tensor, largest: Tensor, ptr: Tensor, graph: Tensor) -> Tensor:
    """The gradient of a maximum: equal parts for all nodes that have it."""
    ties = _equal(x, largest.index_select(0, graph))
    return (grad / _sums(ties, ptr).clamp(min=1)).index_select(0, graph).mul_(ties)


def _sums(x: Tensor, ptr: Tensor) -> Tensor:
    """The sum itself, without autograd; several times faster than `index_add` and products."""
    if x.numel() == 0:
        return x.new_zeros(ptr.shape[0] - 1, x.shape[1])
    nodes = torch.arange(x.shape[0])
    return F.embedding_bag(nodes, x, ptr, mode="sum", include_last_offset=True)


def _graph_of_rows(ptr: Tensor, x: Tensor) -> Tensor:
    return torch.repeat_interleave(ptr.diff(), output_size=x.shape[0])


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
    if _is_plain(x):
        check_ptr_values(ptr, x.shape[0])  # a wrong one would read stray memory
        eager: Tensor = _RaggedSum.apply(x, ptr)  # type: ignore[no-untyped-call]
        return eager
    return weighted_sums(x.new_ones(x.shape[0], 1), x, ptr)[:, 0]


def ragged_mean(
    x: Float[Tensor, "nodes channels"], ptr: Int[Tensor, "boundaries"]
) -> Float[Tensor, "boundaries-1 channels"]:
    """Average the nodes of every graph."""
    return ragged_sum(x, ptr) / ptr.diff().clamp(min=1)[:, None]


def ragged_moments(
    x: Float[Tensor, "nodes channels"], ptr: Int[Tensor, "boundaries"]
) -> tuple[Float[Tensor, "boundaries-1 channels"], Float[Tensor, "boundaries-1 channels"]]:
    r"""Return mean and variance over the nodes of every graph.

    .. math::
        \mu_{gc} = \frac{1}{n_g} \sum_{i \in g} x_{ic}, \qquad
        v_{gc} = \frac{1}{n_g} \sum_{i \in g} (x_{ic} - \mu_{gc})^2, \qquad
        \bar x_{ic} = \frac{1}{n_g} \big(\bar\mu_{gc} + 2 (x_{ic} - \mu_{gc}) \bar v_{gc}\big)

    The mean inside the variance has no gradient: deviations from it sum to zero.
    """
    if _is_plain(x):
        check_ptr_values(ptr, x.shape[0])
        mean, variance = _RaggedMoments.apply(x, ptr)  # type: ignore[no-untyped-call]
        return mean, variance
    mean = ragged_mean(x, ptr)
    centred = x - mean[index_from_ptr(ptr, x.shape[0])]
    return mean, ragged_mean(centred.square(), ptr)


def _is_plain(x: Tensor) -> bool:
    """Whether the eager functions for the CPU take ``x``."""
    return runs_eagerly(x) and backend_for(x) == "cpu" and x.dtype == working_dtype(x)


class _RaggedSum(torch.autograd.Function):
    """A sum of runs of rows, whose gradient is a copy for every row."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, ptr: Tensor) -> Tensor:
        ctx.save_for_backward(_graph_of_rows(ptr, x))
        return _sums(x, ptr)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None]:
        (graph,) = ctx.saved_tensors
        return grads[0].index_select(0, graph), None


class _RaggedMoments(torch.autograd.Function):
    """Mean and variance in as few passes over the nodes as there can be."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, ptr: Tensor) -> tuple[Tensor, Tensor]:
        graph, sizes = _graph_of_rows(ptr, x), ptr.diff().clamp(min=1)[:, None]
        mean = _sums(x, ptr) / sizes
        squares = mean.index_select(0, graph).sub_(x).square_()
        ctx.save_for_backward(x, mean, ptr, graph)
        return mean, _sums(squares, ptr) / sizes

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None]:
        x, mean, ptr, graph = ctx.saved_tensors
        sizes = ptr.diff().clamp(min=1)[:, None]
        slope = 2 * grads[1] / sizes
        centred = x - mean.index_select(0, graph)
        # Deviations sum to zero but for rounding, which would show: the root of a variance near
        # zero is steep.
        rest = _RaggedSum.apply(centred, ptr) / sizes  # type: ignore[no-untyped-call]
        shift = grads[0] / sizes - slope * rest
        slopes = slope.index_select(0, graph)
        return torch.addcmul(shift.index_select(0, graph), slopes, centred), None


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
