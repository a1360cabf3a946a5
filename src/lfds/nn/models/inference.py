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
from collections import Counter
from collections.abc import Mapping, Set
from typing import TypeGuard, final

import torch
from jaxtyping import Float
from torch import Tensor, nn

from lfds.nn.models.head import Head
from lfds.nn.models.network import GraphNetwork
from lfds.nn.normalization import ChannelNorm
from lfds.nn.pool import LatentPool
from lfds.nn.randomness import Dropout
from lfds.nn.spatial import Activation, SpatialLayer
from lfds.nn.structures.array import ArrayLayer
from lfds.nn.structures.image import ImageLayer
from lfds.nn.structures.spectrum import SpectralLayer


def inference_copy(network: GraphNetwork) -> GraphNetwork:
    """Return a copy in evaluation mode that gives the same outputs up to rounding, faster.

    Only torch's own modules are folded: what has hooks, is parametrized, pruned, used in several
    places or replaced by another module stays as it is.

    Args:
        network: Is left as it is; what it learns later, the copy does not.
    """
    folded = _copy(network).eval().requires_grad_(False)
    tied = tied_parameters(folded)
    for module in folded.modules():
        product = getattr(module, _PRODUCT_BEFORE.get(type(module), ""), None)
        activation = getattr(module, "activation", None)
        if is_foldable(activation) and _takes_scale(product, tied, *_PRODUCTS):
            assert isinstance(product, _PRODUCTS)
            if isinstance(module, SpatialLayer) and module.edge_transform is not None:
                _fold_messages(module, tied)
            else:
                module.activation = FoldedActivation(product, activation)
        if isinstance(module, LatentPool):
            _fold_node_norm(module)
    if type(folded.head) is Head and is_plain(folded.head.layers, nn.Sequential):
        folded.head.layers = nn.Sequential(*_folded_head(list(folded.head.layers), tied))
    return folded


def _copy(network: GraphNetwork) -> GraphNetwork:
    # Pruning and the older norms keep a computed weight, which torch refuses to copy.
    kept = (value for module in network.modules() for value in vars(module).values())
    computed = [value for value in kept if isinstance(value, Tensor) and not value.is_leaf]
    return copy.deepcopy(network, {id(value): value.detach().clone() for value in computed})


_PRODUCTS = (nn.Linear, nn.Conv1d, nn.Conv2d)
_PRODUCT_BEFORE: Mapping[type[nn.Module], str] = {
    SpatialLayer: "transforms",
    SpectralLayer: "transforms",
    ArrayLayer: "convolution",
    ImageLayer: "convolution",
}
"""Layers whose activation follows a product with nothing but linear maps in between."""

_HOOKS = (
    "_forward_hooks",
    "_forward_pre_hooks",
    "_backward_hooks",
    "_backward_pre_hooks",
)


def is_plain(module: object, *types: type[nn.Module]) -> bool:
    """Whether a module is exactly of one of ``types``: no subclass, no hook, no other forward.

    A parametrized module is of a class of its own; pruning, and the older weight and spectral
    norms, are hooks.
    """
    if type(module) not in types:
        return False
    return "forward" not in vars(module) and not any(getattr(module, hooks) for hooks in _HOOKS)


def is_foldable(activation: object) -> TypeGuard[Activation]:
    """Whether an activation ends in a batch norm that is a scale and a shift."""
    return is_plain(activation, Activation) and _is_affine_map(activation.norm)  # type: ignore[attr-defined]


def _is_affine_map(norm: nn.Module) -> bool:
    return is_plain(norm, nn.BatchNorm1d) and norm.running_mean is not None


def _takes_scale(product: object, tied: Set[int], *types: type[nn.Module]) -> bool:
    if not is_plain(product, *types):
        return False
    assert isinstance(product, nn.Module)
    return tied.isdisjoint(map(id, product.parameters()))


def tied_parameters(network: nn.Module) -> Set[int]:
    """The identities of parameters that are used in several places: scaling one scales all."""
    modules = network.named_modules(remove_duplicate=False)
    uses = Counter(id(own) for _, module in modules for own in module.parameters(recurse=False))
    return {name for name, count in uses.items() if count > 1}


@final
class FoldedActivation(nn.Module):
    """ReLU, and what is left of the batch norm after it: a sign and a shift for each channel.

    Args:
        product: The module before the activation, or its weights; it takes over the scale.
        activation: What is folded.
    """

    sign: Tensor
    shift: Tensor

    def __init__(
        self, product: nn.Linear | nn.Conv1d | nn.Conv2d | Tensor, activation: Activation
    ) -> None:
        super().__init__()
        scale, shift = scale_and_shift(activation.norm)
        weight = product if isinstance(product, Tensor) else product.weight
        bias = None if isinstance(product, Tensor) else product.bias
        with torch.no_grad():
            weight.mul_(scale.abs().view(-1, *[1] * (weight.dim() - 1)))
            if bias is not None:
                bias.mul_(scale.abs())
        self.register_buffer("shift", shift)
        self.register_buffer("sign", scale.sign())
        self.turns = bool((scale < 0).any())  # training rarely turns a channel round

    def forward(self, x: Float[Tensor, "*rows channels"]) -> Float[Tensor, "*rows channels"]:
        active = torch.relu(x)
        if self.turns:
            active = active.mul_(self.sign)
        return active.add_(self.shift)


def _fold_messages(layer: SpatialLayer, tied: Set[int]) -> None:
    """Fold both activations of a layer whose edges have features.

    What is sent along an edge is the sum of two products, which take over the same scale.
    """
    along = layer.edge_transform
    if not (is_foldable(layer.message_activation) and _takes_scale(along, tied, nn.Linear)):
        return
    assert along is not None
    own, sent = layer.transforms.weight.chunk(2)
    scale, _ = scale_and_shift(layer.message_activation.norm)
    with torch.no_grad():
        along.weight.mul_(scale.abs()[:, None])
    layer.activation = FoldedActivation(own, layer.activation)  # type: ignore[assignment]
    layer.message_activation = FoldedActivation(sent, layer.message_activation)  # type: ignore[assignment]


def _fold_node_norm(pool: LatentPool) -> None:
    """Move the normalization of the nodes into the linear map before it, where there is one."""
    before, norm = pool.input_map, pool.node_norm
    if norm is None or not (is_plain(before, nn.Linear) and is_plain(norm, ChannelNorm)):
        return
    if not _is_affine_map(norm.norm):
        return
    scale, shift = scale_and_shift(norm.norm)
    folded = copy.deepcopy(before)  # another structure may use the same map
    folded.weight.copy_(before.weight * scale[:, None])
    folded.bias = nn.Parameter(
        shift if before.bias is None else shift + scale * before.bias, requires_grad=False
    )
    pool.input_map = folded
    pool.node_norm = None


def _folded_head(layers: list[nn.Module], tied: Set[int]) -> list[nn.Module]:
    """The layers without dropout, each batch norm folded into the product after it."""
    layers = [layer for layer in layers if not is_plain(layer, Dropout, nn.Dropout)]
    folded: list[nn.Module] = []
    for layer, following in zip(layers, [*layers[1:], None], strict=True):
        if not (is_foldable(layer) and _takes_scale(following, tied, nn.Linear)):
            folded.append(layer)
            continue
        assert isinstance(following, nn.Linear)
        scale, shift = scale_and_shift(layer.norm)
        with torch.no_grad():
            moved = following.weight @ shift
            following.bias = nn.Parameter(
                moved if following.bias is None else following.bias + moved, requires_grad=False
            )
            following.weight.mul_(scale)
        folded.append(nn.ReLU())
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
