"""One model fitted on one part of the data, watched on another, the same bits every time."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import final

import torch
from torch import Tensor

from lfds.config.training import TrainingSettings
from lfds.data.graphset import GraphSet
from lfds.nn import GraphNetwork
from lfds.seeds import seed_for
from lfds.train.batchnorm import FEWEST, measure_norms, measured_rows
from lfds.train.ema import Averaged
from lfds.train.epoch import batches, evaluate, train_pass
from lfds.train.errors import DivergedError
from lfds.train.memory_limit import room_told
from lfds.train.objective import Classify, Objective
from lfds.train.schedule import learning_rate

Weights = dict[str, Tensor]
Scope = tuple[str | int, ...]


@dataclass
class Progress:
    """What is known after some epochs, beside the weights.

    Attributes:
        loss: Mean training loss of each epoch.
        train: Score of the training graphs while they were trained on; accuracy for classes.
        watched: Score of the watched graphs after each epoch.
        watched_loss: Their mean loss.
        best: The epoch whose weights are kept, counted from 0; -1 before the first.
        seconds: Time spent so far.
    """

    loss: list[float] = field(default_factory=list)
    train: list[float] = field(default_factory=list)
    watched: list[float] = field(default_factory=list)
    watched_loss: list[float] = field(default_factory=list)
    best: int = -1
    seconds: float = 0.0

    @property
    def epochs(self) -> int:
        """Epochs done."""
        return len(self.loss)

    @property
    def best_score(self) -> tuple[float, float]:
        """What makes an epoch better than another: its score, then a lower loss."""
        return self.watched[self.best], -self.watched_loss[self.best]

    @property
    def set_apart(self) -> bool:
        """Whether epochs were judged by other graphs than those trained on.

        Without any, the losses of the training stand in for those of the watched graphs.
        """
        return self.watched_loss != self.loss


@final
class Training:
    """A model on its way through the epochs.

    Watched graphs are judged, and the best weights kept, by the mean over the epochs that
    ``settings.averaging`` asks for; by single epochs where there are few graphs to train on.
    With ``settings.keep`` at ``"last"`` the last epoch counts as the best.

    Every epoch draws its order and its dropout from streams of its own, named by ``scope``: what
    epoch 7 draws depends on nothing but its name, so that nothing random needs to be saved.

    Args:
        model: What is fitted.
        train: The graphs it is fitted on, encoded.
        watched: The graphs it is evaluated on after each epoch, encoded. With ``None`` the epochs
            are judged by the training graphs, and the last one counts as the best.
        settings: How it is fitted.
        seed: Root of the random streams.
        scope: What distinguishes these streams from those of other trainings.
        objective: What it is after.
        patience: Stop when this many epochs in a row were no better than the best; never by
            default.
    """

    def __init__(
        self,
        model: GraphNetwork,
        train: GraphSet,
        watched: GraphSet | None,
        settings: TrainingSettings,
        seed: int,
        scope: Scope,
        *,
        objective: Objective | None = None,
        patience: int | None = None,
    ) -> None:
        self.model = model
        self.settings = settings
        self.objective: Objective = Classify() if objective is None else objective
        self.progress = Progress()
        self.best: Weights = {}
        with room_told(model.settings):
            self.averaged = Averaged(model, settings.averaging if len(train) >= FEWEST else 0.0)
        rate, decay = settings.learning_rate, settings.weight_decay
        self.optimizer = torch.optim.AdamW(
            model.parameters(), lr=rate, weight_decay=decay, fused=True
        )
        self._train, self._watched = train, watched
        self._seed, self._scope = seed, scope
        self._patience = settings.epochs if patience is None else patience

    def run(self, after_epoch: Callable[["Training"], None]) -> None:
        """Train all epochs that are left, telling after each; fewer where patience ends."""
        while self._goes_on():
            begin = time.perf_counter()
            with room_told(self.model.settings, self.settings.batch_size):
                self._epoch(self.progress.epochs)
            self.progress.seconds += time.perf_counter() - begin
            after_epoch(self)

    def _goes_on(self) -> bool:
        seen = self.progress
        without_gain = seen.epochs - 1 - seen.best
        return seen.epochs < self.settings.epochs and without_gain < self._patience

    def _epoch(self, epoch: int) -> None:
        rate = self.settings
        for group in self.optimizer.param_groups:
            group["lr"] = learning_rate(
                rate.decay, rate.learning_rate, rate.final_learning_rate, epoch, rate.epochs
            )
        order = torch.Generator().manual_seed(self._stream("order", epoch))
        torch.manual_seed(self._stream("dropout", epoch))
        try:
            loss, score = self._pass(order)
            self._take_in()
            watched, watched_loss = self._judged(score, loss)
        except DivergedError as error:
            raise DivergedError(
                f"{error} in epoch {epoch + 1}; "
                f"a lower learning rate than {self.settings.learning_rate} may help"
            ) from None
        self._keep_if_best(epoch, watched, watched_loss)
        self.progress.loss.append(loss)
        self.progress.train.append(score)
        self.progress.watched.append(watched)
        self.progress.watched_loss.append(watched_loss)

    def _pass(self, order: torch.Generator) -> tuple[float, float]:
        rows = torch.randperm(len(self._train), generator=order)
        parts = batches(self._train, rows, self.settings.batch_size)
        return train_pass(self.model, parts, self.optimizer, self.objective)

    def _take_in(self) -> None:
        """Move the mean of the weights, and tell its batch norms what they will see."""
        if self.averaged.model is self.model:
            return
        self.averaged.take_in()
        rows = measured_rows(len(self._train), self._stream("norms", 0))
        # Few graphs at a time would be normed by themselves, and not as when they are judged.
        size = max(FEWEST, self.settings.batch_size)
        measure_norms(self.averaged.model, batches(self._train, rows, size))

    def _judged(self, score: float, loss: float) -> tuple[float, float]:
        if self._watched is None:
            return score, loss
        judged = self.averaged.model
        return evaluate(judged, self._watched, self.settings.batch_size, self.objective)

    def _keep_if_best(self, epoch: int, score: float, loss: float) -> None:
        """Keep the weights of the best epoch: by score, then by loss, then the earliest."""
        seen = self.progress
        latest = self._watched is None or self.settings.keep == "last"
        if latest or seen.best < 0 or (score, -loss) > seen.best_score:
            seen.best = epoch
            weights = self.averaged.model.state_dict()
            self.best = {name: value.clone() for name, value in weights.items()}

    def _stream(self, purpose: str, epoch: int) -> int:
        return seed_for(self._seed, *self._scope, purpose, epoch)
