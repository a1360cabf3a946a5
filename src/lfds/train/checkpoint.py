"""Checkpoints of unfinished trainings: one safetensors file with tensors and JSON, no code."""

import hashlib
import json
import os
import warnings
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from pydantic import TypeAdapter
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from lfds.config.migrations import (
    SCHEMA_VERSION,
    VERSION_KEY,
    check_version,
    migrate_weights,
)
from lfds.data.atomic_io import atomic_write
from lfds.data.errors import DataError
from lfds.train.device import backend_of
from lfds.train.loop import Progress, Training, Weights

_MODEL, _ADAM, _BEST, _EMA = "model/", "adam/", "best/", "mean/"
_BACKEND, _CHECKSUM = "backend", "checksum"
_PROGRESS = TypeAdapter(Progress)
_INVALID = (OSError, SafetensorError, KeyError, IndexError, ValueError, RuntimeError)
_MAX_REASON = 200
_MOMENTS = {"step", "exp_avg", "exp_avg_sq"}

UNUSED = ".unused"
"""What is added to the name of a checkpoint that is moved aside."""


def save_checkpoint(training: Training, path: Path, key: str) -> None:
    """Write the state of a training atomically.

    On a full disk the checkpoint is skipped, and an earlier one stays; the training goes on.
    """
    tensors = {_MODEL + name: value for name, value in training.model.state_dict().items()}
    tensors |= {_BEST + name: value for name, value in training.best.items()}
    tensors |= {_EMA + name: value for name, value in training.ema.state_dict().items()}
    for number, moments in training.optimizer.state_dict()["state"].items():
        tensors |= {f"{_ADAM}{number}/{name}": value for name, value in moments.items()}
    separate = {name: value.clone().contiguous() for name, value in tensors.items()}
    metadata = {
        "key": key,
        VERSION_KEY: json.dumps(SCHEMA_VERSION),
        _BACKEND: _backend_of(training),
        "progress": json.dumps(_PROGRESS.dump_python(training.progress)),
    }
    metadata[_CHECKSUM] = _checksum(separate, metadata)
    with suppress(DataError):
        atomic_write(path, save(separate, metadata))


def restore_checkpoint(training: Training, path: Path, key: str) -> bool:
    """Bring a training to where it was; return whether there is a valid checkpoint of it.

    A checkpoint that is damaged, of another training or of another backend is moved aside, to
    ``NAME.unused``, with a warning that says so: the training begins anew.
    """
    if not path.exists():
        return False
    try:
        state = _read(training, path, key)
    except _INVALID as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        aside = path.with_name(f"{path.name}{UNUSED}")
        with suppress(OSError):
            os.replace(path, aside)
        warnings.warn(
            f"{path.name}: the checkpoint is not used ({reason[:_MAX_REASON]}) and was moved to "
            f"{aside.name}; its training begins anew",
            CheckpointWarning,
            stacklevel=2,
        )
        return False
    training.model.load_state_dict(state.model)
    training.optimizer.load_state_dict(state.moments)
    training.best = state.best
    training.ema.load_state_dict(state.ema, state.progress.epochs)
    training.progress = state.progress
    return True


class CheckpointWarning(UserWarning):
    """A checkpoint is not used."""


@dataclass(frozen=True)
class _State:
    """The content of a checkpoint, checked against its training."""

    progress: Progress
    model: Weights
    best: Weights
    ema: Weights
    moments: dict[str, Any]


def _read(training: Training, path: Path, key: str) -> _State:
    """Read and check everything before anything is changed."""
    if not path.is_file():
        raise ValueError("it is not a regular file")
    with safe_open(path, framework="pt") as file:
        metadata = file.metadata() or {}
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    if metadata.get("key") != key:
        raise ValueError("it is of another training")
    check_version(json.loads(metadata.get(VERSION_KEY, "1")))
    # Checkpoints before 0.1 have neither a checksum nor a backend.
    if metadata.get(_CHECKSUM, _checksum(tensors, metadata)) != _checksum(tensors, metadata):
        raise ValueError("it is damaged: its checksum differs")
    here = _backend_of(training)
    if metadata.get(_BACKEND, here) != here:
        raise ValueError(
            f"it is of {metadata[_BACKEND]}, and this is {here}: the bits would differ"
        )
    progress = _PROGRESS.validate_python(json.loads(metadata["progress"]))
    _check_progress(progress, training)
    needed = training.model.state_dict()
    model, best, ema = (_weights(tensors, part, needed) for part in (_MODEL, _BEST, _EMA))
    if not (model and best):
        raise ValueError("it has no weights")
    return _State(progress, model, best, ema, _moments(training, _under(_ADAM, tensors)))


def _check_progress(progress: Progress, training: Training) -> None:
    curves = (progress.train, progress.validation, progress.validation_loss)
    if any(len(curve) != progress.epochs for curve in curves):
        raise ValueError("its curves differ in length")
    if not -1 <= progress.best < progress.epochs <= training.settings.epochs:
        raise ValueError("it has more epochs than the training")


def _checksum(tensors: Weights, metadata: Mapping[str, str]) -> str:
    named = sorted(item for item in metadata.items() if item[0] != _CHECKSUM)
    digest = hashlib.sha256(json.dumps(named).encode())
    for name in sorted(tensors):
        value = tensors[name]
        digest.update(f"{name} {value.dtype} {tuple(value.shape)}".encode())
        digest.update(value.cpu().reshape(-1).view(torch.uint8).numpy().data)
    return digest.hexdigest()


def _backend_of(training: Training) -> str:
    return backend_of(next(training.model.parameters()).device)


def _weights(tensors: Weights, prefix: str, needed: Weights) -> Weights:
    """Return stored weights by the names of today's network; empty where none are stored."""
    stored = _under(prefix, tensors)
    places = migrate_weights(stored, needed if stored else ())
    found = {name: stored[place] for name, place in places.items()}
    for name, value in found.items():
        if value.shape != needed[name].shape or value.dtype != needed[name].dtype:
            raise ValueError(f"{prefix}{name} is {value.dtype} {list(value.shape)}")
        if not bool(value.isfinite().all()):
            raise ValueError(f"{prefix}{name} is not finite")
    return found


def _under(prefix: str, tensors: Weights) -> Weights:
    return {
        name.removeprefix(prefix): value
        for name, value in tensors.items()
        if name.startswith(prefix)
    }


def _moments(training: Training, tensors: Weights) -> dict[str, Any]:
    """Return the state of the optimizer."""
    state: dict[int, dict[str, Tensor]] = {}
    parameters = [one for group in training.optimizer.param_groups for one in group["params"]]
    for name, value in tensors.items():
        number, moment = name.split("/")
        if value.ndim and value.shape != parameters[int(number)].shape:
            raise ValueError(f"{_ADAM}{name} is {list(value.shape)}")
        if not bool(value.isfinite().all()):
            raise ValueError(f"{_ADAM}{name} is not finite")
        state.setdefault(int(number), {})[moment] = value
    for position, moments in state.items():
        if set(moments) != _MOMENTS:
            raise ValueError(f"{_ADAM}{position} has {', '.join(sorted(moments))}")
    return {"state": state, "param_groups": training.optimizer.state_dict()["param_groups"]}
