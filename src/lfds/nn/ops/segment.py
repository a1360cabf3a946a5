"""Maximum, sum and mean over the nodes of every graph; zero for a graph without nodes."""

from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor

from lfds.nn.accel.dispatch import backend_for, only_basic_operations, working_dtype
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
    graph = index_from_ptr(ptr, x.shape[0])[:, None].expand_as(x)
    lowest = rows.new_full((ptr.shape[0] - 1, x.shape[1]), -torch.inf)
    largest = lowest.scatter_reduce(0, graph, rows, "amax")
    return torch.where((ptr.diff() > 0)[:, None], largest, 0.0).to(x.dtype)


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
