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

from lfds.nn.accel.bags import Bags
from lfds.nn.accel.batch_norm import Norm, count_batch
from lfds.nn.accel.dispatch import autocasts, is_traced, only_basic_operations, runs_natively
from lfds.nn.accel.folded import can_fold, folded_layers
from lfds.nn.accel.layer_passes import Passes, TorchPasses
from lfds.nn.accel.native_passes import NativePasses
from lfds.nn.ops.first_order import differentiable_once


def can_fuse(x: Tensor, *products: nn.Module) -> bool:
    """Whether layers may be run in one piece: in eager mode, in full precision, on the CPU.

    Their products have to be torch's own, not replaced by quantized ones, say.
    """
    return (
        not is_traced()
        and not only_basic_operations()
        and x.device.type == "cpu"
        and x.dtype in (torch.float32, torch.float64)
        and not autocasts(x)
        and not torch.onnx.is_in_onnx_export()
        and x.shape[:-1].numel() > 1
        and all(type(product) is nn.Linear for product in products)
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
    by: type[Passes] = NativePasses if runs_natively(x) else TorchPasses
    if by is TorchPasses and can_fold(layers) and all(silence is None for silence in kept):
        return folded_layers(x, layers, bags)
    outputs = _run(x, layers, bags, kept, by)
    return outputs[0], outputs[-1]


def fused_layer(
    x: Float[Tensor, "nodes in_channels"],
    layer: Layer,
    bags: Bags,
    kept: Float[Tensor, "nodes 1"] | None = None,
) -> Float[Tensor, "nodes out_channels"]:
    """Run a single layer; the arguments are those of :func:`fused_layers`."""
    by: type[Passes] = NativePasses if runs_natively(x) else TorchPasses
    if by is TorchPasses and can_fold([layer]) and kept is None:
        return folded_layers(x, [layer], bags)[1]
    (out,) = _run(x, [layer], bags, [kept], by)
    return out


def _run(
    x: Tensor,
    layers: Sequence[Layer],
    bags: Bags,
    kept: Sequence[Tensor | None],
    by: type[Passes],
) -> tuple[Tensor, ...]:
    learned: list[Tensor] = []
    for weight, norm in layers:
        count_batch(norm)
        learned += (weight, norm.weight, norm.bias)
    outputs: tuple[Tensor, ...] = _FusedLayers.apply(  # type: ignore[no-untyped-call]
        x, by, [layer.norm for layer in layers], bags, kept, *learned
    )
    return outputs


class _FusedLayers(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        x: Tensor,
        by: type[Passes],
        norms: list[nn.BatchNorm1d],
        bags: Bags,
        kept: Sequence[Tensor | None],
        *learned: Tensor,
    ) -> tuple[Tensor, ...]:
        """Return the outputs side by side and the last; of a single layer its output alone."""
        ctx.by, ctx.bags = by, bags
        ctx.norms = [Norm(norm.training, norm.eps) for norm in norms]
        ctx.set_materialize_grads(False)
        outputs, saved = [], []
        for norm, silence, weight in zip(norms, kept, learned[::3], strict=True):
            out, needed = by.there(torch.mm(x, weight.t()), norm, bags, silence)
            saved += [x, weight, norm.weight, silence, *needed]
            outputs.append(out)
            x = out
        ctx.save_for_backward(*saved)
        return (x,) if len(outputs) == 1 else (torch.cat(outputs, dim=1), x)

    @staticmethod
    @differentiable_once("a spatial layer of lfds.nn")
    def backward(ctx: Any, *grads: Tensor | None) -> tuple[Tensor | None, ...]:
        count = len(ctx.norms)
        grad_all = grads[0] if len(grads) == 2 else None
        parts = count * [None] if grad_all is None else grad_all.chunk(count, dim=1)
        grad_x = _sum(parts[-1], grads[-1])
        learned: tuple[Tensor, ...] = ()
        if grad_x is None:
            return (None,) * (5 + 3 * count)
        each = len(ctx.saved_tensors) // count
        for i in reversed(range(count)):
            x, weight, scale, silence, *needed = ctx.saved_tensors[each * i : each * (i + 1)]
            grad_linear, *of_norm = ctx.by.back(
                grad_x, scale, ctx.norms[i], ctx.bags, silence, tuple(needed)
            )
            learned = (torch.mm(grad_linear.t(), x), *of_norm, *learned)
            if i or ctx.needs_input_grad[0]:
                grad_x = _plus_product(parts[i - 1] if i else None, grad_linear, weight)
        return grad_x if ctx.needs_input_grad[0] else None, *4 * [None], *learned


def _sum(one: Tensor | None, other: Tensor | None) -> Tensor | None:
    if one is None or other is None:
        return other if one is None else one
    return one + other


def _plus_product(start: Tensor | None, one: Tensor, other: Tensor) -> Tensor:
    return torch.mm(one, other) if start is None else torch.addmm(start, one, other)
