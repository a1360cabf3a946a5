"""Objectives: the loss that is minimized, and the score by which models are compared."""

from typing import Protocol, final

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy, mse_loss


class Objective(Protocol):
    """Loss and score of the outputs of a network; ``y`` holds the targets of the graphs."""

    def loss(self, outputs: Tensor, y: Tensor) -> Tensor:
        """The mean loss of a batch, differentiable."""
        ...

    def total_loss(self, outputs: Tensor, y: Tensor) -> float:
        """The loss summed over graphs."""
        ...

    def total_score(self, outputs: Tensor, y: Tensor) -> float:
        """The score summed over graphs; higher is better."""
        ...


@final
class Classify:
    r"""Cross-entropy; the score is the number of correctly classified graphs.

    With weights, a graph of class :math:`c` counts :math:`w_c` times in both.

    Args:
        weights: One weight per class; all classes weigh the same by default.
    """

    def __init__(self, weights: Tensor | None = None) -> None:
        self.weights = weights

    def loss(self, outputs: Tensor, y: Tensor) -> Tensor:
        if self.weights is None:
            return cross_entropy(outputs, y)
        # Not torch's weighted mean: it would cancel the weights in a batch of one class.
        return cross_entropy(outputs, y, self.weights, reduction="sum") / len(y)

    def total_loss(self, outputs: Tensor, y: Tensor) -> float:
        return cross_entropy(outputs, y, self.weights, reduction="sum").item()

    def total_score(self, outputs: Tensor, y: Tensor) -> float:
        right = outputs.argmax(dim=1) == y
        return float(right.sum() if self.weights is None else self.weights[y[right]].sum())


@final
class Regress:
    """Mean squared error over all targets; the score is the negative error."""

    def loss(self, outputs: Tensor, y: Tensor) -> Tensor:
        return mse_loss(outputs, y)

    def total_loss(self, outputs: Tensor, y: Tensor) -> float:
        return torch.square(outputs - y).mean(dim=1).sum().item()

    def total_score(self, outputs: Tensor, y: Tensor) -> float:
        return -self.total_loss(outputs, y)
