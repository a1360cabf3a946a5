"""Training a network on graphs with targets, for classifiers and regressors alike."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as ProgressBar
from torch import Tensor

from lfds.config.encoding import EncodingSettings
from lfds.config.training import TrainingSettings
from lfds.data.encodings.encoder import Encoder
from lfds.data.graphset import GraphSet
from lfds.data.splits import validation_groups
from lfds.estimator.options import Options
from lfds.estimator.predictor import run
from lfds.nn import GraphNetwork, NetworkSettings
from lfds.nn.randomness import draw_from, initialize_from
from lfds.seeds import seed_for
from lfds.train import DivergedError
from lfds.train.device import CPU, on_device, resolve_device
from lfds.train.distributed import fit_folder, shared_fit, train_together
from lfds.train.edge_data import warn_of_unused_edges
from lfds.train.epoch import batches, train_pass
from lfds.train.loop import Progress, Scope, Training, Weights
from lfds.train.memory_limit import build_network, memory_errors_explained
from lfds.train.objective import Objective

Rows = NDArray[np.int64]


@dataclass(frozen=True)
class FitPlan:
    """All settings of a fit.

    Attributes:
        network: Settings of the network.
        training: Settings of the training.
        encoding: Which features the nodes get.
        objective: Loss and score.
        options: Everything else.
    """

    network: NetworkSettings
    training: TrainingSettings
    encoding: EncodingSettings
    objective: Objective
    options: Options


@dataclass(frozen=True)
class WarmStart:
    """A fitted network to continue from.

    Attributes:
        network: Its weights are copied.
        encoder: The encoder it was fitted with.
        fits: How often it was fitted before; part of the names of random streams.
    """

    network: GraphNetwork
    encoder: Encoder
    fits: int


@dataclass(frozen=True)
class FitResult:
    """A fitted network.

    Attributes:
        network: With the weights of the best epoch.
        encoder: Fitted on the training graphs.
        history: Losses and scores of every epoch.
        validation: Rows of the validation graphs.
        outputs: The outputs of the network for them.
    """

    network: GraphNetwork
    encoder: Encoder
    history: Progress
    validation: Rows
    outputs: Tensor


def fit_network(
    graphs: GraphSet,
    strata: NDArray[np.integer],
    outputs: int,
    plan: FitPlan,
    start: WarmStart | None,
    held_out: Rows | None = None,
    checkpoints: Path | None = None,
) -> FitResult:
    """Fit a network.

    Args:
        graphs: With targets ``y`` in the form of the objective.
        strata: Class of each graph, for a stratified validation split; zeros for regression.
        outputs: Number of outputs of the network.
        plan: All settings.
        start: Network to continue from; ``None`` for new weights.
        held_out: Rows of the validation graphs; by default they are drawn, whole groups if the
            graphs have groups.
        checkpoints: Folder in which the same fit goes on where it was interrupted.
    """
    options = plan.options
    train, validation = _parts(graphs, strata, options, held_out)
    encoder = new_encoder(graphs[train], plan) if start is None else start.encoder
    encoded = encoder.transform(graphs, workers=options.workers, progress=options.progress)
    scope = ("estimator", "fit", 0 if start is None else start.fits)
    if start is None:
        network = new_network(encoder, outputs, plan, graphs[train])
    else:
        network = deepcopy(start.network)
    part = encoded[validation] if len(validation) else None
    best, history = _train(network, encoded[train], part, plan, scope, checkpoints)
    network.load_state_dict(best)
    # The nodes of a cluster may have accelerators that this machine has not.
    device = resolve_device(options.device) if options.ray is None else CPU
    network.to(device)
    validated = run(network.eval(), encoded[validation], device, plan.training.precision)
    return FitResult(network.to(CPU), encoder, history, validation, validated)


def _train(
    network: GraphNetwork,
    train: GraphSet,
    validation: GraphSet | None,
    plan: FitPlan,
    scope: Scope,
    checkpoints: Path | None,
) -> tuple[Weights, Progress]:
    """Return the weights of the best epoch and the history."""
    options, epochs = plan.options, plan.training.epochs
    how: dict[str, Any] = {"objective": plan.objective, "patience": options.patience}
    with progress_bar(epochs, shown=options.progress) as after_epoch:
        if options.workers == 1 and options.ray is None and checkpoints is None:
            training = Training(
                network, train, validation, plan.training, options.seed, scope, **how
            )
            training.run(lambda now: after_epoch(now.progress))
            return training.best, training.progress
        with fit_folder(checkpoints) as folder:
            fit = shared_fit(
                folder,
                network,
                train,
                validation,
                plan.training,
                options.seed,
                scope,
                ranks=options.workers,
                **how,
            )
            return train_together(fit, after_epoch, options.ray)


def partial_fit_network(
    graphs: GraphSet,
    network: GraphNetwork,
    encoder: Encoder,
    plan: FitPlan,
    call: int,
    optimizer: torch.optim.Optimizer,
) -> tuple[float, float]:
    """Train one epoch on some graphs; return the mean loss and score.

    Args:
        graphs: With targets in the form of the objective.
        network: Is trained in place.
        encoder: Is used as it is.
        plan: All settings.
        call: Number of epochs before this call; part of the names of random streams.
        optimizer: Keeps its state between calls.
    """
    options, size = plan.options, plan.training.batch_size
    encoded = encoder.transform(graphs, workers=options.workers, progress=options.progress)
    order = torch.Generator().manual_seed(seed_for(options.seed, "estimator", "order", call))
    rows = torch.randperm(len(encoded), generator=order)
    device = resolve_device(options.device)
    network.to(device)  # and stays there, as the state of the optimizer does
    dropout = seed_for(options.seed, "estimator", "dropout", call)
    with draw_from(dropout), memory_errors_explained(network.settings, size):
        parts = batches(on_device(encoded, device), rows, size)
        try:
            return train_pass(network, parts, optimizer, plan.objective, options.precision)
        except DivergedError as error:
            raise DivergedError(
                f"{error} in call {call + 1}; start again with a learning rate below "
                f"{plan.training.learning_rate}"
            ) from None


def new_encoder(train: GraphSet, plan: FitPlan) -> Encoder:
    """Return an encoder fitted on the training graphs."""
    warn_of_unused_edges(plan.network, train.name, edge_data=train.has_edge_data)
    return Encoder(plan.encoding, edges=plan.network.uses_edges).fit(train)


def new_network(encoder: Encoder, outputs: int, plan: FitPlan, train: GraphSet) -> GraphNetwork:
    """Return a network with random weights that depend on the seed of the plan alone."""
    with initialize_from(seed_for(plan.options.seed, "estimator", "weights")):
        return build_network(
            encoder.width,
            outputs,
            plan.network,
            edge_features=encoder.edge_width,
            train=train,
        )


def _parts(
    graphs: GraphSet, strata: NDArray[np.integer], options: Options, held_out: Rows | None
) -> tuple[Rows, Rows]:
    """Return the rows of training and of validation graphs."""
    if held_out is not None:
        return np.setdiff1d(np.arange(len(graphs)), held_out), np.unique(held_out)
    if graphs.groups.shape[1] and options.validation:
        seed = seed_for(options.seed, "estimator", "validation")
        chosen = validation_groups(graphs.groups[:, 0].numpy(), options.validation, seed)
        return np.flatnonzero(~chosen), np.flatnonzero(chosen)
    return split_validation(strata, options.validation, options.seed)


def split_validation(strata: NDArray[np.integer], fraction: float, seed: int) -> tuple[Rows, Rows]:
    """Return the rows of training and of validation graphs, stratified by class.

    Every class keeps at least one training graph; there may be no validation graphs.

    Args:
        strata: The class of each graph; zeros for regression.
        fraction: Of the graphs that are held out, from 0 to below 1.
        seed: Random seed.

    >>> train, validation = split_validation(np.array([0, 1] * 10), 0.2, seed=0)
    >>> len(train), sorted((validation % 2).tolist())
    (16, [0, 0, 1, 1])
    """
    random = np.random.default_rng(seed_for(seed, "estimator", "validation"))
    shuffled = random.permutation(len(strata))
    by_class = shuffled[np.argsort(strata[shuffled], kind="stable")]
    first = np.diff(strata[by_class], prepend=-1) != 0
    free = by_class[~first]
    count = min(round(fraction * len(strata)), len(free))
    # Evenly spaced among graphs sorted by class: every class contributes in proportion.
    places = (np.arange(count) + 0.5) * (len(free) / max(count, 1))
    held_out = np.zeros(len(strata), dtype=bool)
    held_out[free[places.astype(int)]] = True
    return np.flatnonzero(~held_out), np.flatnonzero(held_out)


@contextmanager
def progress_bar(epochs: int, *, shown: bool) -> Iterator[Callable[[Progress], None]]:
    """Show a progress bar on standard error; yield the function to call after each epoch.

    Args:
        epochs: Number of epochs, at most.
        shown: Whether there is a bar at all.
    """
    columns = (TextColumn("fitting"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    note = TextColumn("{task.fields[note]}")
    with ProgressBar(*columns, note, console=Console(stderr=True), disable=not shown) as bar:
        task = bar.add_task("fitting", total=epochs, note="")

        def after_epoch(history: Progress) -> None:
            part = "validation" if history.has_validation else "training"
            text = f"loss {history.loss[-1]:.3f}, {part} {history.validation[-1]:.3f}"
            bar.update(task, completed=history.epochs, note=text)

        yield after_epoch
