"""One model fitted on one part of the data, watched on another, the same bits every time."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, final

import torch
from torch import Tensor

from lfds.data.batch import Batch
from lfds.data.graphset import GraphSet
from lfds.experiment.errors import DivergedError
from lfds.experiment.objective import Classify, Objective
from lfds.experiment.room import room_told
from lfds.experiment.schedule import learning_rate
from lfds.experiment.spec import TrainingSettings
from lfds.nn import Edges, GraphClassifier
from lfds.nn.checks import NotFiniteError
from lfds.seeds import seed_for

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
        model: GraphClassifier,
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

    def _judged(self, score: float, loss: float) -> tuple[float, float]:
        if self._watched is None:
            return score, loss
        return evaluate(self.model, self._watched, self.settings.batch_size, self.objective)

    def _keep_if_best(self, epoch: int, score: float, loss: float) -> None:
        """Keep the weights of the best epoch: by score, then by loss, then the earliest."""
        seen = self.progress
        if self._watched is None or seen.best < 0 or (score, -loss) > seen.best_score:
            seen.best = epoch
            self.best = {name: value.clone() for name, value in self.model.state_dict().items()}

    def _stream(self, purpose: str, epoch: int) -> int:
        return seed_for(self._seed, *self._scope, purpose, epoch)


def train_pass(
    model: GraphClassifier,
    parts: Iterator[Batch],
    optimizer: torch.optim.Optimizer,
    objective: Objective,
) -> tuple[float, float]:
    """Take one step for each batch; return the mean loss and the mean score on the way."""
    model.train()
    total, good, count = 0.0, 0.0, 0
    for batch in parts:
        outputs = outputs_of(model, batch)
        loss = objective.loss(outputs, batch.y) + model.penalty()
        value = loss.item()
        if not torch.isfinite(loss):
            raise DivergedError(f"the loss became {value}")
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += value * len(batch)
        good += objective.total_score(outputs.detach(), batch.y)
        count += len(batch)
    return total / count, good / count


def evaluate(
    model: GraphClassifier, graphs: GraphSet, batch_size: int, objective: Objective | None = None
) -> tuple[float, float]:
    """Return mean score and mean loss on some graphs: accuracy and cross-entropy by default."""
    model.eval()
    judge: Objective = Classify() if objective is None else objective
    good, loss = 0.0, 0.0
    with torch.no_grad():
        for batch in batches(graphs, torch.arange(len(graphs)), batch_size):
            outputs = outputs_of(model, batch)
            good += judge.total_score(outputs, batch.y)
            loss += judge.total_loss(outputs, batch.y)
    # Records hold numbers only: a model that sees infinities loses against every other.
    worst = torch.finfo(torch.float32).max
    mean = loss / len(graphs)
    return good / len(graphs), mean if mean < worst else worst


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


def outputs_of(model: GraphClassifier, batch: Batch) -> Tensor:
    """Return what the model makes of a batch, ``[graphs, outputs]``."""
    edges = Edges.from_rows(batch.edge_ptr, batch.edge_dst)
    try:
        outputs: Any = model(batch.x, batch.ptr, edges)
    except NotFiniteError as error:
        if not batch.x.isfinite().all():
            raise
        raise DivergedError("values inside the network became infinite") from error
    assert isinstance(outputs, Tensor)
    return outputs
