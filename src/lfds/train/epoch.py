"""One pass over graphs, to train on them or to evaluate."""

from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch import Tensor

from lfds.config.training import Precision
from lfds.data.batch import Batch
from lfds.nn import Edges, GraphNetwork
from lfds.nn.input_checks import NotFiniteError
from lfds.nn.models.ensemble import Ensemble
from lfds.train import DivergedError
from lfds.train.device import Source, autocast
from lfds.train.objective import Classify, Objective


def train_pass(
    model: GraphNetwork,
    parts: Iterator[Batch],
    optimizer: torch.optim.Optimizer,
    objective: Objective,
    precision: Precision = "32",
) -> tuple[float, float]:
    """Take one step for each batch; return the mean loss and the mean score while training."""
    model.train()
    loss_sum, score_sum, count = 0.0, 0.0, 0
    for batch in parts:
        outputs = outputs_of(model, batch, precision)
        loss = objective.loss(outputs, batch.y) + model.penalty()
        value = loss.item()
        if not torch.isfinite(loss):
            raise DivergedError(f"the loss became {value}")
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        loss_sum += value * len(batch)
        score_sum += objective.total_score(outputs.detach(), batch.y)
        count += len(batch)
    return loss_sum / count, score_sum / count


def evaluate(
    model: GraphNetwork | Ensemble,
    graphs: Source,
    batch_size: int,
    objective: Objective | None = None,
    precision: Precision = "32",
) -> tuple[float, float]:
    """Return mean score and mean loss on some graphs: accuracy and cross-entropy by default."""
    parts = batches(graphs, torch.arange(len(graphs)), batch_size)
    objective = Classify() if objective is None else objective
    return mean_scores(total_scores(model, parts, objective, precision), len(graphs))


def total_scores(
    model: GraphNetwork | Ensemble,
    parts: Iterator[Batch],
    objective: Objective,
    precision: Precision,
) -> tuple[float, float]:
    """Return score and loss summed over the graphs of some batches."""
    model.eval()
    score, loss = 0.0, 0.0
    with torch.no_grad():
        for batch in parts:
            outputs = outputs_of(model, batch, precision)
            score += objective.total_score(outputs, batch.y)
            loss += objective.total_loss(outputs, batch.y)
    return score, loss


def mean_scores(totals: tuple[float, float], count: int) -> tuple[float, float]:
    """Return mean score and mean loss from their sums over ``count`` graphs."""
    score, loss = totals
    # Records hold finite numbers only; an infinite loss stays the worst of all.
    worst = torch.finfo(torch.float32).max
    mean = loss / count
    return score / count, mean if mean < worst else worst


def count_predictions(
    model: GraphNetwork | Ensemble,
    graphs: Source,
    batch_size: int,
    classes: int,
    precision: Precision = "32",
) -> Tensor:
    """Return the confusion matrix of some graphs, ``[classes, classes]``: true class, predicted."""
    model.eval()
    counts = torch.zeros(classes * classes, dtype=torch.int64)
    with torch.no_grad():
        for batch in batches(graphs, torch.arange(len(graphs)), batch_size):
            predicted = outputs_of(model, batch, precision).argmax(dim=1)
            pairs = (batch.y * classes + predicted).cpu()
            counts += torch.bincount(pairs, minlength=classes * classes)
    return counts.view(classes, classes)


def batches(graphs: Source, rows: Tensor, batch_size: int) -> Iterator[Batch]:
    """Yield the batches of :func:`split_rows`."""
    for part in split_rows(rows, batch_size):
        yield graphs.batch(part)


def split_rows(rows: Tensor, batch_size: int) -> Sequence[Tensor]:
    """Return the rows of batches of nearly equal size, none larger than ``batch_size``.

    Batch normalization cannot train on a single graph: where one would be left over, there is one
    batch fewer, and batches may exceed ``batch_size`` by one.
    """
    count = -(-len(rows) // batch_size)
    if len(rows) < 2 * count:
        count = max(1, len(rows) // 2)
    return rows.tensor_split(count)


def outputs_of(model: GraphNetwork | Ensemble, batch: Batch, precision: Precision = "32") -> Tensor:
    """Return the outputs of a model for a batch, ``[graphs, out_channels]``, in float32."""
    edges = Edges.from_rows(batch.edge_ptr, batch.edge_dst, features=batch.edge_x)
    try:
        with autocast(batch.x.device, precision):
            outputs: Any = model(batch.x, batch.ptr, edges)
    except NotFiniteError as error:
        if not batch.x.isfinite().all():
            raise
        raise DivergedError("values inside the network became infinite") from error
    assert isinstance(outputs, Tensor)
    return outputs if precision == "32" else outputs.float()
