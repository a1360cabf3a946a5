"""Data-parallel training on a Ray cluster, by Ray Train; all nodes share the folder of the fit.

Where a worker or a node is lost, Ray Train starts the group again on what is left, and it goes on
from the last checkpoint.
"""

import pickle
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from threading import Event, Thread
from typing import Any

import torch
from threadpoolctl import threadpool_limits

from lfds import __version__
from lfds.config.messages import SpecError
from lfds.data.shards.engines import connected
from lfds.train.distributed import (
    MAX_RESTARTS,
    TIMEOUT,
    USER_ERRORS,
    OnEpoch,
    SharedFit,
    run_rank,
)
from lfds.train.loop import Progress

_ERRORS = {error.__name__: error for error in USER_ERRORS}
_POLL_SECONDS = 0.5


class Reports:
    """What the workers tell the driver: epochs, and the first error that a restart cannot mend."""

    def __init__(self) -> None:
        self._progress: Progress | None = None
        self._failure: tuple[str, str] | None = None

    def add(self, progress: Progress) -> None:
        """Keep the latest history."""
        self._progress = progress

    def take(self) -> Progress | None:
        """Return the history if there is a new one."""
        progress, self._progress = self._progress, None
        return progress

    def fail(self, kind: str, message: str) -> None:
        """Keep an error; the first one is the cause of others."""
        self._failure = self._failure or (kind, message)

    def failure(self) -> tuple[str, str] | None:
        """Return class and message of the error."""
        return self._failure


def train_on_ray(fit: SharedFit, address: str, on_epoch: OnEpoch) -> None:
    """Train on a cluster, one processor or accelerator for each rank.

    Args:
        fit: The training; its folder is shared by all nodes.
        address: Of the cluster, as ``host:port`` or ``auto``.
        on_epoch: Called in this process after epochs; not after each if they are short.
    """
    with connected(address) as ray:
        _train(ray, fit, on_epoch)


def _train(ray: Any, fit: SharedFit, on_epoch: OnEpoch) -> None:
    accelerated = _uses_accelerators(ray, fit)
    resource = "GPU" if accelerated else "CPU"
    found = int(ray.cluster_resources().get(resource, 0))
    if found < fit.ranks:
        raise SpecError(
            f"workers: {fit.ranks} processes need a {resource} each, and the cluster has {found}; "
            f"use workers={max(1, found)}"
        )
    device = "cuda" if accelerated else "cpu"
    fit = replace(fit, training=fit.training.model_copy(update={"device": device}))
    # Beside the driver: what it was told is lost with a node.
    here = ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy(
        ray.get_runtime_context().get_node_id(), soft=True
    )
    reports = ray.remote(Reports).options(num_cpus=0, scheduling_strategy=here).remote()
    trainer = _trainer_of(_loop(fit, reports), fit, accelerated)
    with _polled(ray, reports, on_epoch):
        error = _error_of(trainer)
    failure = None
    with suppress(ray.exceptions.RayError):
        failure = ray.get(reports.failure.remote())
    if failure is not None:
        kind, message = failure
        raise _ERRORS[kind](message) from error
    if error is not None:
        lines = str(error).splitlines() or [type(error).__name__]
        raise SpecError(
            f"ray: the cluster could not go on ({lines[0]}); the same fit goes on from its last "
            f"checkpoint"
        ) from error


def _error_of(trainer: Any) -> Exception | None:
    try:
        trainer.fit()
    except Exception as error:  # Ray wraps what workers raise in classes of several modules
        return error
    return None


def _uses_accelerators(ray: Any, fit: SharedFit) -> bool:
    name = fit.training.device
    if name == "auto":
        return bool(ray.cluster_resources().get("GPU", 0) >= fit.ranks)
    if name.partition(":")[0] not in ("cpu", "cuda"):
        raise SpecError(f'device: a cluster computes on "cpu" or "cuda", not "{name}"')
    return name != "cpu"


def _trainer_of(loop: Callable[[], None], fit: SharedFit, accelerated: bool) -> Any:
    try:
        from ray.train import FailureConfig, RunConfig, ScalingConfig
        from ray.train.torch import TorchConfig, TorchTrainer
    except ImportError as error:
        raise SpecError(
            "Ray Train is not installed; install it with: pip install 'lfds[ray]'"
        ) from error
    backend = "nccl" if accelerated else "gloo"
    return TorchTrainer(
        loop,
        torch_config=TorchConfig(backend=backend, timeout_s=int(TIMEOUT.total_seconds())),
        scaling_config=ScalingConfig(num_workers=fit.ranks, use_gpu=accelerated),
        run_config=RunConfig(
            name=f"run-{secrets.token_hex(8)}",
            storage_path=str(fit.folder / "ray"),
            failure_config=FailureConfig(max_failures=MAX_RESTARTS),
        ),
    )


def _loop(fit: SharedFit, reports: Any) -> Callable[[], None]:
    """Return what every worker runs.

    A function inside of a function is sent by value, and the fit as bytes: a node with another
    version of lfds can say so, instead of failing to read either.
    """
    version, content = __version__, pickle.dumps(fit)

    def loop() -> None:
        import socket

        import ray

        if ray.get(reports.failure.remote()) is not None:
            return  # a restart after an error that it cannot mend
        try:
            import lfds

            found = lfds.__version__
        except ImportError:
            found = "not installed"
        if found != version:
            problem = (
                f"ray: the node {socket.gethostname()} has lfds {found}, and this one {version}; "
                f"install the same version on all nodes"
            )
            ray.get(reports.fail.remote("SpecError", problem))
            raise RuntimeError(problem)
        from lfds.train.ray_train import work

        work(content, reports)

    return loop


def work(content: bytes, reports: Any) -> None:
    """Train as one rank of the group that Ray Train has started.

    Args:
        content: The pickled fit.
        reports: Handle of :class:`Reports`.
    """
    import ray

    fit: SharedFit = pickle.loads(content)
    try:
        with threadpool_limits(1):
            torch.set_num_threads(1)
            run_rank(fit, fit.as_rank, lambda progress: reports.add.remote(progress) and None)
    except USER_ERRORS as error:
        kind = next(name for name, one in _ERRORS.items() if isinstance(error, one))
        ray.get(reports.fail.remote(kind, str(error)))
        raise


@contextmanager
def _polled(ray: Any, reports: Any, on_epoch: OnEpoch) -> Iterator[None]:
    """Tell about epochs while the block runs; where the reports are lost, only the bar suffers."""
    ended = Event()

    def poll() -> None:
        while not ended.wait(_POLL_SECONDS):
            try:
                progress = ray.get(reports.take.remote())
            except ray.exceptions.RayError:
                return
            if progress is not None:
                on_epoch(progress)

    thread = Thread(target=poll, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
