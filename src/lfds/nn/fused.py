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

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from lfds.nn.bags import Bags, arrived, returned
from lfds.nn.folded import can_fold, folded_layers
from lfds.nn.mode import autocasts, is_traced, only_basic_operations

# Tensors kept for the backward pass of each layer.
PER_LAYER = 9


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


class Layer(NamedTuple):
    r"""What is learned in a spatial layer.

    Attributes:
        weight: Both transforms :math:`\boldsymbol{\Phi}`, what a node keeps above what it sends.
        norm: The batch norm of both.
    """

    weight: Float[Tensor, "both_channels in_channels"]
    norm: nn.BatchNorm1d


def fused_layers(
    x: Float[Tensor, "nodes in_channels"],
    layers: Sequence[Layer],
    bags: Bags,
    kept: Sequence[Float[Tensor, "nodes 1"] | None],
) -> tuple[Float[Tensor, "nodes all_channels"], Float[Tensor, "nodes out_channels"]]:
    r"""Run spatial layers one after the other.

    Args:
        x: The nodes.
        layers: The layers, all of the same width.
        bags: The sums along the edges :math:`\mathbf{A}`.
        kept: For each layer zero for nodes :math:`\mathbf{k}` to be silenced and one for the
            others, or None.

    Returns:
        The outputs of all layers side by side, and that of the last.
    """
    if can_fold(layers):
        return folded_layers(x, layers, bags)
    learned: list[Tensor] = []
    for weight, norm in layers:
        if norm.training and norm.num_batches_tracked is not None:
            norm.num_batches_tracked.add_(1)
        learned += (weight, norm.weight, norm.bias)
    outputs: tuple[Tensor, Tensor] = _FusedLayers.apply(  # type: ignore[no-untyped-call]
        x, [layer.norm for layer in layers], bags, kept, *learned
    )
    return outputs


def fused_layer(
    x: Float[Tensor, "nodes in_channels"],
    layer: Layer,
    bags: Bags,
    kept: Float[Tensor, "nodes 1"] | None = None,
) -> Float[Tensor, "nodes out_channels"]:
    """Run a single layer; the arguments are those of :func:`fused_layers`."""
    return fused_layers(x, [layer], bags, [kept])[1]


class _FusedLayers(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        x: Tensor,
        norms: list[nn.BatchNorm1d],
        bags: Bags,
        kept: Sequence[Tensor | None],
        *learned: Tensor,
    ) -> tuple[Tensor, Tensor]:
        ctx.bags, ctx.norms = bags, [(norm.training, norm.eps) for norm in norms]
        ctx.set_materialize_grads(False)
        outputs, saved = [], []
        for i, (norm, silence) in enumerate(zip(norms, kept, strict=True)):
            weight, scale, shift = learned[3 * i : 3 * i + 3]
            running = norm.running_mean, norm.running_var
            active = torch.mm(x, weight.t()).relu_()
            both, mean, spread = torch.native_batch_norm(
                active, scale, shift, *running, norm.training, norm.momentum or 0.0, norm.eps
            )
            saved += [x, weight, scale, active, *running, mean, spread, silence]
            x = arrived(both, bags)
            outputs.append(x if silence is None else x.mul_(silence))
        ctx.save_for_backward(*saved)
        return torch.cat(outputs, dim=1), x

    @staticmethod
    @once_differentiable
    def backward(
        ctx: Any, grad_all: Tensor | None, grad_last: Tensor | None
    ) -> tuple[Tensor | None, ...]:
        count = len(ctx.norms)
        parts = [None] * count if grad_all is None else grad_all.chunk(count, dim=1)
        grad_x = _sum(parts[-1], grad_last)
        learned: tuple[Tensor, ...] = ()
        if grad_x is None:
            return (None,) * (4 + 3 * count)
        for i in reversed(range(count)):
            saved = ctx.saved_tensors[PER_LAYER * i : PER_LAYER * (i + 1)]
            grad_linear, *normed = _unnormed(grad_x, saved, ctx.bags, *ctx.norms[i])
            x, weight = saved[:2]
            learned = (torch.mm(grad_linear.t(), x), *normed, *learned)
            if i or ctx.needs_input_grad[0]:
                grad_x = _plus_product(parts[i - 1] if i else None, grad_linear, weight)
        return grad_x if ctx.needs_input_grad[0] else None, None, None, None, *learned


def _unnormed(
    grad: Tensor, saved: Sequence[Any], bags: Bags, training: bool, eps: float
) -> tuple[Tensor, Tensor, Tensor]:
    """From the gradient of what comes out of a layer to those of its products and its norm."""
    _, _, scale, active, *norm, silence = saved
    both = returned(grad.contiguous() if silence is None else grad * silence, bags)
    grad_active, grad_scale, grad_shift = torch.ops.aten.native_batch_norm_backward(
        both, active, scale, *norm, training, eps, [True, True, True]
    )
    threshold_backward = torch.ops.aten.threshold_backward.grad_input
    grad_linear = threshold_backward(grad_active, active, 0, grad_input=grad_active)
    return grad_linear, grad_scale, grad_shift


def _sum(one: Tensor | None, other: Tensor | None) -> Tensor | None:
    if one is None or other is None:
        return other if one is None else one
    return one + other


def _plus_product(start: Tensor | None, one: Tensor, other: Tensor) -> Tensor:
    return torch.mm(one, other) if start is None else torch.addmm(start, one, other)
