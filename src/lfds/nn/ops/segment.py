"""The largest value of each channel in every graph, and zero for a graph without nodes."""

from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn import functional as F  # noqa: N812

from lfds.nn.accel.dispatch import only_basic_operations, runs_eagerly, runs_natively, working_dtype
from lfds.nn.ops.first_order import no_second_derivative
from lfds.nn.ops.ragged import index_from_ptr

# Values that gradients are shared out among at a time.
AT_ONCE = 2**19


def ragged_max(
    x: Float[Tensor, "nodes channels"], ptr: Int[Tensor, "boundaries"]
) -> Float[Tensor, "boundaries-1 channels"]:
    r"""Take the maximum over the nodes of every graph.

    .. math::
        m_{gc} = \max_{i \in g} x_{ic}

    Nodes that tie share the gradient evenly, so that it does not depend on their order.
    """
    # The loop over graphs is several times faster on the CPU than torch's segment and scatter
    # reductions, which walk the columns one by one; elsewhere a loop would launch a kernel a graph.
    if x.device.type != "cpu" or only_basic_operations():
        return _scattered_max(x, ptr)
    if not runs_eagerly(x):
        traced: Tensor = torch.ops.lfds.ragged_max(x, ptr)
        return traced
    run = _Natively.apply if runs_natively(x) else _Eagerly.apply
    largest: Tensor = run(x, ptr)  # type: ignore[no-untyped-call]
    return largest


def slot_max(
    slots: Float[Tensor, "graphs slots channels"],
) -> Float[Tensor, "graphs channels"]:
    """Take the maximum over the slots of every graph; slots that tie share the gradient evenly."""
    if not runs_eagerly(slots):
        return slots.amax(dim=1)
    if runs_natively(slots):
        graphs, size = slots.shape[:2]
        return ragged_max(slots.flatten(0, 1), torch.arange(graphs + 1) * size)
    largest: Tensor = _SlotMax.apply(slots)  # type: ignore[no-untyped-call]
    return largest


class _SlotMax(torch.autograd.Function):
    """As torch does it, in half the passes."""

    @staticmethod
    def forward(ctx: Any, slots: Tensor) -> Tensor:
        out = slots.amax(dim=1)
        ctx.save_for_backward(slots, out)
        return out

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> Tensor:
        slots, out = (kept.detach() for kept in ctx.saved_tensors)
        grad_slots = torch.eq(slots, out[:, None], out=torch.empty_like(slots))
        return grad_slots.mul_((grads[0] / grad_slots.sum(dim=1))[:, None])


def _scattered_max(x: Tensor, ptr: Tensor) -> Tensor:
    num_graphs = ptr.shape[0] - 1
    graph = index_from_ptr(ptr, x.shape[0])[:, None].expand_as(x)
    lowest = x.new_full((num_graphs, x.shape[1]), -torch.inf)
    largest = lowest.scatter_reduce(0, graph, x, "amax")
    return torch.where((ptr.diff() > 0)[:, None], largest, 0.0)


torch.library.define("lfds::ragged_max", "(Tensor x, Tensor ptr) -> Tensor")
torch.library.define(
    "lfds::ragged_max_backward", "(Tensor grad, Tensor out, Tensor x, Tensor ptr) -> Tensor"
)


def _ragged_max(x: Tensor, ptr: Tensor) -> Tensor:
    sizes = ptr.diff().tolist()
    out = x.new_zeros(len(sizes), x.shape[1])
    for nodes, result in zip(x.split(sizes), out.unbind(), strict=True):
        if nodes.shape[0]:
            torch.amax(nodes, dim=0, out=result)
    return out


def _ragged_max_shape(x: Tensor, ptr: Tensor) -> Tensor:
    return x.new_empty(ptr.shape[0] - 1, x.shape[1])


def _ragged_max_backward(grad: Tensor, out: Tensor, x: Tensor, ptr: Tensor) -> Tensor:
    grad_x = torch.empty_like(x)
    num_graphs = max(1, ptr.shape[0] - 1)
    # As many small graphs at a time as stay near the cache; large ones one by one.
    step = max(1, AT_ONCE * num_graphs // max(1, x.numel()))
    starts = ptr[::step].tolist()
    ends = [*starts[1:], x.shape[0]]
    for first, start, end in zip(range(0, num_graphs, step), starts, ends, strict=False):
        graphs = slice(first, first + step)
        inside = ptr[first : first + step + 1] - start
        _share_out(grad[graphs], out[graphs], x[start:end], inside, grad_x[start:end])
    return grad_x


def _share_out(grad: Tensor, out: Tensor, x: Tensor, ptr: Tensor, grad_x: Tensor) -> None:
    """Write into ``grad_x`` what flows back to the nodes of some graphs."""
    # The graph of every node; a single graph needs no copies of what belongs to it.
    graph = torch.repeat_interleave(ptr.diff()) if ptr.shape[0] > 2 else None
    torch.eq(x, out if graph is None else out.index_select(0, graph), out=grad_x)
    attained = grad_x.to(working_dtype(x))
    numbers = torch.arange(x.shape[0], device=x.device)
    count = F.embedding_bag(numbers, attained, ptr, mode="sum", include_last_offset=True)
    pull = (grad / count.clamp_(min=1)).to(x.dtype)
    grad_x *= pull if graph is None else pull.index_select(0, graph)


def _ragged_max_backward_shape(grad: Tensor, out: Tensor, x: Tensor, ptr: Tensor) -> Tensor:
    return torch.empty_like(x)


def _keep(ctx: Any, inputs: tuple[Tensor, Tensor], output: Tensor) -> None:
    ctx.save_for_backward(output, *inputs)


def _backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:
    return torch.ops.lfds.ragged_max_backward(grad, *ctx.saved_tensors), None


def _second_backward(ctx: Any, *_: Tensor) -> None:
    raise no_second_derivative("the maximum over each graph of lfds.nn")


class _Eagerly(torch.autograd.Function):
    """The same operator without torch's dispatcher, which costs more than a few small graphs."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, ptr: Tensor) -> Tensor:
        out = _ragged_max(x, ptr)
        _keep(ctx, (x, ptr), out)
        return out

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None]:
        if torch.is_grad_enabled():  # with create_graph=True
            return _backward(ctx, *grads)
        return _ragged_max_backward(*grads, *ctx.saved_tensors), None


class _Natively(torch.autograd.Function):
    """The same by native kernels, which count ties on the way there."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, ptr: Tensor) -> Tensor:
        from lfds.nn.accel.numba_segment_max import largest

        x, ptr = x.contiguous(), ptr.contiguous()
        out = x.new_empty(ptr.shape[0] - 1, x.shape[1])
        count = torch.empty_like(out)
        largest(*(part.detach().numpy() for part in (x, ptr, out, count)))
        ctx.save_for_backward(out, x, ptr, count)
        return out

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None]:
        from lfds.nn.accel.numba_segment_max import share_out

        *needed, count = ctx.saved_tensors
        if torch.is_grad_enabled():  # with create_graph=True
            return torch.ops.lfds.ragged_max_backward(*grads, *needed), None
        out, x, ptr = needed
        pull, grad_x = grads[0] / count, torch.empty_like(x)
        share_out(*(part.detach().numpy() for part in (x, ptr, out, pull, grad_x)))
        return grad_x, None


torch.library.impl("lfds::ragged_max", "default", _ragged_max)
torch.library.impl("lfds::ragged_max_backward", "default", _ragged_max_backward)
torch.library.register_fake("lfds::ragged_max", _ragged_max_shape)
torch.library.register_fake("lfds::ragged_max_backward", _ragged_max_backward_shape)
torch.library.register_autograd("lfds::ragged_max", _backward, setup_context=_keep)
torch.library.register_autograd("lfds::ragged_max_backward", _second_backward)
