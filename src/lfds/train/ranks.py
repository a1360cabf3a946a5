"""The processes that train one model: which graphs each computes, and what they exchange.

Processes are numbered by their rank. All ranks draw the same order of graphs, so that a batch holds
the same graphs whatever their number is; each rank computes its part of every batch.
"""

import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import final

import numpy as np
import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

from lfds.config.training import Precision, TrainingSettings
from lfds.data.batch import Batch
from lfds.data.graphset import GraphSet
from lfds.nn import GraphNetwork
from lfds.seeds import seed_for
from lfds.train import DivergedError
from lfds.train.batchnorm import batch_norms, recalibrate
from lfds.train.device import Source
from lfds.train.epoch import batches, mean_scores, outputs_of, split_rows, total_scores, train_pass
from lfds.train.objective import Objective
from lfds.train.sync_batch_norm import synchronize_norms


class Ranks(ABC):
    """What of an epoch one process computes; every rank is returned the results of all."""

    rank: int = 0

    @abstractmethod
    def stream(self, seed: int) -> int:
        """Return the seed of the random numbers that this rank alone draws."""

    @abstractmethod
    def train_pass(
        self,
        model: GraphNetwork,
        graphs: Source,
        rows: Tensor,
        optimizer: torch.optim.Optimizer,
        objective: Objective,
        settings: TrainingSettings,
    ) -> tuple[float, float]:
        """Take one step for each batch of ``rows``; return mean loss and score while training."""

    @abstractmethod
    def recalibrate(
        self, model: GraphNetwork, graphs: Source, rows: Tensor, size: int, precision: Precision
    ) -> None:
        """Set the batch-norm statistics to their means over batches of ``rows``."""

    @abstractmethod
    def evaluate(
        self,
        model: GraphNetwork,
        graphs: Source,
        size: int,
        objective: Objective,
        precision: Precision,
    ) -> tuple[float, float]:
        """Return mean score and mean loss on all graphs."""

    @abstractmethod
    def agree(self, value: int) -> bool:
        """Whether all ranks have the same number."""


@final
class OneRank(Ranks):
    """A process that trains alone."""

    def stream(self, seed: int) -> int:
        return seed

    def train_pass(
        self,
        model: GraphNetwork,
        graphs: Source,
        rows: Tensor,
        optimizer: torch.optim.Optimizer,
        objective: Objective,
        settings: TrainingSettings,
    ) -> tuple[float, float]:
        parts = batches(graphs, rows, settings.batch_size)
        return train_pass(model, parts, optimizer, objective, settings.precision)

    def recalibrate(
        self, model: GraphNetwork, graphs: Source, rows: Tensor, size: int, precision: Precision
    ) -> None:
        recalibrate(model, batches(graphs, rows, size), precision)

    def evaluate(
        self,
        model: GraphNetwork,
        graphs: Source,
        size: int,
        objective: Objective,
        precision: Precision,
    ) -> tuple[float, float]:
        parts = batches(graphs, torch.arange(len(graphs)), size)
        return mean_scores(total_scores(model, parts, objective, precision), len(graphs))

    def agree(self, value: int) -> bool:
        return True


@final
class ManyRanks(Ranks):
    r"""A process that trains with others; torch's default process group has been started.

    The loss of a batch is a mean over its terms, mostly one for each graph. A rank with
    :math:`k_r` of its :math:`k` terms and their mean loss :math:`L_r` takes the gradient of

    .. math::
        R \frac{k_r}{k} L_r + P,

    where :math:`P` is the penalty of the weights. The mean over all :math:`R` ranks, which
    ``DistributedDataParallel`` computes, is the gradient of the whole batch. Batch norms see the
    rows of this rank or, synchronized, of all ranks; running statistics are means over all ranks.

    Args:
        train: The training graphs.
        device: Where this rank computes.
        sync_batch_norm: Whether batch norms are synchronized.
    """

    def __init__(self, train: GraphSet, device: torch.device, *, sync_batch_norm: bool) -> None:
        self.rank, self.size, self._device = dist.get_rank(), dist.get_world_size(), device
        # Norms exchange numbers in the middle of a backward pass, in between gradients.
        self._norms = dist.new_group() if sync_batch_norm else None
        self._sizes, self._y = train.sizes, train.y
        self._step: DistributedDataParallel | None = None

    def stream(self, seed: int) -> int:
        return seed_for(seed, "rank", self.rank)

    def train_pass(
        self,
        model: GraphNetwork,
        graphs: Source,
        rows: Tensor,
        optimizer: torch.optim.Optimizer,
        objective: Objective,
        settings: TrainingSettings,
    ) -> tuple[float, float]:
        step = self._step_of(model, objective, settings.precision)
        model.train()
        sums = [0.0, 0.0]
        for whole in split_rows(rows, settings.batch_size):
            own = whole[part_of(self._sizes[whole], self.rank, self.size)]
            batch = graphs.batch(own)
            terms = objective.terms(self._y[own]) / max(1, objective.terms(self._y[whole]))
            loss, outputs = step(batch, self.size * terms)
            value = loss.item()
            if not torch.isfinite(loss):
                raise DivergedError(f"the loss became {value}")
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            sums[0] += value * len(whole) / self.size
            sums[1] += objective.total_score(outputs.detach(), batch.y)
        if self._norms is None:
            self._average_statistics(model)
        loss_sum, score_sum = self.sum(sums)
        return loss_sum / len(rows), score_sum / len(rows)

    def _step_of(
        self, model: GraphNetwork, objective: Objective, precision: Precision
    ) -> DistributedDataParallel:
        if self._step is None:
            if self._norms is not None:
                synchronize_norms(model, self._norms)
            with warnings.catch_warnings():
                # torch 2.13 has another name for this argument, which 2.12 does not know.
                warnings.filterwarnings("ignore", ".*broadcast_buffers")
                self._step = DistributedDataParallel(
                    _Step(model, objective, precision),
                    broadcast_buffers=False,  # they are the same at the end of every epoch
                    # Otherwise gradients are put into another order after the first step. Sums over
                    # three and more ranks would be rounded differently after a restart.
                    find_unused_parameters=True,
                )
        return self._step

    def _average_statistics(self, model: GraphNetwork) -> None:
        """Set the running statistics of all ranks to their means, in one exchange."""
        norms = batch_norms(model)
        if not norms:
            return
        every = [_statistics(norm) / self.size for norm in norms]
        means = self._sum_of(torch.cat(every)).split([len(one) for one in every])
        for norm, mean in zip(norms, means, strict=True):
            _statistics(norm, mean)

    def recalibrate(
        self, model: GraphNetwork, graphs: Source, rows: Tensor, size: int, precision: Precision
    ) -> None:
        recalibrate(model, self._own_batches(graphs, rows, size), precision)
        norms = batch_norms(model)
        # The means over the batches of each rank, weighted by the number of its batches.
        weighted = [_statistics(norm) * _count(norm) for norm in norms]
        counts = [_count(norm).float()[None] for norm in norms]
        lengths = [len(one) for one in (*weighted, *counts)]
        sums = self._sum_of(torch.cat([*weighted, *counts])).split(lengths)
        for norm, total, count in zip(norms, sums, sums[len(norms) :], strict=False):
            _statistics(norm, total / count.clamp(min=1))
            _count(norm).copy_(count[0])

    def evaluate(
        self,
        model: GraphNetwork,
        graphs: Source,
        size: int,
        objective: Objective,
        precision: Precision,
    ) -> tuple[float, float]:
        parts = self._own_batches(graphs, torch.arange(len(graphs)), size)
        score, loss = self.sum(total_scores(model, parts, objective, precision))
        return mean_scores((score, loss), len(graphs))

    def _own_batches(self, graphs: Source, rows: Tensor, size: int) -> Iterator[Batch]:
        for part in split_rows(rows, size)[self.rank :: self.size]:
            yield graphs.batch(part)

    def sum(self, values: Sequence[float]) -> list[float]:
        """Return the sums of some numbers over all ranks, the same bits on each."""
        numbers = torch.tensor(values, dtype=torch.float64, device=self._device)
        return [float(one) for one in self._sum_of(numbers)]

    def agree(self, value: int) -> bool:
        found = torch.tensor([value], device=self._device)
        every = [torch.empty_like(found) for _ in range(self.size)]
        dist.all_gather(every, found)
        return all(torch.equal(one, found) for one in every)

    def _sum_of(self, values: Tensor) -> Tensor:
        dist.all_reduce(values)
        dist.broadcast(values, src=0)
        return values


def _statistics(norm: nn.BatchNorm1d | nn.BatchNorm2d, new: Tensor | None = None) -> Tensor:
    """Return running mean and variance of a norm in one vector; with ``new``, set them first."""
    assert norm.running_mean is not None
    assert norm.running_var is not None
    if new is not None:
        norm.running_mean.copy_(new[: norm.num_features])
        norm.running_var.copy_(new[norm.num_features :])
    return torch.cat([norm.running_mean, norm.running_var])


def _count(norm: nn.BatchNorm1d | nn.BatchNorm2d) -> Tensor:
    assert norm.num_batches_tracked is not None
    return norm.num_batches_tracked


@final
class _Step(nn.Module):
    """The loss of a part of a batch, as one module: what is wrapped sees all parameters used."""

    def __init__(self, model: GraphNetwork, objective: Objective, precision: Precision) -> None:
        super().__init__()
        self.model, self._objective, self._precision = model, objective, precision

    def forward(self, batch: Batch, weight: float) -> tuple[Tensor, Tensor]:
        outputs = outputs_of(self.model, batch, self._precision)
        loss = self._objective.loss(outputs, batch.y)
        return loss * weight + self.model.penalty(), outputs


def part_of(sizes: Tensor, rank: int, ranks: int) -> Tensor:
    """Return which graphs of a batch a rank computes, in their order.

    Ranks have nearly as many graphs as each other, and nearly as many nodes: they take turns, the
    largest graphs first, each turn in the opposite direction.

    Args:
        sizes: Number of nodes of each graph of the batch.
        rank: From 0 to below ``ranks``.
        ranks: Number of ranks.

    >>> sizes = torch.tensor([9, 1, 5, 2, 3])
    >>> part_of(sizes, 0, 2), part_of(sizes, 1, 2)
    (tensor([0, 1, 3]), tensor([2, 4]))
    """
    order = np.argsort(-sizes.numpy(), kind="stable")
    turn, place = np.divmod(np.arange(len(order)), ranks)
    taken_by = np.where(turn % 2, ranks - 1 - place, place)
    return torch.from_numpy(np.sort(order[taken_by == rank]))


def smallest_batch(graphs: int, batch_size: int) -> int:
    """Return the number of graphs of the smallest batch that training takes a step for."""
    return min(len(part) for part in split_rows(torch.arange(graphs), batch_size))
