"""A batch norm run by hand, inside operations that bring their own backward."""

from typing import NamedTuple

import torch
from torch import Tensor, nn


class Norm(NamedTuple):
    """How rows were normed: by their own statistics in training, else by the running ones."""

    training: bool
    eps: float


def count_batch(norm: nn.BatchNorm1d) -> None:
    """Count a batch that the running statistics are about to learn from."""
    if norm.training and norm.num_batches_tracked is not None:
        norm.num_batches_tracked.add_(1)


def pace(norm: nn.BatchNorm1d) -> float:
    """How far running statistics move towards those of a batch that has been counted.

    Without a momentum they are the mean over all batches so far.
    """
    if norm.momentum is not None:
        return norm.momentum
    return 1.0 / max(1, int(norm.num_batches_tracked or 0))


def normed(rows: Tensor, norm: nn.BatchNorm1d) -> tuple[Tensor, tuple[Tensor | None, ...]]:
    """Norm rows; return them and the statistics that the way back needs."""
    running = norm.running_mean, norm.running_var
    out, *own = torch.native_batch_norm(
        rows, norm.weight, norm.bias, *running, norm.training, pace(norm), norm.eps
    )
    return out, (*running, *own)
