"""From graphs and targets to a network that has learned them, without a word about labels."""

from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from lfds.config.encoding import EncodingSettings
from lfds.config.training import TrainingSettings
from lfds.data.encodings.encoder import Encoder
from lfds.data.graphset import GraphSet
from lfds.estimator.predictor import run
from lfds.estimator.progress_bar import epochs_shown
from lfds.estimator.validation_split import inner_parts
from lfds.nn import GraphNetwork, NetworkSettings
from lfds.seeds import seed_for
from lfds.train.epoch import batches, train_pass
from lfds.train.errors import DivergedError
from lfds.train.loop import Progress, Training
from lfds.train.memory_limit import build_network, memory_errors_explained
from lfds.train.objective import Objective


@dataclass(frozen=True)
class Plan:
    """Everything that is chosen before graphs are seen, and what they are to be learned for.

    Attributes:
        network: What is fitted.
        training: How.
        encoding: What the nodes are known by.
        objective: What the network is after.
        validation: Share of the graphs that are watched and not trained on.
        patience: Epochs without a gain after which it stops; ``None`` for never.
        seed: Root of all random streams.
        workers: Processes that compute structural encodings.
        progress: Whether to show a bar.
    """

    network: NetworkSettings
    training: TrainingSettings
    encoding: EncodingSettings
    objective: Objective
    validation: float
    patience: int | None
    seed: int
    workers: int
    progress: bool


@dataclass(frozen=True)
class Start:
    """A network to go on from.

    Attributes:
        network: Its weights.
        encoder: What it was fitted with.
        times: How often something was fitted before; names the random streams.
    """

    network: GraphNetwork
    encoder: Encoder
    times: int


@dataclass(frozen=True)
class Learned:
    """What came out.

    Attributes:
        network: With the weights of the best epoch.
        encoder: Fitted on the graphs that were trained on.
        history: How it went, epoch by epoch.
        watched: The graphs that were not trained on, by their places.
        outputs: What the network says of them.
    """

    network: GraphNetwork
    encoder: Encoder
    history: Progress
    watched: NDArray[np.int64]
    outputs: Tensor


def learn(
    graphs: GraphSet, kinds: NDArray[np.integer], outputs: int, plan: Plan, start: Start | None
) -> Learned:
    """Fit a network.

    Args:
        graphs: With targets ``y`` as the objective wants them.
        kinds: Class of each graph, for watching each in proportion; all the same for quantities.
        outputs: How many the network has.
        plan: Everything else.
        start: What to go on from; a network that knows nothing when left out.
    """
    train, watched = inner_parts(kinds, plan.validation, plan.seed)
    encoder = Encoder(plan.encoding).fit(graphs[train]) if start is None else start.encoder
    encoded = encoder.transform(graphs, workers=plan.workers, progress=plan.progress)
    scope = ("estimator", "fit", 0 if start is None else start.times)
    with _own_randomness():
        if start is None:
            network = fresh_network(encoder.width, outputs, plan)
        else:
            network = deepcopy(start.network)
        training = Training(
            network,
            encoded[train],
            encoded[watched] if len(watched) else None,
            plan.training,
            plan.seed,
            scope,
            objective=plan.objective,
            patience=plan.patience,
        )
        with epochs_shown(plan.training.epochs, shown=plan.progress) as after_epoch:
            training.run(after_epoch)
    network.load_state_dict(training.best)
    return Learned(network, encoder, training.progress, watched, run(network, encoded[watched]))


def learn_more(
    graphs: GraphSet,
    network: GraphNetwork,
    encoder: Encoder,
    plan: Plan,
    piece: int,
    optimizer: torch.optim.Optimizer,
) -> tuple[float, float]:
    """Pass once over a piece of the data; return the mean loss and score on the way.

    Args:
        graphs: The piece, with targets as the objective wants them.
        network: Is changed.
        encoder: Stays as it is.
        plan: How.
        piece: Its number; names the random streams.
        optimizer: Remembers the pieces before.
    """
    encoded = encoder.transform(graphs, workers=plan.workers, progress=plan.progress)
    order = torch.Generator().manual_seed(seed_for(plan.seed, "estimator", "order", piece))
    rows = torch.randperm(len(encoded), generator=order)
    size = plan.training.batch_size
    with _own_randomness(), memory_errors_explained(network.settings, size):
        torch.manual_seed(seed_for(plan.seed, "estimator", "dropout", piece))
        parts = batches(encoded, rows, size)
        try:
            return train_pass(network, parts, optimizer, plan.objective)
        except DivergedError as error:
            raise DivergedError(
                f"{error} in piece {piece + 1}; begin again with a lower learning rate than "
                f"{plan.training.learning_rate}"
            ) from None


def fresh_network(features: int, outputs: int, plan: Plan) -> GraphNetwork:
    """Return a network that has learned nothing, by the seed of the plan."""
    with _own_randomness():
        torch.manual_seed(seed_for(plan.seed, "estimator", "weights"))
        return build_network(features, outputs, plan.network)


def with_targets(graphs: GraphSet, y: Tensor) -> GraphSet:
    """Return the same graphs with targets in the form an objective wants."""
    return replace(graphs, y=y)


@contextmanager
def _own_randomness() -> Iterator[None]:
    """Leave torch's global generator, which layers draw from, as it was found."""
    with torch.random.fork_rng(devices=[]):
        yield
