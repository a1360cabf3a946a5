"""The largest value of each channel in every graph, and zero for a graph without nodes."""

from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor

from lfds.nn.ragged import index_from_ptr


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
    if x.device.type == "cpu" and not torch.onnx.is_in_onnx_export():
        largest: Tensor = torch.ops.lfds.ragged_max(x, ptr)
        return largest
    return _scattered_max(x, ptr)


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


@torch.library.impl("lfds::ragged_max", "default")
def _ragged_max(x: Tensor, ptr: Tensor) -> Tensor:
    sizes = ptr.diff().tolist()
    out = x.new_zeros(len(sizes), x.shape[1])
    for nodes, result in zip(x.split(sizes), out.unbind(), strict=True):
        if nodes.shape[0]:
            torch.amax(nodes, dim=0, out=result)
    return out


def _ragged_max_shape(x: Tensor, ptr: Tensor) -> Tensor:
    return x.new_empty(ptr.shape[0] - 1, x.shape[1])


@torch.library.impl("lfds::ragged_max_backward", "default")
def _ragged_max_backward(grad: Tensor, out: Tensor, x: Tensor, ptr: Tensor) -> Tensor:
    sizes = ptr.diff().tolist()
    grad_x = torch.empty_like(x)
    parts = grad_x.split(sizes)
    winners = torch.empty_like(grad, dtype=torch.promote_types(grad.dtype, torch.float32))
    for nodes, largest, hits, count in zip(
        x.split(sizes), out.unbind(), parts, winners.unbind(), strict=True
    ):
        torch.eq(nodes, largest, out=hits)
        torch.sum(hits, dim=0, dtype=winners.dtype, out=count)
    share = (grad / winners.clamp_(min=1)).to(x.dtype)
    for hits, each in zip(parts, share.unbind(), strict=True):
        hits.mul_(each)
    return grad_x


def _ragged_max_backward_shape(grad: Tensor, out: Tensor, x: Tensor, ptr: Tensor) -> Tensor:
    return torch.empty_like(x)


def _keep(ctx: Any, inputs: tuple[Tensor, Tensor], output: Tensor) -> None:
    ctx.save_for_backward(output, *inputs)


def _backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:
    return torch.ops.lfds.ragged_max_backward(grad, *ctx.saved_tensors), None


torch.library.register_fake("lfds::ragged_max", _ragged_max_shape)
torch.library.register_fake("lfds::ragged_max_backward", _ragged_max_backward_shape)
torch.library.register_autograd("lfds::ragged_max", _backward, setup_context=_keep)
