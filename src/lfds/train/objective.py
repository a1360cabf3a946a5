"""Objectives: the loss that is minimized, and the score by which models are compared."""

from typing import Protocol, final

import torch
from torch import Tensor
from torch.nn.functional import (
    binary_cross_entropy_with_logits,
    cross_entropy,
    huber_loss,
    mse_loss,
)


class Objective(Protocol):
    """Loss and score of the outputs of a network; ``y`` holds the targets of the graphs."""

    def loss(self, outputs: Tensor, y: Tensor) -> Tensor:
        """The mean loss of a batch, differentiable."""
        ...

    def terms(self, y: Tensor) -> int:
        """The number of terms that the loss of a batch with these targets is the mean of."""
        ...

    def total_loss(self, outputs: Tensor, y: Tensor) -> float:
        """The loss summed over graphs."""
        ...

    def total_score(self, outputs: Tensor, y: Tensor) -> float:
        """The score summed over graphs; higher is better."""
        ...

    def each(self, outputs: Tensor, y: Tensor) -> Tensor:
        """The loss of each graph, ``[graphs]``: the terms of :meth:`loss` without their number."""
        ...

    def terms_of_a_graph(self, y: Tensor) -> float:
        """The mean number of terms of a graph; ``each`` divided by it sums to the total loss."""
        ...

    def scores(self, outputs: Tensor, y: Tensor) -> Tensor:
        """The score of each graph, ``[graphs]``."""
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
        return cross_entropy(outputs, y, self._weights(y), reduction="sum") / len(y)

    def terms(self, y: Tensor) -> int:
        return len(y)

    def total_loss(self, outputs: Tensor, y: Tensor) -> float:
        return cross_entropy(outputs, y, self._weights(y), reduction="sum").item()

    def total_score(self, outputs: Tensor, y: Tensor) -> float:
        right = outputs.argmax(dim=1) == y
        weights = self._weights(y)
        return float(right.sum() if weights is None else weights[y[right]].sum())

    def each(self, outputs: Tensor, y: Tensor) -> Tensor:
        return cross_entropy(outputs, y, self._weights(y), reduction="none")

    def terms_of_a_graph(self, y: Tensor) -> float:
        return 1.0

    def scores(self, outputs: Tensor, y: Tensor) -> Tensor:
        right, weights = (outputs.argmax(dim=1) == y).to(outputs.dtype), self._weights(y)
        return right if weights is None else right * weights[y]

    def _weights(self, y: Tensor) -> Tensor | None:
        return None if self.weights is None else self.weights.to(y.device)


@final
class ClassifyEach:
    r"""Cross-entropy of several targets with two classes each; the score is the negative loss.

    .. math::
        L = \frac{1}{\sum_{gt} m_{gt}} \sum_{gt} m_{gt} \, w_{t y_{gt}}
            \left( \log(1 + e^{z_{gt}}) - y_{gt} z_{gt} \right)

    Entries that are missing, -1 in ``y``, have :math:`m_{gt} = 0`. Accuracy would be no score: most
    targets of this kind are rare, and guessing the common class is right nearly always.

    Args:
        known: Mean number of known targets of a graph.
        weights: :math:`w`, ``[2, targets]``; all weigh the same by default.
    """

    def __init__(self, known: float, weights: Tensor | None = None) -> None:
        self.known, self.weights = known, weights

    def loss(self, outputs: Tensor, y: Tensor) -> Tensor:
        # A batch may know nothing at all.
        return self._sum(outputs, y) / (y >= 0).sum().clamp(min=1)

    def terms(self, y: Tensor) -> int:
        return int((y >= 0).sum())

    def total_loss(self, outputs: Tensor, y: Tensor) -> float:
        return self._sum(outputs, y).item() / self.known

    def total_score(self, outputs: Tensor, y: Tensor) -> float:
        return -self.total_loss(outputs, y)

    def each(self, outputs: Tensor, y: Tensor) -> Tensor:
        return self._entries(outputs, y).sum(dim=1)

    def terms_of_a_graph(self, y: Tensor) -> float:
        return self.known

    def scores(self, outputs: Tensor, y: Tensor) -> Tensor:
        return -self.each(outputs, y) / self.known

    def _sum(self, outputs: Tensor, y: Tensor) -> Tensor:
        return self._entries(outputs, y).sum()

    def _entries(self, outputs: Tensor, y: Tensor) -> Tensor:
        known, target = y >= 0, y.clamp(min=0)
        each = binary_cross_entropy_with_logits(outputs, target.to(outputs), reduction="none")
        if self.weights is not None:
            weights = self.weights.to(outputs.device)
            each = each * torch.where(target > 0, weights[1], weights[0])
        return torch.where(known, each, 0.0)


@final
class Regress:
    """Mean error over all targets that are known; the score is the negative squared error.

    Args:
        known: Mean number of known targets of a graph; ``None`` if none is missing. Missing targets
            are NaN.
        huber: Whether an error :math:`d` beyond 1, one standard deviation of the target, counts
            :math:`2d - 1` instead of its square, so that outliers weigh less.
    """

    def __init__(self, known: float | None = None, *, huber: bool = False) -> None:
        self.known, self.huber = known, huber

    def loss(self, outputs: Tensor, y: Tensor) -> Tensor:
        if self.known is None and not self.huber:
            return mse_loss(outputs, y)
        errors = self._errors(outputs, y)
        return errors.sum() / y.isfinite().sum().clamp(min=1)

    def terms(self, y: Tensor) -> int:
        return int(y.isfinite().sum())

    def total_loss(self, outputs: Tensor, y: Tensor) -> float:
        errors = self._errors(outputs, y)
        return errors.mean(dim=1).sum().item() * self._scale(y)

    def total_score(self, outputs: Tensor, y: Tensor) -> float:
        squares = torch.square(outputs - y).nan_to_num(0.0)
        return -squares.mean(dim=1).sum().item() * self._scale(y)

    def each(self, outputs: Tensor, y: Tensor) -> Tensor:
        return self._errors(outputs, y).sum(dim=1)

    def terms_of_a_graph(self, y: Tensor) -> float:
        return float(y.shape[1]) if self.known is None else self.known

    def scores(self, outputs: Tensor, y: Tensor) -> Tensor:
        squares = torch.square(outputs - y).nan_to_num(0.0)
        return -squares.mean(dim=1) * self._scale(y)

    def _errors(self, outputs: Tensor, y: Tensor) -> Tensor:
        # Zero where a target is missing, and no gradient there.
        filled = torch.where(y.isnan(), outputs.detach(), y)
        if self.huber:
            return 2 * huber_loss(outputs, filled, reduction="none")
        return torch.square(outputs - filled)

    def _scale(self, y: Tensor) -> float:
        return 1.0 if self.known is None else y.shape[1] / self.known


@final
class Weighted:
    r"""Another objective in which a graph :math:`g` counts :math:`w_g` times.

    .. math::
        L = \frac{1}{\#\text{terms}} \sum_g w_g \, L_g

    The weights come with the targets, as the last column of ``y``; see :func:`with_weights`.

    Args:
        objective: Loss and score of a graph.
        classes: Whether the targets are indices of classes.
        single: Whether ``y`` of the objective is ``[graphs]``.
    """

    def __init__(self, objective: Objective, *, classes: bool, single: bool) -> None:
        self.objective, self.classes, self.single = objective, classes, single

    def loss(self, outputs: Tensor, y: Tensor) -> Tensor:
        targets, weights = self._split(y)
        terms = max(1, self.objective.terms(targets))
        return (self.objective.each(outputs, targets) * weights).sum() / terms

    def terms(self, y: Tensor) -> int:
        return self.objective.terms(self._split(y)[0])

    def total_loss(self, outputs: Tensor, y: Tensor) -> float:
        targets, _ = self._split(y)
        return self.each(outputs, y).sum().item() / self.objective.terms_of_a_graph(targets)

    def total_score(self, outputs: Tensor, y: Tensor) -> float:
        return self.scores(outputs, y).sum().item()

    def each(self, outputs: Tensor, y: Tensor) -> Tensor:
        targets, weights = self._split(y)
        return self.objective.each(outputs, targets) * weights

    def terms_of_a_graph(self, y: Tensor) -> float:
        return self.objective.terms_of_a_graph(self._split(y)[0])

    def scores(self, outputs: Tensor, y: Tensor) -> Tensor:
        targets, weights = self._split(y)
        return self.objective.scores(outputs, targets) * weights

    def _split(self, y: Tensor) -> tuple[Tensor, Tensor]:
        targets = y[:, 0] if self.single else y[:, :-1]
        return targets.long() if self.classes else targets, y[:, -1]


def with_weights(y: Tensor, weights: Tensor) -> Tensor:
    """Return targets with the weight of each graph as the last column, ``[graphs, columns]``."""
    table = y.reshape(len(y), -1).to(torch.float32)
    return torch.cat([table, weights.to(torch.float32)[:, None]], dim=1)
