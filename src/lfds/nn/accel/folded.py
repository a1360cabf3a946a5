r"""Spatial layers where nothing is learned any more: the norm is folded into the products.

.. math::
    s \, \mathrm{relu}(\mathbf{X} \boldsymbol{\phi}) + b
        = \mathrm{sign}(s) \, \mathrm{relu}(\mathbf{X} \, |s| \boldsymbol{\phi}) + b

With the running statistics a batch norm is a scale :math:`s` and a shift :math:`b` for each
channel. The scale goes into the weights, so that no pass over the nodes is left to it.
"""

from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor, nn

from lfds.nn.accel.bags import Bags, arrived

Learned = tuple[Tensor, nn.BatchNorm1d]


def can_fold(layers: Sequence[Learned]) -> bool:
    """Whether layers may be run folded: in inference mode, by the running statistics.

    Evaluation while training, without gradients but not in inference mode, keeps the bits it has.
    """
    return torch.is_inference_mode_enabled() and not any(norm.training for _, norm in layers)


def folded_layers(
    x: Float[Tensor, "nodes in_channels"], layers: Sequence[Learned], bags: Bags
) -> tuple[Float[Tensor, "nodes all_channels"], Float[Tensor, "nodes out_channels"]]:
    """Run spatial layers as :func:`lfds.nn.accel.fused.fused_layers` does, up to rounding.

    Args:
        x: The nodes.
        layers: Both transforms, what a node keeps above what it sends, and the norm of both.
        bags: The sums along the edges.
    """
    outputs = []
    for weight, norm in layers:
        assert norm.running_mean is not None
        assert norm.running_var is not None
        scale = norm.weight * torch.rsqrt(norm.running_var + norm.eps)
        shift = norm.bias - norm.running_mean * scale
        active = torch.mm(x, (weight * scale.abs()[:, None]).t()).relu_()
        if bool((scale < 0).any()):  # training rarely turns a channel round
            active.mul_(scale.sign())
        x = arrived(active.add_(shift), bags)
        outputs.append(x)
    return torch.cat(outputs, dim=1), x
