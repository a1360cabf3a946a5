r"""A network for inference: the same modules with batch norms folded into their products.

With the running statistics a batch norm is a scale :math:`s` and a shift :math:`b` for each
channel. The scale goes into the weights before the ReLU, and into those after it in the head:

.. math::
    s \, \mathrm{relu}(\mathbf{X} \boldsymbol{\phi}) + b
        &= \mathrm{sign}(s) \, \mathrm{relu}(\mathbf{X} \, |s| \boldsymbol{\phi}) + b \\
    \mathbf{W} (\mathbf{s} \odot \mathbf{h} + \mathbf{t}) + \mathbf{b}
        &= (\mathbf{W} \, \mathrm{Diag}(\mathbf{s})) \mathbf{h}
           + (\mathbf{b} + \mathbf{W} \mathbf{t})
"""

import copy
from typing import final

import torch
from jaxtyping import Float
from torch import Tensor, nn

from lfds.nn.models.head import Head
from lfds.nn.models.network import GraphNetwork
from lfds.nn.pool import LFDSPool
from lfds.nn.spatial import Activation


def inference_copy(network: GraphNetwork) -> GraphNetwork:
    """Return a copy in evaluation mode that gives the same outputs up to rounding, faster.

    Args:
        network: Is left as it is; what it learns later, the copy does not.
    """
    folded = copy.deepcopy(network).eval().requires_grad_(False)
    for module in folded.modules():
        product = getattr(module, "transforms", getattr(module, "convolution", None))
        activation = getattr(module, "activation", None)
        if type(activation) is Activation and isinstance(product, _PRODUCTS):
            module.activation = FoldedActivation(product, activation)
        if isinstance(module, LFDSPool):
            _fold_node_norm(module)
    if type(folded.head) is Head:
        folded.head.layers = nn.Sequential(*_folded_head(folded.head.layers))
    return folded


_PRODUCTS = (nn.Linear, nn.Conv1d, nn.Conv2d)


@final
class FoldedActivation(nn.Module):
    """ReLU, and what is left of the batch norm after it: a sign and a shift for each channel.

    Args:
        product: The module before the activation; it takes over the scale.
        activation: What is folded.
    """

    sign: Tensor
    shift: Tensor

    def __init__(self, product: nn.Linear | nn.Conv1d | nn.Conv2d, activation: Activation) -> None:
        super().__init__()
        scale, shift = scale_and_shift(activation.norm)
        with torch.no_grad():
            product.weight.mul_(scale.abs().view(-1, *[1] * (product.weight.dim() - 1)))
            if product.bias is not None:
                product.bias.mul_(scale.abs())
        self.register_buffer("shift", shift)
        self.register_buffer("sign", scale.sign())
        self.turns = bool((scale < 0).any())  # training rarely turns a channel round

    def forward(self, x: Float[Tensor, "*rows channels"]) -> Float[Tensor, "*rows channels"]:
        active = torch.relu(x)
        if self.turns:
            active = active.mul_(self.sign)
        return active.add_(self.shift)


def _fold_node_norm(pool: LFDSPool) -> None:
    """Move the normalization of the nodes into the linear map before it, where there is one."""
    if pool.node_norm is None or type(pool.input_map) is not nn.Linear:
        return
    scale, shift = scale_and_shift(pool.node_norm.norm)
    before = pool.input_map
    folded = copy.deepcopy(before)
    folded.weight.copy_(before.weight * scale[:, None])
    folded.bias = nn.Parameter(shift, requires_grad=False)
    pool.input_map = folded
    pool.node_norm = None


def _folded_head(layers: nn.Sequential) -> list[nn.Module]:
    """The layers without dropout, each batch norm folded into the product after it."""
    folded: list[nn.Module] = []
    norm: tuple[Tensor, Tensor] | None = None
    for layer in layers:
        if type(layer) is Activation:
            norm = scale_and_shift(layer.norm)
            folded.append(nn.ReLU())
        elif type(layer) is nn.Linear and norm is not None:
            with torch.no_grad():
                layer.bias.add_(layer.weight @ norm[1])
                layer.weight.mul_(norm[0])
            folded.append(layer)
            norm = None
        elif type(layer) is not nn.Dropout:
            folded.append(layer)
    return folded


def scale_and_shift(norm: nn.BatchNorm1d) -> tuple[Tensor, Tensor]:
    """What a batch norm does to each channel by its running statistics."""
    assert norm.running_mean is not None
    assert norm.running_var is not None
    scale = torch.rsqrt(norm.running_var + norm.eps).detach()
    if norm.affine:
        scale = norm.weight.detach() * scale
    shift = -norm.running_mean * scale
    return scale, norm.bias.detach() + shift if norm.affine else shift
