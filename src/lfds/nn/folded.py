r"""A spatial layer where nothing is learned any more: the norm is folded into the products.

.. math::
    s \, \mathrm{relu}(\mathbf{X} \boldsymbol{\phi}) + b
        = \mathrm{sign}(s) \, \mathrm{relu}(\mathbf{X} \, |s| \boldsymbol{\phi}) + b

With the running statistics a batch norm is a scale :math:`s` and a shift :math:`b` for each
channel. The scale goes into the weights, so that no pass over the nodes is left to it.
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn

from lfds.nn.edges import Edges
from lfds.nn.fused import can_fuse
from lfds.nn.neighbours import multiply


def can_fold(x: Tensor, norm: nn.BatchNorm1d) -> bool:
    """Whether the layer may be run folded: in inference mode, by the running statistics."""
    return torch.is_inference_mode_enabled() and not norm.training and can_fuse(x)


def folded_layer(
    x: Float[Tensor, "nodes in_channels"],
    weight: Float[Tensor, "both_channels in_channels"],
    norm: nn.BatchNorm1d,
    edges: Edges,
) -> Float[Tensor, "nodes out_channels"]:
    """Run a spatial layer as :func:`lfds.nn.fused.fused_layer` does, up to rounding.

    Args:
        x: The nodes.
        weight: Both transforms, what a node keeps above what it sends.
        norm: The batch norm of both.
        edges: The edges; those of their columns are not read.
    """
    assert norm.running_mean is not None
    assert norm.running_var is not None
    scale = norm.weight * torch.rsqrt(norm.running_var + norm.eps)
    shift = norm.bias - norm.running_mean * scale
    # Two products: each half is then dense, and the sum over neighbours takes it as it is.
    own, sent = (
        _half(x, *part)
        for part in zip(weight.chunk(2), scale.chunk(2), shift.chunk(2), strict=True)
    )
    return own.add_(multiply(edges.rows, sent))


def _half(x: Tensor, weight: Tensor, scale: Tensor, shift: Tensor) -> Tensor:
    active = torch.mm(x, (weight * scale.abs()[:, None]).t()).relu_()
    if bool((scale < 0).any()):  # training rarely turns one round
        active.mul_(scale.sign())
    return active.add_(shift)
