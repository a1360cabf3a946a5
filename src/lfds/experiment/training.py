"""One model fitted on one part of the data, watched on another, the same bits every time."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, final

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from lfds.data.batch import Batch
from lfds.data.graphset import GraphSet
from lfds.experiment.errors import DivergedError
from lfds.experiment.schedule import learning_rate
from lfds.experiment.spec import TrainingSettings
from lfds.nn import Edges, GraphClassifier
from lfds.seeds import seed_for

Weights = dict[str, Tensor]
Scope = tuple[str | int, ...]


@dataclass
class Progress:
    """What is known after some epochs, beside the weights.

    Attributes:
        loss: Mean training loss of each epoch.
        train: Accuracy on the training graphs while they were trained on.
        watched: Accuracy on the watched graphs after each epoch.
        watched_loss: Their mean cross-entropy.
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
        """What makes an epoch better than another: its accuracy, then a lower loss."""
        return self.watched[self.best], -self.watched_loss[self.best]


@final
class Training:
    """A model on its way through the epochs.

    Every epoch draws its order and its dropout from streams of its own, named by ``scope``: what
    epoch 7 draws depends on nothing but its name, so that nothing random needs to be saved.

    Args:
        model: What is fitted.
        train: The graphs it is fitted on, encoded.
        watched: The graphs it is evaluated on after each epoch, encoded.
        settings: How it is fitted.
        seed: Root of the random streams.
        scope: What distinguishes these streams from those of other trainings.
    """

    def __init__(
        self,
        model: GraphClassifier,
        train: GraphSet,
        watched: GraphSet,
        settings: TrainingSettings,
        seed: int,
        scope: Scope,
    ) -> None:
        self.model = model
        self.settings = settings
        self.progress = Progress()
        self.best: Weights = {}
        rate, decay = settings.learning_rate, settings.weight_decay
        self.optimizer = torch.optim.AdamW(
            model.parameters(), lr=rate, weight_decay=decay, fused=True
        )
        self._train, self._watched = train, watched
        self._seed, self._scope = seed, scope

    def run(self, after_epoch: Callable[["Training"], None]) -> None:
        """Train all epochs that are left, telling after each."""
        while self.progress.epochs < self.settings.epochs:
            begin = time.perf_counter()
            self._epoch(self.progress.epochs)
            self.progress.seconds += time.perf_counter() - begin
            after_epoch(self)

    def _epoch(self, epoch: int) -> None:
        rate = self.settings
        for group in self.optimizer.param_groups:
            group["lr"] = learning_rate(
                rate.decay, rate.learning_rate, rate.final_learning_rate, epoch, rate.epochs
            )
        order = torch.Generator().manual_seed(self._stream("order", epoch))
        torch.manual_seed(self._stream("dropout", epoch))
        loss, accuracy = self._pass(order, epoch)
        watched, watched_loss = evaluate(self.model, self._watched, self.settings.batch_size)
        self._keep_if_best(epoch, watched, watched_loss)
        self.progress.loss.append(loss)
        self.progress.train.append(accuracy)
        self.progress.watched.append(watched)
        self.progress.watched_loss.append(watched_loss)

    def _pass(self, order: torch.Generator, epoch: int) -> tuple[float, float]:
        self.model.train()
        total, right = 0.0, 0
        rows = torch.randperm(len(self._train), generator=order)
        for batch in batches(self._train, rows, self.settings.batch_size):
            logits = logits_of(self.model, batch)
            loss = cross_entropy(logits, batch.y) + self.model.penalty()
            value = loss.item()
            if not torch.isfinite(loss):
                raise DivergedError(
                    f"the loss became {value} in epoch {epoch + 1}; "
                    f"a lower learning rate than {self.settings.learning_rate} may help"
                )
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            total += value * len(batch)
            right += int((logits.argmax(dim=1) == batch.y).sum())
        return total / len(rows), right / len(rows)

    def _keep_if_best(self, epoch: int, accuracy: float, loss: float) -> None:
        """Keep the weights of the best epoch: by accuracy, then by loss, then the earliest."""
        seen = self.progress
        if seen.best < 0 or (accuracy, -loss) > seen.best_score:
            seen.best = epoch
            self.best = {name: value.clone() for name, value in self.model.state_dict().items()}

    def _stream(self, purpose: str, epoch: int) -> int:
        return seed_for(self._seed, *self._scope, purpose, epoch)


def evaluate(model: GraphClassifier, graphs: GraphSet, batch_size: int) -> tuple[float, float]:
    """Return accuracy and mean cross-entropy on some graphs."""
    model.eval()
    right, loss = 0, 0.0
    with torch.no_grad():
        for batch in batches(graphs, torch.arange(len(graphs)), batch_size):
            logits = logits_of(model, batch)
            right += int((logits.argmax(dim=1) == batch.y).sum())
            loss += cross_entropy(logits, batch.y, reduction="sum").item()
    # Records hold numbers only: a model that sees infinities loses against every other.
    worst = torch.finfo(torch.float32).max
    mean = loss / len(graphs)
    return right / len(graphs), mean if mean < worst else worst


def batches(graphs: GraphSet, rows: Tensor, batch_size: int) -> Iterator[Batch]:
    """Assemble batches of nearly equal size, none larger than asked for.

    Batch norm cannot learn from a single graph: where one would be left over, batches are fewer
    and one larger.
    """
    count = -(-len(rows) // batch_size)
    if len(rows) < 2 * count:
        count = max(1, len(rows) // 2)
    for part in rows.tensor_split(count):
        yield graphs.batch(part)


def logits_of(model: GraphClassifier, batch: Batch) -> Tensor:
    """Return what the model makes of a batch, ``[graphs, classes]``."""
    logits: Any = model(batch.x, batch.ptr, Edges.from_rows(batch.edge_ptr, batch.edge_dst))
    assert isinstance(logits, Tensor)
    return logits
