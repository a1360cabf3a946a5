"""The networks of an ensemble, fitted one after the other or in parallel processes."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits
from torch import Tensor

from lfds.data.encodings.encoder import Encoder
from lfds.data.errors import DataError
from lfds.data.graphset import GraphSet
from lfds.data.shards.sharded_set import ShardedGraphSet
from lfds.estimator.fitting import (
    Conditions,
    FitBar,
    FitData,
    FitPlan,
    FittedNetwork,
    Rows,
    fit_network,
    new_encoder,
    progress_bar,
    validation_parts,
)
from lfds.nn import GraphNetwork
from lfds.processes import Died, run_in_processes
from lfds.train.distributed import USER_ERRORS, fit_folder
from lfds.train.loop import Progress

_GRAPHS = "graphs"


@dataclass(frozen=True)
class WarmStart:
    """Fitted networks to continue from.

    Attributes:
        networks: Their weights are copied.
        encoder: The encoder they were fitted with.
        fits: How often they were fitted before; part of the names of random streams.
    """

    networks: Sequence[GraphNetwork]
    encoder: Encoder
    fits: int


@dataclass(frozen=True)
class FitResult:
    """Fitted networks.

    Attributes:
        networks: The members, each with the weights of its best epoch.
        encoder: Fitted on the training graphs.
        histories: Losses and scores of every epoch of each member.
        validation: Rows of the validation graphs.
        outputs: The outputs of each member for them, ``[members, graphs, outputs]``.
    """

    networks: tuple[GraphNetwork, ...]
    encoder: Encoder
    histories: tuple[Progress, ...]
    validation: Rows
    outputs: Tensor


def fit_networks(
    graphs: GraphSet,
    strata: NDArray[np.integer],
    outputs: int,
    plan: FitPlan,
    start: WarmStart | None,
    held_out: Rows | None = None,
    checkpoints: Path | None = None,
) -> FitResult:
    """Fit the members of an ensemble, or the one network.

    All members have the same encoder, training and validation graphs; they differ in their random
    streams. With several members each is fitted on one thread, so that the number of processes
    changes no bit of them.

    Args:
        graphs: With targets ``y`` in the form of the objective.
        strata: Class of each graph, for a stratified validation split; zeros for regression.
        outputs: Number of outputs of a network.
        plan: All settings.
        start: Networks to continue from; ``None`` for new weights.
        held_out: Rows of the validation graphs; by default they are drawn, whole groups if the
            graphs have groups.
        checkpoints: Folder in which the same fit goes on where it was interrupted.
    """
    options = plan.options
    train, validation = validation_parts(graphs, strata, options, held_out)
    encoder = new_encoder(graphs[train], plan) if start is None else start.encoder
    encoded = encoder.transform(graphs, workers=options.workers, progress=options.progress)
    data = FitData(encoder, encoded, train, validation, outputs, 0 if start is None else start.fits)
    networks = None if start is None else start.networks
    shown, every = options.progress, int(options.verbose)
    with progress_bar(plan.training.epochs, options.members, shown=shown, every=every) as bar:
        # A set in parts is on disk because memory is short: one member reads it at a time.
        in_parts = isinstance(encoded, ShardedGraphSet)
        if min(options.members, options.workers) > 1 and options.ray is None and not in_parts:
            found = _fit_in_processes(data, plan, networks, bar, checkpoints)
        else:
            found = _fit_in_turn(data, plan, networks, bar, checkpoints)
    return FitResult(
        tuple(one.network for one in found),
        encoder,
        tuple(one.history for one in found),
        validation,
        torch.stack([one.outputs for one in found]),
    )


def _fit_in_turn(
    data: FitData,
    plan: FitPlan,
    start: Sequence[GraphNetwork] | None,
    bar: FitBar,
    checkpoints: Path | None,
) -> list[FittedNetwork]:
    found = []
    members = plan.options.members
    # A single network is trained by all processes together, and so is each on a cluster.
    together = members == 1 or plan.options.ray is not None
    workers = plan.options.workers if together else 1
    with nullcontext() if members == 1 else one_thread():
        for member in range(members):
            how = Conditions(partial(bar.after_epoch, member=member), workers, checkpoints)
            network = None if start is None else start[member]
            found.append(fit_network(data, plan, member, network, how))
            bar.end(member)
    return found


@dataclass(frozen=True)
class _MemberTask:
    """One member to fit in a process of its own.

    Attributes:
        folder: Where the encoded graphs are saved, which the process maps into memory.
        data: Makes the data of the fit from the graphs.
        plan: All settings.
        member: Its number.
        start: Network to continue from.
        checkpoints: Folder of checkpoints.
    """

    folder: Path
    data: Callable[[GraphSet], FitData]
    plan: FitPlan
    member: int
    start: GraphNetwork | None
    checkpoints: Path | None


def _fit_in_processes(
    data: FitData,
    plan: FitPlan,
    start: Sequence[GraphNetwork] | None,
    bar: FitBar,
    checkpoints: Path | None,
) -> list[FittedNetwork]:
    found: dict[int, FittedNetwork] = {}

    def step(task: _MemberTask, history: Progress) -> None:
        bar.after_epoch(history, task.member)

    def end(task: _MemberTask, result: FittedNetwork | Exception | Died) -> None:
        if isinstance(result, Died):
            raise _lost(task.member, result)
        if isinstance(result, Exception):
            raise result
        found[task.member] = result
        bar.end(task.member)

    rest = partial(
        FitData,
        data.encoder,
        train=data.train,
        validation=data.validation,
        outputs=data.outputs,
        fits=data.fits,
    )
    members = range(plan.options.members)
    with _saved(data.encoded) as folder:
        tasks = [
            _MemberTask(
                folder, rest, plan, member, None if start is None else start[member], checkpoints
            )
            for member in members
        ]
        run_in_processes(tasks, _fit_member, plan.options.workers, step, end)
    return [found[member] for member in members]


def _fit_member(task: _MemberTask, report: Callable[[Progress], None]) -> FittedNetwork | Exception:
    """Fit a member in this process; errors that a user can cause are returned."""
    try:
        data = task.data(GraphSet.load(task.folder))
        with one_thread():
            how = Conditions(report, checkpoints=task.checkpoints)
            return fit_network(data, task.plan, task.member, task.start, how)
    except (*USER_ERRORS, MemoryError) as error:
        return error


@contextmanager
def one_thread() -> Iterator[None]:
    """Compute on one thread: sums depend on how they are split over several."""
    before = torch.get_num_threads()
    with threadpool_limits(1):
        torch.set_num_threads(1)
        try:
            yield
        finally:
            torch.set_num_threads(before)


@contextmanager
def _saved(encoded: GraphSet) -> Iterator[Path]:
    """Save graphs in the folder of temporary files as long as processes need them."""
    names = () if encoded.y.is_floating_point() else tuple(range(max(2, int(encoded.y.max()) + 1)))
    # Targets are those of the objective, which their original names may not fit.
    plain = replace(encoded, classes=names, target_names=())
    with fit_folder(None) as folder:
        plain.save(folder / _GRAPHS)
        yield folder / _GRAPHS


def _lost(member: int, died: Died) -> DataError:
    fix = "use 1" if died.code < 0 else "a script needs 'if __name__ == \"__main__\":', or use 1"
    return DataError(
        f"the process that fitted member {member} {died.reason}; {fix}", source="workers"
    )
