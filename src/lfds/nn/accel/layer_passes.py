r"""What a spatial layer does after its product, there and back: by torch, or by native kernels.

.. math::
    \mathbf{R} = \mathrm{relu}(\mathbf{X} \boldsymbol{\Phi}^\top), \qquad
    [\mathbf{O}, \mathbf{S}] = \mathrm{norm}(\mathbf{R}), \qquad
    \mathbf{Z} = \mathbf{k} \odot (\mathbf{O} + \mathbf{A} \mathbf{S})
"""

from abc import ABC, abstractmethod
from typing import final

import torch
from jaxtyping import Float
from torch import Tensor, nn

from lfds.nn.accel.bags import Bags, arrived, returned
from lfds.nn.accel.batch_norm import Norm, normed

Saved = tuple[Tensor | None, ...]


class Passes(ABC):
    """The two directions of a layer after its product."""

    @staticmethod
    @abstractmethod
    def there(
        linear: Float[Tensor, "nodes both_channels"],
        norm: nn.BatchNorm1d,
        bags: Bags,
        silence: Float[Tensor, "nodes 1"] | None,
    ) -> tuple[Float[Tensor, "nodes channels"], Saved]:
        r"""Make :math:`\mathbf{Z}` of the product, overwriting it; tell what ``back`` needs."""

    @staticmethod
    @abstractmethod
    def back(
        grad: Float[Tensor, "nodes channels"],
        scale: Float[Tensor, "both_channels"],
        norm: Norm,
        bags: Bags,
        silence: Float[Tensor, "nodes 1"] | None,
        saved: Saved,
    ) -> tuple[Tensor, Tensor, Tensor]:
        """The gradients of the product, and of scale and shift of the norm."""


@final
class TorchPasses(Passes):
    """By the operations of torch, which share large work out among threads."""

    @staticmethod
    def there(
        linear: Tensor, norm: nn.BatchNorm1d, bags: Bags, silence: Tensor | None
    ) -> tuple[Tensor, Saved]:
        active = linear.relu_()
        both, statistics = normed(active, norm)
        out = arrived(both, bags)
        return out if silence is None else out.mul_(silence), (active, *statistics)

    @staticmethod
    def back(
        grad: Tensor,
        scale: Tensor,
        norm: Norm,
        bags: Bags,
        silence: Tensor | None,
        saved: Saved,
    ) -> tuple[Tensor, Tensor, Tensor]:
        active, *statistics = saved
        both = returned(grad.contiguous() if silence is None else grad * silence, bags)
        grad_active, grad_scale, grad_shift = torch.ops.aten.native_batch_norm_backward(
            both, active, scale, *statistics, *norm, [True, True, True]
        )
        threshold_backward = torch.ops.aten.threshold_backward.grad_input
        grad_linear = threshold_backward(grad_active, active, 0, grad_input=grad_active)
        return grad_linear, grad_scale, grad_shift
