"""The head of the network: from a graph's vector to its classes."""

from typing import final

from jaxtyping import Float
from torch import Tensor, nn

from lfds.nn.accel.fused import can_fuse
from lfds.nn.accel.fused_head import fused_perceptron
from lfds.nn.models.activation import Activation


@final
class Head(nn.Module):
    """A perceptron of three layers.

    Args:
        channels: Length of the vectors.
        width: Width of the two hidden layers.
        classes: Number of outputs.
        dropout: Probability of a hidden value to be dropped in training.
        norm: Whether hidden layers are normed over the batch.
    """

    def __init__(
        self, channels: int, width: int, classes: int, *, dropout: float, norm: bool
    ) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        for before in (channels, width):
            activation = Activation(width) if norm else nn.ReLU()
            layers += [nn.Linear(before, width), activation, nn.Dropout(dropout)]
        self.layers = nn.Sequential(*layers, nn.Linear(width, classes))

    def forward(self, vectors: Float[Tensor, "graphs channels"]) -> Float[Tensor, "graphs classes"]:
        layers = list(self.layers.children())
        if can_fuse(vectors, *layers[::3]):
            linears = [layer for layer in layers if isinstance(layer, nn.Linear)]
            norms = [layer.norm for layer in layers if isinstance(layer, Activation)]
            drops = [layer for layer in layers if isinstance(layer, nn.Dropout)]
            dropouts = [drop.p if drop.training else 0.0 for drop in drops]
            return fused_perceptron(vectors, linears, norms, dropouts)
        logits: Tensor = self.layers(vectors)
        return logits
