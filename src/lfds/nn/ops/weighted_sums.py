r"""Weighted sums over the nodes of each graph, an operator with its own backward.

.. math::
    \mathbf{Y}_g = \mathbf{A}_g^\top \mathbf{B}_g, \qquad
    \bar{\mathbf{A}}_g = \mathbf{B}_g \bar{\mathbf{Y}}_g^\top, \qquad
    \bar{\mathbf{B}}_g = \mathbf{A}_g \bar{\mathbf{Y}}_g
"""

from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor

from lfds.nn.input_checks import check_ptr_values
from lfds.nn.ops.segment_matmul import ragged_gram, ragged_matmul


def weighted_sums(
    weights: Float[Tensor, "nodes rows"],
    x: Float[Tensor, "nodes channels"],
    ptr: Int[Tensor, "boundaries"],
) -> Float[Tensor, "boundaries-1 rows channels"]:
    """Sum the nodes of every graph, once for each column of ``weights``."""
    sums: Tensor = torch.ops.lfds.weighted_sums(weights, x, ptr)
    return sums


torch.library.define("lfds::weighted_sums", "(Tensor weights, Tensor x, Tensor ptr) -> Tensor")
torch.library.define(
    "lfds::weighted_sums_backward",
    "(Tensor grad, Tensor weights, Tensor x, Tensor ptr) -> (Tensor, Tensor)",
)


@torch.library.impl("lfds::weighted_sums", "default")
def _weighted_sums(weights: Tensor, x: Tensor, ptr: Tensor) -> Tensor:
    if ptr.device.type == "cpu":  # a wrong one would read stray memory
        check_ptr_values(ptr, x.shape[0])
    return ragged_gram(weights.contiguous(), x.contiguous(), ptr)


@torch.library.impl("lfds::weighted_sums_backward", "default")
def _weighted_sums_backward(
    grad: Tensor, weights: Tensor, x: Tensor, ptr: Tensor
) -> tuple[Tensor, Tensor]:
    grad = grad.contiguous()
    by_weights = ragged_matmul(x.contiguous(), grad.mT, ptr)
    return by_weights, ragged_matmul(weights.contiguous(), grad, ptr)


def _shape(weights: Tensor, x: Tensor, ptr: Tensor) -> Tensor:
    return x.new_empty(ptr.shape[0] - 1, weights.shape[1], x.shape[1])


def _backward_shapes(
    grad: Tensor, weights: Tensor, x: Tensor, ptr: Tensor
) -> tuple[Tensor, Tensor]:
    return weights.new_empty(weights.shape), x.new_empty(x.shape)


def _keep(ctx: Any, inputs: tuple[Tensor, Tensor, Tensor], output: Tensor) -> None:
    ctx.save_for_backward(*inputs)


def _backward(ctx: Any, grad: Tensor) -> tuple[Tensor, Tensor, None]:
    return *torch.ops.lfds.weighted_sums_backward(grad, *ctx.saved_tensors), None


torch.library.register_fake("lfds::weighted_sums", _shape)
torch.library.register_fake("lfds::weighted_sums_backward", _backward_shapes)
torch.library.register_autograd("lfds::weighted_sums", _backward, setup_context=_keep)
