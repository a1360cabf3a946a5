"""Data-parallel training: one model, trained by several processes that share a folder.

The folder of a fit holds what the processes read (graphs, memory-mapped, and initial weights) and
what they write (checkpoints and the result). It is named by everything that decides the result: the
same fit, started again in the same place, goes on from its last checkpoint.
"""

import fcntl
import hashlib
import json
import os
import re
import shutil
import socket
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from pydantic import TypeAdapter
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from threadpoolctl import threadpool_limits
from torch import Tensor

from lfds.config.messages import SpecError
from lfds.config.training import TrainingSettings
from lfds.data.atomic_io import atomic_write, make_folder
from lfds.data.edges import Ints
from lfds.data.errors import DataError
from lfds.data.graphset import GraphSet
from lfds.data.shards.sharded_set import ShardedGraphSet
from lfds.data.shards.writer import ShardWriter
from lfds.data.storage import content_of, is_saved_set
from lfds.data.temporary import temporary_folder
from lfds.nn import GraphNetwork, NetworkSettings
from lfds.processes import Died, run_in_processes
from lfds.train import DivergedError
from lfds.train.checkpoint import restore_checkpoint, save_checkpoint
from lfds.train.device import resolve_device
from lfds.train.loop import Progress, Scope, Training, Weights
from lfds.train.objective import Objective
from lfds.train.ranks import ManyRanks, OneRank, Ranks, smallest_batch

OnEpoch = Callable[[Progress], None]
USER_ERRORS = (DataError, DivergedError, SpecError)
"""What a user can cause, and a restart would not change."""

MAX_RESTARTS = 3
"""Restarts of a group that lost a process, as long as no epoch is completed in between."""

MIN_GRAPHS_OF_A_RANK = 16
"""Graphs of a batch that a process needs for batch-norm statistics of its own."""

CHECKPOINT_SECONDS = 10.0
"""Time between two checkpoints, at least."""

_TRAIN, _VALIDATION, _TARGETS = "train", "validation", "-targets.safetensors"
_START, _CHECKPOINT, _RESULT = "start.safetensors", "checkpoint.safetensors", "result.safetensors"
_PROGRESS = TypeAdapter(Progress)
_KEY = re.compile("[0-9a-f]{24}")
# The end of a process is noticed at once; this is for machines that disappear.
TIMEOUT = timedelta(minutes=10)
# Some file systems show a new file to other machines only after a while.
_SECONDS_TO_APPEAR = 60


@dataclass(frozen=True)
class SharedFit:
    """A training of a network, described so that any process can take part in it.

    Attributes:
        folder: Holds its graphs, weights and checkpoints; every process sees it.
        key: Names everything that decides the result.
        features: Number of features of a node.
        outputs: Number of outputs of the network.
        network: Settings of the network.
        training: Settings of the training.
        seed: Seed of the random streams.
        scope: Name of the random streams.
        objective: Loss and score.
        patience: See :class:`lfds.train.loop.Training`.
        ranks: Number of processes.
        edge_features: Number of features of an edge.
        sync_batch_norm: Whether batch norms see the rows of all processes.
        interval: Seconds between two checkpoints, at least.
    """

    folder: Path
    key: str
    features: int
    outputs: int
    network: NetworkSettings
    training: TrainingSettings
    seed: int
    scope: Scope
    objective: Objective
    patience: int | None
    ranks: int
    edge_features: int
    sync_batch_norm: bool
    interval: float

    def as_rank(self, train: GraphSet) -> Ranks:
        """Return what this process computes; with several ranks it is in torch's default group.

        Args:
            train: The training graphs.
        """
        if self.ranks == 1:
            return OneRank()
        device = resolve_device(self.training.device)
        return ManyRanks(train, device, sync_batch_norm=self.sync_batch_norm)

    def result(self) -> tuple[Weights, Progress] | None:
        """Return the weights of the best epoch and the history; None if there are none yet."""
        try:
            with safe_open(self.folder / _RESULT, framework="pt") as file:
                progress = (file.metadata() or {})["progress"]
                weights = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
            return weights, _PROGRESS.validate_json(progress)
        except (OSError, SafetensorError, KeyError, ValueError):
            return None


def shared_fit(
    parent: Path,
    network: GraphNetwork,
    train: GraphSet,
    validation: GraphSet | None,
    settings: TrainingSettings,
    seed: int,
    scope: Scope,
    *,
    objective: Objective,
    patience: int | None,
    ranks: int,
    sync_batch_norm: bool | None = None,
) -> SharedFit:
    """Write what the processes read; what is there from an interrupted fit is used again.

    Args:
        parent: Gets a folder for this fit.
        network: Its weights are the initial ones.
        train: The training graphs, encoded.
        validation: The validation graphs, encoded.
        settings: How to train.
        seed: Seed of the random streams.
        scope: Name of the random streams.
        objective: Loss and score.
        patience: See :class:`lfds.train.loop.Training`.
        ranks: Number of processes.
        sync_batch_norm: Whether batch norms see the rows of all processes; by default only where
            a process has few graphs of a batch.
    """
    check_ranks(ranks, len(train), settings)
    if sync_batch_norm is None:
        few = smallest_batch(len(train), settings.batch_size) < ranks * MIN_GRAPHS_OF_A_RANK
        sync_batch_norm = few
    start = save({name: value.contiguous() for name, value in network.state_dict().items()})
    parts = {_TRAIN: train} | ({} if validation is None else {_VALIDATION: validation})
    decisive = {
        "graphs": {name: content_of(graphs) for name, graphs in parts.items()},
        "start": hashlib.sha256(start).hexdigest(),
        "network": network.settings.model_dump(mode="json"),
        "training": settings.model_dump(mode="json"),
        "objective": [type(objective).__name__, _described(vars(objective))],
        "others": [seed, scope, patience, ranks, sync_batch_norm and ranks > 1],
    }
    key = hashlib.sha256(json.dumps(decisive, sort_keys=True).encode()).hexdigest()[:24]
    folder = parent.resolve() / key
    try:
        make_folder(folder)
    except OSError as error:
        raise DataError(f"cannot be written ({error.strerror})", source=parent) from error
    for name, graphs in parts.items():
        if not is_saved_set(folder / name):
            _store(graphs, folder / name)
        atomic_write(folder / f"{name}{_TARGETS}", save({"y": graphs.y.contiguous()}))
    atomic_write(folder / _START, start)
    return SharedFit(
        folder,
        key,
        train.width("x"),
        network.out_channels,
        network.settings,
        settings,
        seed,
        scope,
        objective,
        patience,
        ranks,
        edge_features=network.edge_channels,
        sync_batch_norm=sync_batch_norm,
        interval=CHECKPOINT_SECONDS,
    )


def _store(graphs: GraphSet, path: Path) -> None:
    """Save features and edges: a set that is in parts on disk again in parts, piece by piece."""
    if not isinstance(graphs, ShardedGraphSet):
        _needed(graphs).save(path)
        return
    shutil.rmtree(path, ignore_errors=True)  # parts that an interrupted fit wrote
    with ShardWriter(path) as writer:
        for piece in graphs.pieces():
            # Parts hold no features of edges, but attributes; see _graphs.
            needed = replace(_needed(piece), edge_attributes=piece.edge_x)
            writer.add(replace(needed, edge_x=piece.edge_x[:, :0]))


def _needed(graphs: GraphSet) -> GraphSet:
    """Return graphs without what no network sees, and without targets.

    The targets may be other ones than those that the classes of the set are for.
    """
    nodes, edges = graphs.x[:, :0], graphs.edge_attributes[:, :0]
    return replace(
        graphs,
        y=nodes.new_empty(len(graphs), 0),
        classes=(),
        target_names=(),
        attributes=nodes,
        labels=nodes.long(),
        label_values=(),
        edge_attributes=edges,
        edge_labels=edges.long(),
        coordinates=nodes,
        groups=graphs.groups[:, :0],
    )


def check_ranks(ranks: int, graphs: int, settings: TrainingSettings) -> None:
    """Raise a SpecError if there are more processes than graphs in a batch."""
    smallest = smallest_batch(graphs, settings.batch_size)
    if ranks > smallest:
        raise SpecError(
            f"workers: each of {ranks} processes needs a graph of every batch, and the smallest "
            f"batch of {graphs} training graphs has {smallest}; use workers={smallest}, or larger "
            f"batches"
        )


def _described(values: dict[str, Any]) -> dict[str, Any]:
    return {name: _plain(value) for name, value in values.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, Tensor):
        return value.tolist()
    inner = getattr(value, "__dict__", None)  # an objective inside another
    return value if inner is None else [type(value).__name__, _described(inner)]


@contextmanager
def fit_folder(given: Path | None) -> Iterator[Path]:
    """Yield a folder for fits: the given one, or a temporary one that is removed at the end."""
    if given is not None:
        yield given
        return
    with temporary_folder(Path(tempfile.gettempdir()) / "lfds-fit") as made:
        try:
            yield made
        finally:
            shutil.rmtree(made, ignore_errors=True)


def remove_fits(folder: Path) -> None:
    """Remove the fits in a folder, and the folder if nothing else is there."""
    with suppress(OSError):
        for entry in folder.iterdir():
            if _KEY.fullmatch(entry.name):
                shutil.rmtree(entry, ignore_errors=True)
        folder.rmdir()


@contextmanager
def locked(fit: SharedFit) -> Iterator[None]:
    """Keep the folder of a fit from being used twice; remove it when the fit is done.

    It stays where the same fit could go on from it. A fit that diverged would diverge again.
    """
    descriptor = os.open(fit.folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        _lock(descriptor, fit.folder)
        try:
            yield
        except DivergedError:
            shutil.rmtree(fit.folder, ignore_errors=True)
            raise
        shutil.rmtree(fit.folder, ignore_errors=True)
    finally:
        os.close(descriptor)


def _lock(descriptor: int, folder: Path) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise DataError(
            "another process is fitting the same model here; wait for it, or use another folder "
            "for checkpoints",
            source=folder.parent,
        ) from None
    except OSError:  # some file systems have no locks
        pass


def run_rank(fit: SharedFit, make_ranks: Callable[[GraphSet], Ranks], on_epoch: OnEpoch) -> None:
    """Train in this process, from the last checkpoint if there is one; rank 0 writes the result.

    Args:
        fit: The training.
        make_ranks: Returns what this process computes, given the training graphs.
        on_epoch: Called on rank 0 after every epoch.
    """
    train = _graphs(fit, _TRAIN)
    has_validation = is_saved_set(fit.folder / _VALIDATION)
    ranks = make_ranks(train)
    training = Training(
        _network(fit),
        train,
        _graphs(fit, _VALIDATION) if has_validation else None,
        fit.training,
        fit.seed,
        fit.scope,
        objective=fit.objective,
        patience=fit.patience,
        ranks=ranks,
    )
    _restore(fit, training, ranks)
    training.run(_after_epoch(fit, on_epoch) if ranks.rank == 0 else lambda _: None)
    if ranks.rank == 0:
        weights = {name: value.cpu().contiguous() for name, value in training.best.items()}
        progress = _PROGRESS.dump_json(training.progress).decode()
        atomic_write(fit.folder / _RESULT, save(weights, {"progress": progress}))


def _graphs(fit: SharedFit, name: str) -> GraphSet:
    if not is_saved_set(fit.folder / name):
        raise DataError(
            f"is not seen by the process on {socket.gethostname()}; checkpoints need a folder that "
            "all machines share",
            source=fit.folder.parent,
        )
    with safe_open(fit.folder / f"{name}{_TARGETS}", framework="pt") as file:
        graphs = GraphSet.load(fit.folder / name).with_targets(file.get_tensor("y"))
    if isinstance(graphs, ShardedGraphSet):
        return graphs.with_node_features(_StoredFeatures(fit.features, fit.edge_features))
    return graphs


@dataclass(frozen=True)
class _StoredFeatures:
    """The features of a set in parts: those of nodes as they are, those of edges as attributes."""

    width: int
    edge_width: int

    def __call__(self, graphs: GraphSet, numbers: Ints) -> Tensor:
        return graphs.x

    def edge_features(self, graphs: GraphSet) -> Tensor:
        return graphs.edge_attributes


def _network(fit: SharedFit) -> GraphNetwork:
    edges = fit.edge_features
    network = GraphNetwork(fit.features, fit.outputs, fit.network, edge_channels=edges)
    with safe_open(fit.folder / _START, framework="pt") as file:
        network.load_state_dict({name: file.get_tensor(name) for name in file.keys()})  # noqa: SIM118
    return network


def _restore(fit: SharedFit, training: Training, ranks: Ranks) -> None:
    """Go on from the last checkpoint; all ranks from the same one."""
    for _ in range(_SECONDS_TO_APPEAR):
        with warnings.catch_warnings():
            if ranks.rank:
                warnings.simplefilter("ignore")
            restore_checkpoint(training, fit.folder / _CHECKPOINT, fit.key)
        if ranks.agree(training.progress.epochs):
            return
        time.sleep(1)
    raise DataError(
        "processes see different checkpoints; they need a folder that all machines share",
        source=fit.folder.parent,
    )


def _after_epoch(fit: SharedFit, on_epoch: OnEpoch) -> Callable[[Training], None]:
    """Return the function that reports each epoch, and writes a checkpoint now and then."""
    written = time.monotonic()

    def after_epoch(training: Training) -> None:
        nonlocal written
        if time.monotonic() - written >= fit.interval:
            save_checkpoint(training, fit.folder / _CHECKPOINT, fit.key)
            written = time.monotonic()
        on_epoch(training.progress)

    return after_epoch


def train_together(
    fit: SharedFit, on_epoch: OnEpoch, ray: str | None = None
) -> tuple[Weights, Progress]:
    """Train, or go on; return the weights of the best epoch and the history.

    Args:
        fit: The training.
        on_epoch: Called in this process after every epoch.
        ray: Address of a Ray cluster to train on; this machine by default.
    """
    with locked(fit):
        if fit.result() is None:
            if ray is not None:
                from lfds.train.ray_train import train_on_ray

                train_on_ray(fit, ray, on_epoch)
            elif fit.ranks == 1:
                run_rank(fit, fit.as_rank, on_epoch)
            else:
                train_in_processes(fit, on_epoch)
        result = fit.result()
        assert result is not None
        return result


def train_in_processes(fit: SharedFit, on_epoch: OnEpoch) -> None:
    """Train in processes on this machine, one thread each; on accelerators one process for each.

    A group that loses a process is started again, and goes on from the last checkpoint.
    """
    check_devices(fit)
    restarts, furthest = 0, 0

    def step(progress: Progress) -> None:
        nonlocal restarts, furthest
        if progress.epochs > furthest:
            furthest, restarts = progress.epochs, 0
        on_epoch(progress)

    while True:
        try:
            _run_group(fit, step)
            return
        except _LostError as error:
            restarts += 1
            if restarts > MAX_RESTARTS:
                raise SpecError(
                    f"workers: in {restarts} attempts one of {fit.ranks} processes {error}; use "
                    f"fewer workers"
                ) from error


def check_devices(fit: SharedFit) -> None:
    """Raise a SpecError if this machine has fewer accelerators than processes."""
    device = resolve_device(fit.training.device)
    if device.type == "cpu":
        return
    found = torch.accelerator.device_count()
    if device.index is not None:
        raise SpecError(
            f'device: "{device}" is one accelerator, and {fit.ranks} processes need one each; use '
            f'device="{device.type}"'
        )
    if found < fit.ranks:
        raise SpecError(
            f"workers: {fit.ranks} processes need an accelerator each, and this machine has "
            f"{found}; use workers={found}"
        )


class _LostError(Exception):
    """A process of the group was killed."""


@dataclass(frozen=True)
class _RankTask:
    fit: SharedFit
    rank: int
    meeting: Path


@dataclass(frozen=True)
class _Failed:
    """An error that is nobody's fault but ours, or that of a process that disappeared."""

    reason: str


def _run_group(fit: SharedFit, on_epoch: OnEpoch) -> None:
    failed: list[str] = []

    def on_end(task: _RankTask, end: Exception | _Failed | Died | None) -> None:
        if isinstance(end, Died):
            if end.code > 0:
                raise SpecError(
                    f"workers: a process {end.reason}; a script that starts processes needs "
                    "'if __name__ == \"__main__\":'"
                )
            raise _LostError(end.reason)
        if isinstance(end, _Failed):
            # Others fail when one disappears: wait for the end of that one.
            failed.append(end.reason)
        elif end is not None:
            raise end

    with temporary_folder(Path(tempfile.gettempdir()) / "lfds-ranks") as place, _quiet_torch():
        try:
            run_in_processes(
                [_RankTask(fit, rank, place / "meeting") for rank in range(fit.ranks)],
                _work,
                fit.ranks,
                lambda _, progress: on_epoch(progress),
                on_end,
            )
        finally:
            shutil.rmtree(place, ignore_errors=True)
    if failed:
        raise RuntimeError(f"a process failed:\n{failed[0]}")


@contextmanager
def _quiet_torch() -> Iterator[None]:
    """Let processes started inside the block print errors of torch, and no hints about speed."""
    name = "TORCH_CPP_LOG_LEVEL"
    before = os.environ.get(name)
    os.environ[name] = before or "ERROR"
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]


def _work(task: _RankTask, report: OnEpoch) -> Exception | _Failed | None:
    try:
        with threadpool_limits(1):
            # Sums depend on how they are split over threads: one thread, the same bits everywhere.
            torch.set_num_threads(1)
            _join_group(task)
            try:
                run_rank(task.fit, task.fit.as_rank, report)
            finally:
                dist.destroy_process_group()
    except USER_ERRORS as error:
        return error
    except Exception:
        return _Failed(traceback.format_exc())
    return None


def _join_group(task: _RankTask) -> None:
    device, backend = resolve_device(task.fit.training.device), "gloo"
    if device.type == "cuda":
        torch.cuda.set_device(task.rank)
        backend = "nccl"
    loopback = next((name for _, name in socket.if_nameindex() if name in ("lo", "lo0")), None)
    if loopback is not None:  # nobody outside of this machine takes part
        os.environ.setdefault("GLOO_SOCKET_IFNAME", loopback)
    ranks = task.fit.ranks
    store = dist.FileStore(str(task.meeting), ranks)  # type: ignore[attr-defined]
    dist.init_process_group(backend, store=store, rank=task.rank, world_size=ranks, timeout=TIMEOUT)
