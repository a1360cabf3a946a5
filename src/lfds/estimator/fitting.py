"""Training one network on graphs with targets, for classifiers and regressors alike."""

from collections.abc import Callable, Iterator, Sequence
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
from lfds.data.shards.engines import connected
from lfds.data.splits import validation_groups
from lfds.estimator.options import Options
from lfds.estimator.predictor import run
from lfds.nn import GraphNetwork, NetworkSettings
from lfds.nn.randomness import draw_from, initialize_from
from lfds.seeds import member_seed, seed_for
from lfds.train import DivergedError
from lfds.train.device import CPU, on_device, resolve_device
from lfds.train.distributed import fit_folder, shared_fit, train_together
from lfds.train.edge_data import warn_of_unused_edges
from lfds.train.epoch import batches, train_pass
from lfds.train.loop import Progress, Scope, Training, Weights
from lfds.train.memory_limit import build_network, memory_errors_explained
from lfds.train.objective import Objective

Rows = NDArray[np.int64]
_SYNC = {"auto": None, "always": True, "never": False}


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
class FitData:
    """What all members of an ensemble are fitted on.

    Attributes:
        encoder: Fitted on the training graphs.
        encoded: All graphs, encoded, with targets in the form of the objective.
        train: Rows of the training graphs.
        validation: Rows of the validation graphs.
        outputs: Number of outputs of a network.
        fits: How often there was a fit before; part of the names of random streams.
    """

    encoder: Encoder
    encoded: GraphSet
    train: Rows
    validation: Rows
    outputs: int
    fits: int = 0


@dataclass(frozen=True)
class Conditions:
    """How a network is trained, besides its settings.

    Attributes:
        after_epoch: Called with the history after each epoch.
        workers: Processes that train it together.
        checkpoints: Folder in which the same fit goes on where it was interrupted.
    """

    after_epoch: Callable[[Progress], None]
    workers: int = 1
    checkpoints: Path | None = None


@dataclass(frozen=True)
class FittedNetwork:
    """One fitted network.

    Attributes:
        network: With the weights of the best epoch.
        history: Losses and scores of every epoch.
        outputs: Its outputs for the validation graphs.
    """

    network: GraphNetwork
    history: Progress
    outputs: Tensor


def fit_network(
    data: FitData,
    plan: FitPlan,
    member: int,
    start: GraphNetwork | None,
    how: Conditions,
) -> FittedNetwork:
    """Fit one network.

    Args:
        data: The graphs.
        plan: All settings.
        member: Which member of an ensemble it is; part of the names of random streams.
        start: Network to continue from, which is copied; ``None`` for new weights.
        how: What does not change the network, besides the number of processes.
    """
    encoded, validation = data.encoded, data.validation
    if start is None:
        network = new_network(data.encoder, data.outputs, plan, encoded[data.train], member)
    else:
        network = deepcopy(start)
    part = encoded[validation] if len(validation) else None
    seed, scope = member_seed(plan.options.seed, member), ("estimator", "fit", data.fits)
    best, history = _train(network, encoded[data.train], part, plan, seed, scope, how)
    network.load_state_dict(best)
    # The nodes of a cluster may have accelerators that this machine has not.
    device = resolve_device(plan.options.device) if plan.options.ray is None else CPU
    network.to(device)
    validated = run(network.eval(), encoded[validation], device, plan.training.precision)
    return FittedNetwork(network.to(CPU), history, validated)


def _train(
    network: GraphNetwork,
    train: GraphSet,
    validation: GraphSet | None,
    plan: FitPlan,
    seed: int,
    scope: Scope,
    how: Conditions,
) -> tuple[Weights, Progress]:
    """Return the weights of the best epoch and the history."""
    with_objective: dict[str, Any] = {
        "objective": plan.objective,
        "patience": plan.options.patience,
    }
    if how.workers == 1 and plan.options.ray is None and how.checkpoints is None:
        training = Training(
            network, train, validation, plan.training, seed, scope, **with_objective
        )
        training.run(lambda now: how.after_epoch(now.progress))
        return training.best, training.progress
    # A cluster that does not answer is found before the graphs are written to a folder.
    with connected(plan.options.ray), fit_folder(how.checkpoints) as folder:
        fit = shared_fit(
            folder,
            network,
            train,
            validation,
            plan.training,
            seed,
            scope,
            ranks=how.workers,
            sync_batch_norm=_SYNC[plan.options.sync_batch_norm],
            **with_objective,
        )
        return train_together(fit, how.after_epoch, plan.options.ray)


def partial_fit_networks(
    graphs: GraphSet,
    networks: Sequence[GraphNetwork],
    encoder: Encoder,
    plan: FitPlan,
    call: int,
    optimizers: Sequence[torch.optim.Optimizer],
) -> list[tuple[float, float]]:
    """Train each network for one epoch on some graphs; return their mean losses and scores.

    Args:
        graphs: With targets in the form of the objective.
        networks: Are trained in place.
        encoder: Is used as it is.
        plan: All settings.
        call: Number of epochs before this call; part of the names of random streams.
        optimizers: One for each network; they keep their states between calls.
    """
    options = plan.options
    encoded = encoder.transform(graphs, workers=options.workers, progress=options.progress)
    device = resolve_device(options.device)
    return [
        _partial_fit(encoded, network, plan, call, optimizer, member, device)
        for member, (network, optimizer) in enumerate(zip(networks, optimizers, strict=True))
    ]


def _partial_fit(
    encoded: GraphSet,
    network: GraphNetwork,
    plan: FitPlan,
    call: int,
    optimizer: torch.optim.Optimizer,
    member: int,
    device: torch.device,
) -> tuple[float, float]:
    size, seed = plan.training.batch_size, member_seed(plan.options.seed, member)
    order = torch.Generator().manual_seed(seed_for(seed, "estimator", "order", call))
    rows = torch.randperm(len(encoded), generator=order)
    network.to(device)  # and stays there, as the state of the optimizer does
    dropout = seed_for(seed, "estimator", "dropout", call)
    with draw_from(dropout), memory_errors_explained(network.settings, size):
        parts = batches(on_device(encoded, device), rows, size)
        try:
            return train_pass(network, parts, optimizer, plan.objective, plan.options.precision)
        except DivergedError as error:
            raise DivergedError(
                f"{error} in call {call + 1}; start again with a learning rate below "
                f"{plan.training.learning_rate}"
            ) from None


def new_encoder(train: GraphSet, plan: FitPlan) -> Encoder:
    """Return an encoder fitted on the training graphs."""
    warn_of_unused_edges(plan.network, train.name, edge_data=train.has_edge_data)
    return Encoder(plan.encoding, edges=plan.network.uses_edges).fit(train)


def new_network(
    encoder: Encoder, outputs: int, plan: FitPlan, train: GraphSet, member: int = 0
) -> GraphNetwork:
    """Return a network with random weights that depend on seed and member alone."""
    seed = member_seed(plan.options.seed, member)
    with initialize_from(seed_for(seed, "estimator", "weights")):
        return build_network(
            encoder.width,
            outputs,
            plan.network,
            edge_features=encoder.edge_width,
            train=train,
        )


def validation_parts(
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


class FitBar:
    """A progress bar on standard error.

    Args:
        bar: What is drawn.
        epochs: Number of epochs of a network, at most.
        members: Number of networks.
        every: Number of epochs after which there is a line; 0 for none.
    """

    def __init__(self, bar: ProgressBar, epochs: int, members: int, every: int = 0) -> None:
        self._bar, self._epochs, self._members, self._every = bar, epochs, members, every
        self._done = [0] * members
        self._task = bar.add_task("fitting", total=epochs * members, note="")

    def after_epoch(self, history: Progress, member: int = 0) -> None:
        """Show the last epoch of a network."""
        self._done[member] = history.epochs
        part = "validation" if history.has_validation else "training"
        which = f"member {member + 1} of {self._members}: " if self._members > 1 else ""
        text = f"{which}loss {history.loss[-1]:.3f}, {part} {history.validation[-1]:.3f}"
        self._bar.update(self._task, completed=sum(self._done), note=text)
        if self._every and history.epochs % self._every == 0:
            self._bar.console.print(
                f"epoch {history.epochs}/{self._epochs}: {text}", highlight=False, markup=False
            )

    def end(self, member: int) -> None:
        """Count all epochs of a network as done, also those that patience left out."""
        if self._members > 1:
            self._done[member] = self._epochs


@contextmanager
def progress_bar(epochs: int, members: int = 1, *, shown: bool, every: int = 0) -> Iterator[FitBar]:
    """Show a progress bar on standard error.

    Args:
        epochs: Number of epochs of a network, at most.
        members: Number of networks.
        shown: Whether there is a bar at all.
        every: Number of epochs after which there is a line; 0 for none.
    """
    columns = (TextColumn("fitting"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    note = TextColumn("{task.fields[note]}")
    with ProgressBar(*columns, note, console=Console(stderr=True), disable=not shown) as bar:
        yield FitBar(bar, epochs, members, every)
