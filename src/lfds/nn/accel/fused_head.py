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

from lfds.nn.accel.batch_norm import Norm, count_batch, normed
from lfds.nn.ops.first_order import differentiable_once

# Tensors kept for the backward pass of each hidden layer.
PER_LAYER = 9
# In place of the statistics of a norm.
NOT_NORMED: tuple[Tensor | None, ...] = (None, None, None, None)


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
        count_batch(norm)
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
        ctx.norms = [Norm(norm.training, norm.eps) for norm in norms]
        products = learned[: len(learned) - 2 * len(norms)]
        *hidden_weights, weight = products[::2]
        *hidden_biases, bias = products[1::2]
        saved: list[Tensor | None] = []
        for i, product in enumerate(zip(hidden_weights, hidden_biases, strict=True)):
            active = torch.addmm(product[1], rows, product[0].t()).relu_()
            hidden, statistics, factors = active, NOT_NORMED, None
            if norms:
                hidden, statistics = normed(active, norms[i])
            if dropouts[i]:
                stays = 1 - dropouts[i]
                factors = torch.empty_like(hidden).bernoulli_(stays).div_(stays)
                hidden = hidden * factors
            scale = norms[i].weight if norms else None
            saved += [rows, product[0], scale, active, *statistics, factors]
            rows = hidden
        ctx.save_for_backward(*saved, rows, weight)
        return torch.addmm(bias, rows, weight.t())

    @staticmethod
    @differentiable_once("the head of lfds.nn.GraphNetwork")
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        (grad,) = grads
        *saved, rows, weight = ctx.saved_tensors
        of_products = [grad.t() @ rows, grad.sum(dim=0)]
        of_norms: list[Tensor] = []
        grad = grad @ weight
        for i in reversed(range(len(saved) // PER_LAYER)):
            rows, weight, scale, active, *statistics, factors = saved[PER_LAYER * i :][:PER_LAYER]
            grad = grad if factors is None else grad * factors
            if ctx.norms:
                grad, *of_norm = torch.ops.aten.native_batch_norm_backward(
                    grad, active, scale, *statistics, *ctx.norms[i], [True, True, True]
                )
                of_norms = [*of_norm, *of_norms]
            grad = torch.ops.aten.threshold_backward(grad, active, 0)
            of_products = [grad.t() @ rows, grad.sum(dim=0), *of_products]
            if i or ctx.needs_input_grad[0]:
                grad = grad @ weight
        return grad if ctx.needs_input_grad[0] else None, None, None, *of_products, *of_norms
