"""The head of the network: from a graph's vector to its outputs."""

from typing import final

from jaxtyping import Float
from torch import Tensor, nn

from lfds.nn.randomness import Dropout
from lfds.nn.spatial import Activation


@final
class Head(nn.Module):
    """A perceptron of three layers.

    Args:
        in_channels: Length of the vectors.
        width: Width of the two hidden layers.
        out_channels: Number of outputs.
        dropout: Probability that a hidden value is dropped in training.
        norm: Whether hidden layers have batch normalization.
    """

    def __init__(
        self, in_channels: int, width: int, out_channels: int, *, dropout: float, norm: bool
    ) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        for before in (in_channels, width):
            activation = Activation(width) if norm else nn.ReLU()
            layers += [nn.Linear(before, width), activation, Dropout(dropout)]
        self.layers = nn.Sequential(*layers, nn.Linear(width, out_channels))

    def forward(
        self, vectors: Float[Tensor, "graphs in_channels"]
    ) -> Float[Tensor, "graphs out_channels"]:
        outputs: Tensor = self.layers(vectors)
        return outputs
