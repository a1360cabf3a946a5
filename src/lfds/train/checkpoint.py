"""Checkpoints of unfinished trainings: one safetensors file with tensors and JSON, no code."""

import json
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

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
from lfds.train.loop import Progress, Training, Weights

_MODEL, _ADAM, _BEST, _EMA = "model/", "adam/", "best/", "mean/"
_PROGRESS = TypeAdapter(Progress)


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
        "progress": json.dumps(_PROGRESS.dump_python(training.progress)),
    }
    with suppress(DataError):
        atomic_write(path, save(separate, metadata))


def restore_checkpoint(training: Training, path: Path, key: str) -> bool:
    """Bring a training to where it was; return False where there is no valid checkpoint of it."""
    names = training.model.state_dict().keys()
    try:
        with safe_open(path, framework="pt") as file:
            metadata = file.metadata() or {}
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        if metadata.get("key") != key:
            return False
        check_version(json.loads(metadata.get(VERSION_KEY, "1")))
        progress = _PROGRESS.validate_python(json.loads(metadata["progress"]))
        model, best, ema = (_weights(tensors, part, names) for part in (_MODEL, _BEST, _EMA))
    except (OSError, SafetensorError, KeyError, ValueError):
        return False
    training.model.load_state_dict(model)
    _restore_moments(training, _under(_ADAM, tensors))
    training.best = best
    training.ema.load_state_dict(ema, progress.epochs)
    training.progress = progress
    return True


def _weights(tensors: Weights, prefix: str, names: Iterable[str]) -> Weights:
    """Return stored weights by the names of today's network; empty where none are stored."""
    stored = _under(prefix, tensors)
    places = migrate_weights(stored, names if stored else ())
    return {name: stored[place] for name, place in places.items()}


def _under(prefix: str, tensors: Weights) -> Weights:
    return {
        name.removeprefix(prefix): value
        for name, value in tensors.items()
        if name.startswith(prefix)
    }


def _restore_moments(training: Training, tensors: Weights) -> None:
    state: dict[int, dict[str, Tensor]] = {}
    for name, value in tensors.items():
        number, moment = name.split("/")
        state.setdefault(int(number), {})[moment] = value
    groups = training.optimizer.state_dict()["param_groups"]
    training.optimizer.load_state_dict({"state": state, "param_groups": groups})
