"""Recalibration of batch-norm statistics, for weights that were not trained as they are."""

from collections.abc import Iterable

import torch
from torch import Tensor, nn

from lfds.config.training import Precision
from lfds.data.batch import Batch
from lfds.nn import GraphNetwork
from lfds.train.epoch import outputs_of

# With fewer graphs a channel that is active in none of them would get a variance of almost zero,
# and would be scaled up without bounds where it is active.
MIN_GRAPHS, MAX_GRAPHS = 32, 320
# Relative to the largest variance of a norm: a constant has no variance but that of rounding.
_CONSTANT = 1e-10


def calibration_rows(count: int, seed: int) -> Tensor:
    """Draw at most ``MAX_GRAPHS`` of ``count`` graphs, in random order.

    Datasets are often sorted by class. In a batch of one class, normalization would remove what
    distinguishes that class from the others.
    """
    return torch.randperm(count, generator=torch.Generator().manual_seed(seed))[:MAX_GRAPHS]


def recalibrate(model: GraphNetwork, batches: Iterable[Batch], precision: Precision = "32") -> None:
    """Set all batch-norm statistics to their means over some batches, without dropout.

    Running statistics belong to the weights of earlier steps, and to graphs with dropped nodes.
    Averaged weights need statistics of their own: without them they do worse than chance on sums
    over many neighbours, as in DD. The model is left in evaluation mode.
    """
    model.eval()
    norms = batch_norms(model)
    momenta = [norm.momentum for norm in norms]
    for norm in norms:
        norm.reset_running_stats()
        norm.momentum = None  # the mean over all batches
        norm.train()
    try:
        with torch.no_grad():
            for batch in batches if norms else ():
                outputs_of(model, batch, precision)
    finally:
        for norm, momentum in zip(norms, momenta, strict=True):
            norm.momentum = momentum
            norm.eval()


def bound_variances(model: nn.Module, floor: float) -> None:
    r"""Raise the variances of channels that are constant, or nearly so, on the calibration graphs.

    .. math::
        \sigma_j^2 \leftarrow \max(\sigma_j^2, \varphi m)

    with the floor :math:`\varphi` and the median :math:`m` of the norm's variances. A constant
    channel does not count for the median, and gets the median itself.

    After a ReLU a channel may be zero in all calibration graphs. A graph with a feature that none
    of them has may activate it, and it would be divided by :math:`\sqrt{\varepsilon}`: single
    molecules had logits of more than a thousand.

    Args:
        model: Its batch norms are changed in place.
        floor: Smallest variance relative to the median; with 0 nothing changes.
    """
    if not floor:
        return
    for norm in batch_norms(model):
        variance = norm.running_var
        if variance is None:
            continue
        varies = variance > _CONSTANT * variance.max()
        median = variance[varies].median() if varies.any() else torch.ones_like(variance[0])
        variance.copy_(torch.where(varies, variance.clamp(min=floor * median), median))


def batch_norms(model: nn.Module) -> list[nn.BatchNorm1d | nn.BatchNorm2d]:
    """Return the batch norms of a model."""
    return [part for part in model.modules() if isinstance(part, nn.BatchNorm1d | nn.BatchNorm2d)]
