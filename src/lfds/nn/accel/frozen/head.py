r"""A head that no longer learns: its norms go into the products that follow.

.. math::
    \mathbf{W} (\mathbf{s} \odot \mathbf{h} + \mathbf{t}) + \mathbf{b}
        = (\mathbf{W} \mathrm{Diag}(\mathbf{s})) \mathbf{h} + (\mathbf{b} + \mathbf{W} \mathbf{t})
"""

from typing import final

import torch
from jaxtyping import Float
from torch import Tensor, nn

from lfds.nn.accel.frozen.layer import scale_and_shift
from lfds.nn.models.activation import Activation
from lfds.nn.models.head import Head


@final
class FrozenHead:
    """From the vectors of graphs to their outputs.

    Args:
        head: What was learned.
    """

    def __init__(self, head: Head) -> None:
        self.products: list[tuple[Tensor, Tensor]] = []
        norm: tuple[Tensor, Tensor] | None = None
        for part in head.layers:
            if isinstance(part, nn.Linear):
                weight, bias = part.weight.detach(), part.bias.detach()
                if norm is not None:
                    weight, bias = weight * norm[0], bias + weight @ norm[1]
                self.products.append((weight.t().contiguous(), bias))
                norm = None
            elif isinstance(part, Activation):
                norm = scale_and_shift(part.norm)

    def __call__(
        self, vectors: Float[Tensor, "graphs channels"]
    ) -> Float[Tensor, "graphs outputs"]:
        *hidden, (weight, bias) = self.products
        for product, start in hidden:
            vectors = torch.addmm(start, vectors, product).relu_()
        return torch.addmm(bias, vectors, weight)
