"""The training loop: one model, trained on some graphs and validated on others, reproducibly."""

import time
from collections.abc import Callable
from dataclasses import field
from statistics import fmean
from typing import Annotated, final

import torch
from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass
from torch import Tensor

from lfds.config.training import TrainingSettings
from lfds.data.graphset import GraphSet
from lfds.nn import GraphNetwork
from lfds.nn.randomness import draw_from
from lfds.seeds import seed_for
from lfds.train import DivergedError
from lfds.train.batchnorm import MIN_GRAPHS, bound_variances, calibration_rows
from lfds.train.device import on_device, resolve_device
from lfds.train.ema import EMA
from lfds.train.memory_limit import memory_errors_explained
from lfds.train.objective import Classify, Objective
from lfds.train.ranks import OneRank, Ranks
from lfds.train.schedule import learning_rate

Weights = dict[str, Tensor]
Scope = tuple[str | int, ...]
SMOOTHED_EPOCHS = 5
"""Epochs whose mean validation loss chooses an epoch where ``keep`` is ``mean-loss``."""


@dataclass(
    config=ConfigDict(
        extra="forbid", allow_inf_nan=False, validate_by_name=True, serialize_by_alias=True
    )
)
class Progress:
    """The history of a training, epoch by epoch.

    Checkpoints and model cards store it; there, ``validation`` is called ``watched``.

    Attributes:
        loss: Mean training loss.
        train: Score on the training graphs while training; accuracy for classes.
        validation: Score on the validation graphs after the epoch.
        validation_loss: Mean loss on the validation graphs after the epoch.
        best: The epoch whose weights are kept, counted from 0; -1 before the first.
        seconds: Time spent so far: of the processor, which other processes do not disturb, or on an
            accelerator by the clock.
    """

    loss: list[float] = field(default_factory=list)
    train: list[float] = field(default_factory=list)
    validation: Annotated[list[float], Field(alias="watched")] = field(default_factory=list)
    validation_loss: Annotated[list[float], Field(alias="watched_loss")] = field(
        default_factory=list
    )
    best: int = -1
    seconds: float = 0.0

    @property
    def epochs(self) -> int:
        """Number of completed epochs."""
        return len(self.loss)

    @property
    def best_score(self) -> tuple[float, float]:
        """The order of candidates by their best epochs: higher score first, then lower loss."""
        return self.validation[self.best], -self.validation_loss[self.best]

    @property
    def has_validation(self) -> bool:
        """Whether there were validation graphs.

        Without any, the scores and losses of the training take their place.
        """
        return self.validation_loss != self.loss


@final
class Training:
    """A model and its state of training.

    Validation graphs are evaluated, and the best weights kept, with the exponential moving average
    (EMA) of the weights that ``settings.averaging`` sets; with the weights of single epochs where
    there are few training graphs. Which epoch is the best, that with the best score, that with the
    lowest loss, alone or over some epochs, or the last one, is said by ``settings.keep``.

    Every epoch draws its order and its dropout from random streams of its own, named by ``scope``.
    They depend on nothing else, so that checkpoints need no random state.

    The model is moved to ``settings.device``, and stays there.

    Args:
        model: The model to train.
        train: The training graphs, encoded.
        validation: The graphs to evaluate on after each epoch, encoded. With ``None`` the training
            scores take their place, and the last epoch is the best.
        settings: How to train.
        seed: Seed of the random streams.
        scope: Name of the random streams, different from those of other trainings.
        objective: Loss and score; classification by default.
        patience: Stop when this many epochs in a row were no better than the best; never by
            default.
        ranks: The processes that train the model; this one alone by default.
    """

    def __init__(
        self,
        model: GraphNetwork,
        train: GraphSet,
        validation: GraphSet | None,
        settings: TrainingSettings,
        seed: int,
        scope: Scope,
        *,
        objective: Objective | None = None,
        patience: int | None = None,
        ranks: Ranks | None = None,
    ) -> None:
        self._ranks = OneRank() if ranks is None else ranks
        self.device = resolve_device(settings.device)
        self._clock = time.process_time if self.device.type == "cpu" else time.perf_counter
        self.model = model.to(self.device)
        self.settings = settings
        self.objective: Objective = Classify() if objective is None else objective
        self.progress = Progress()
        self.best: Weights = {}
        with memory_errors_explained(model.settings):
            self.ema = EMA(model, settings.averaging if len(train) >= MIN_GRAPHS else 0.0)
        rate, decay = settings.learning_rate, settings.weight_decay
        self.optimizer = torch.optim.AdamW(
            model.parameters(), lr=rate, weight_decay=decay, fused=True
        )
        self._train = on_device(train, self.device)
        self._validation = None if validation is None else on_device(validation, self.device)
        self._seed, self._scope = seed, scope
        self._patience = settings.epochs if patience is None else patience

    def run(self, after_epoch: Callable[["Training"], None]) -> None:
        """Train until all epochs are done or patience ends; call a function after each epoch."""
        while self._continues():
            start = self._clock()
            with memory_errors_explained(self.model.settings, self.settings.batch_size):
                self._epoch(self.progress.epochs)
            self.progress.seconds += self._clock() - start
            after_epoch(self)

    def _continues(self) -> bool:
        done = self.progress
        without_gain = done.epochs - 1 - done.best
        return done.epochs < self.settings.epochs and without_gain < self._patience

    def _epoch(self, epoch: int) -> None:
        rate = self.settings
        for group in self.optimizer.param_groups:
            group["lr"] = learning_rate(
                rate.decay, rate.learning_rate, rate.final_learning_rate, epoch, rate.epochs
            )
        order = torch.Generator().manual_seed(self._stream("order", epoch))
        try:
            dropout = self._ranks.stream(self._stream("dropout", epoch))
            loss, score = self._train_pass(order, dropout)
            self._update_ema()
            validation, validation_loss = self._validate(score, loss)
        except DivergedError as error:
            raise DivergedError(
                f"{error} in epoch {epoch + 1}; "
                f"a lower learning rate than {self.settings.learning_rate} may help"
            ) from None
        self.progress.loss.append(loss)
        self.progress.train.append(score)
        self.progress.validation.append(validation)
        self.progress.validation_loss.append(validation_loss)
        self._keep_if_best(epoch)

    def _train_pass(self, order: torch.Generator, dropout: int) -> tuple[float, float]:
        rows = torch.randperm(len(self._train), generator=order)
        with draw_from(dropout):
            return self._ranks.train_pass(
                self.model, self._train, rows, self.optimizer, self.objective, self.settings
            )

    def _update_ema(self) -> None:
        """Update the averaged weights, and recalibrate their batch-norm statistics."""
        if self.ema.model is self.model:
            return
        self.ema.update()
        rows = calibration_rows(len(self._train), self._stream("norms", 0))
        # The statistics of few graphs at a time would differ from those in evaluation.
        size = max(MIN_GRAPHS, self.settings.batch_size)
        precision = self.settings.precision
        self._ranks.recalibrate(self.ema.model, self._train, rows, size, precision)
        bound_variances(self.ema.model, self.settings.variance_floor)

    def _validate(self, score: float, loss: float) -> tuple[float, float]:
        if self._validation is None:
            return score, loss
        size, precision = self.settings.batch_size, self.settings.precision
        return self._ranks.evaluate(
            self.ema.model, self._validation, size, self.objective, precision
        )

    def _keep_if_best(self, epoch: int) -> None:
        """Keep the weights of the best epoch; of equal ones the earliest."""
        done = self.progress
        latest = self._validation is None or self.settings.keep == "last"
        if latest or done.best < 0 or self._order(epoch) > self._order(done.best):
            done.best = epoch
            weights = self.ema.model.state_dict()
            self.best = {name: value.clone() for name, value in weights.items()}

    def _order(self, epoch: int) -> tuple[float, float]:
        """Return what is larger for a better epoch, and what decides between equal ones."""
        score, losses = self.progress.validation[epoch], self.progress.validation_loss
        if self.settings.keep == "best":
            return score, -losses[epoch]
        count = SMOOTHED_EPOCHS if self.settings.keep == "mean-loss" else 1
        return -fmean(losses[max(0, epoch + 1 - count) : epoch + 1]), score

    def _stream(self, purpose: str, epoch: int) -> int:
        return seed_for(self._seed, *self._scope, purpose, epoch)
