r"""A spatial layer in one piece: the numbers of its parts, in fewer passes over the nodes.

.. math::
    \mathbf{R} = \mathrm{relu}(\mathbf{X} \boldsymbol{\Phi}^\top), \qquad
    [\mathbf{O}, \mathbf{S}] = \mathrm{norm}(\mathbf{R}), \qquad
    \mathbf{Z} = \mathbf{k} \odot (\mathbf{O} + \mathbf{A} \mathbf{S})

With :math:`\mathbf{G} = \mathbf{k} \odot \bar{\mathbf{Z}}` a gradient flows back as

.. math::
    \bar{\mathbf{R}} = \mathrm{norm}'([\mathbf{G}, \mathbf{A}^\top \mathbf{G}]), \qquad
    \bar{\boldsymbol{\Phi}} = (\bar{\mathbf{R}} \odot [\mathbf{R} > 0])^\top \mathbf{X}, \qquad
    \bar{\mathbf{X}} = (\bar{\mathbf{R}} \odot [\mathbf{R} > 0]) \boldsymbol{\Phi}
"""

from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from lfds.nn.edges import Edges
from lfds.nn.mode import autocasts, is_traced, only_basic_operations
from lfds.nn.neighbours import multiply


def can_fuse(x: Tensor) -> bool:
    """Whether the layer may be run in one piece: in eager mode, in full precision, on the CPU."""
    return (
        not is_traced()
        and not only_basic_operations()
        and x.device.type == "cpu"
        and x.dtype in (torch.float32, torch.float64)
        and not autocasts(x)
        and not torch.onnx.is_in_onnx_export()
        and x.shape[:-1].numel() > 1
    )


def fused_layer(
    x: Float[Tensor, "nodes in_channels"],
    weight: Float[Tensor, "both_channels in_channels"],
    norm: nn.BatchNorm1d,
    edges: Edges,
    kept: Float[Tensor, "nodes 1"] | None = None,
) -> Float[Tensor, "nodes out_channels"]:
    r"""Run a spatial layer.

    Args:
        x: The nodes.
        weight: Both transforms :math:`\boldsymbol{\\Phi}`, what a node keeps above what it sends.
        norm: The batch norm of both.
        edges: The edges :math:`\mathbf{A}`.
        kept: Zero for nodes :math:`\mathbf{k}` to be silenced, one for the others.
    """
    if norm.training and norm.num_batches_tracked is not None:
        norm.num_batches_tracked.add_(1)
    out: Tensor = _FusedLayer.apply(  # type: ignore[no-untyped-call]
        x, weight, norm.weight, norm.bias, norm, edges, kept
    )
    return out


class _FusedLayer(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        x: Tensor,
        weight: Tensor,
        scale: Tensor,
        shift: Tensor,
        norm: nn.BatchNorm1d,
        edges: Edges,
        kept: Tensor | None,
    ) -> Tensor:
        active = torch.mm(x, weight.t()).relu_()
        running = norm.running_mean, norm.running_var
        both, mean, spread = torch.native_batch_norm(
            active, scale, shift, *running, norm.training, norm.momentum or 0.0, norm.eps
        )
        own, sent = both.chunk(2, dim=1)
        out = multiply(edges.rows, sent, own)
        ctx.save_for_backward(x, weight, scale, active, mean, spread, *running, kept)
        ctx.training, ctx.eps, ctx.columns = norm.training, norm.eps, edges.columns
        return out if kept is None else out.mul_(kept)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        x, weight, scale, active, mean, spread, *running, kept = ctx.saved_tensors
        grad = grad.contiguous() if kept is None else grad * kept
        both = torch.cat([grad, multiply(ctx.columns, grad)], dim=1)
        grad_active, grad_scale, grad_shift = torch.ops.aten.native_batch_norm_backward(
            both, active, scale, *running, mean, spread, ctx.training, ctx.eps, [True, True, True]
        )
        grad_linear = torch.ops.aten.threshold_backward.grad_input(
            grad_active, active, 0, grad_input=grad_active
        )
        grad_x = torch.mm(grad_linear, weight) if ctx.needs_input_grad[0] else None
        grad_weight = torch.mm(grad_linear.t(), x)
        return grad_x, grad_weight, grad_scale, grad_shift, None, None, None
