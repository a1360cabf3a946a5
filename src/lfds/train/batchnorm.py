"""Statistics that batch norms go by, measured anew for weights they never saw."""

from collections.abc import Iterable

import torch
from torch import Tensor, nn

from lfds.data.batch import Batch
from lfds.nn import GraphNetwork
from lfds.train.epoch import outputs_of

# Graphs that are measured at most, and that it takes: a channel that responds in none of a few
# graphs would be taken for one that never does, and blown up where it responds after all.
MOST, FEWEST = 320, 32


def measured_rows(count: int, seed: int) -> Tensor:
    """Choose graphs to measure, of so many, in random order.

    Sets are often sorted by class. A batch of one class would be normed by itself, and what parts
    it from the other classes with it.
    """
    return torch.randperm(count, generator=torch.Generator().manual_seed(seed))[:MOST]


def measure_norms(model: GraphNetwork, parts: Iterable[Batch]) -> None:
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
    try:
        with torch.no_grad():
            for batch in parts if norms else ():
                outputs_of(model, batch)
    finally:
        for norm, pace in zip(norms, paces, strict=True):
            norm.momentum = pace
            norm.eval()
