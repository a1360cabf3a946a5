r"""A perceptron in one piece: of few rows, so that the number of calls is what costs.

.. math::
    \mathbf{H}_l = \mathbf{D}_l \odot
        \mathrm{norm}\big(\mathrm{relu}(\mathbf{H}_{l-1} \mathbf{W}_l^\top + \mathbf{b}_l)\big),
    \qquad \mathbf{Y} = \mathbf{H}_L \mathbf{W}^\top + \mathbf{b}

with a dropout :math:`\mathbf{D}_l` of zeros and :math:`1 / (1 - p)`, in training.
"""

from collections.abc import Sequence
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from lfds.nn.layer_passes import pace

# Tensors kept for the backward pass of each hidden layer.
PER_LAYER = 9


def fused_perceptron(
    rows: Float[Tensor, "rows channels"],
    linears: Sequence[nn.Linear],
    norms: Sequence[nn.BatchNorm1d],
    dropouts: Sequence[float],
) -> Float[Tensor, "rows outputs"]:
    """Run a perceptron.

    Args:
        rows: What comes in.
        linears: The products of its layers, the last one included.
        norms: The norms of the hidden layers; none where these are not normed.
        dropouts: Probability of a value of each hidden layer to be dropped; zero outside of
            training.
    """
    for norm in norms:
        if norm.training and norm.num_batches_tracked is not None:
            norm.num_batches_tracked.add_(1)
    learned = [part for layer in (*linears, *norms) for part in (layer.weight, layer.bias)]
    out: Tensor = _Perceptron.apply(rows, norms, dropouts, *learned)  # type: ignore[no-untyped-call]
    return out


class _Perceptron(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        rows: Tensor,
        norms: Sequence[nn.BatchNorm1d],
        dropouts: Sequence[float],
        *learned: Tensor,
    ) -> Tensor:
        ctx.norms = [(norm.training, norm.eps) for norm in norms]
        products = learned[: len(learned) - 2 * len(norms)]
        *hidden_weights, weight = products[::2]
        *hidden_biases, bias = products[1::2]
        saved: list[Tensor | None] = []
        for i, product in enumerate(zip(hidden_weights, hidden_biases, strict=True)):
            active = torch.addmm(product[1], rows, product[0].t()).relu_()
            hidden, normed_by = _normed(active, norms[i] if norms else None)
            factors = None
            if dropouts[i]:
                stays = 1 - dropouts[i]
                factors = torch.empty_like(hidden).bernoulli_(stays).div_(stays)
                hidden = hidden * factors
            saved += [rows, product[0], active, *normed_by, factors]
            rows = hidden
        ctx.save_for_backward(*saved, rows, weight)
        return torch.addmm(bias, rows, weight.t())

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        (grad,) = grads
        *saved, rows, weight = ctx.saved_tensors
        of_products = [grad.t() @ rows, grad.sum(dim=0)]
        of_norms: list[Tensor] = []
        grad = grad @ weight
        for i in reversed(range(len(saved) // PER_LAYER)):
            rows, weight, active, *normed_by, factors = saved[PER_LAYER * i :][:PER_LAYER]
            grad = grad if factors is None else grad * factors
            if ctx.norms:
                grad, *of_norm = torch.ops.aten.native_batch_norm_backward(
                    grad, active, *normed_by, *ctx.norms[i], [True, True, True]
                )
                of_norms = [*of_norm, *of_norms]
            grad = torch.ops.aten.threshold_backward(grad, active, 0)
            of_products = [grad.t() @ rows, grad.sum(dim=0), *of_products]
            if i or ctx.needs_input_grad[0]:
                grad = grad @ weight
        return grad if ctx.needs_input_grad[0] else None, None, None, *of_products, *of_norms


def _normed(active: Tensor, norm: nn.BatchNorm1d | None) -> tuple[Tensor, Sequence[Tensor | None]]:
    """Norm rows, if they are to be normed; tell scale and statistics for the way back."""
    if norm is None:
        return active, 5 * [None]
    running = norm.running_mean, norm.running_var
    out, *own = torch.native_batch_norm(
        active,
        norm.weight,
        norm.bias,
        *running,
        norm.training,
        pace(norm),
        norm.eps,
    )
    return out, (norm.weight, *running, *own)
