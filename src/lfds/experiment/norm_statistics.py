"""Statistics that batch norms go by, measured anew for weights they never saw."""

from collections.abc import Iterable

import torch
from torch import nn

from lfds.data.batch import Batch
from lfds.experiment.passes import outputs_of
from lfds.nn import GraphClassifier


def measure_norms(model: GraphClassifier, parts: Iterable[Batch]) -> None:
    """Give the batch norms the mean statistics of some batches, of which nothing is dropped.

    Running statistics are of the weights on the way, and of nodes some of which were silenced.
    Neither is what a mean of weights meets when it is used: without this, on sums over many
    neighbours as in DD, it does worse than guessing. The model is left in evaluation mode.
    """
    model.eval()
    norms = [part for part in model.modules() if isinstance(part, nn.BatchNorm1d | nn.BatchNorm2d)]
    paces = [norm.momentum for norm in norms]
    for norm in norms:
        norm.reset_running_stats()
        norm.momentum = None  # the mean over all batches
        norm.train()
    with torch.no_grad():
        for batch in parts if norms else ():
            outputs_of(model, batch)
    for norm, pace in zip(norms, paces, strict=True):
        norm.momentum = pace
        norm.eval()
