"""A training half done, kept in one file of numbers and JSON; nothing in it is code."""

import json
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path

from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from lfds.data.atomic_io import atomic_write
from lfds.data.errors import DataError
from lfds.train.loop import Progress, Training

_MODEL, _ADAM, _BEST, _MEAN = "model/", "adam/", "best/", "mean/"


def save_checkpoint(training: Training, path: Path, key: str) -> None:
    """Write down where a training is, whole or not at all.

    What a full disk costs is the checkpoint, not the training: the last one stays, if there is one.
    """
    tensors = {_MODEL + name: value for name, value in training.model.state_dict().items()}
    tensors |= {_BEST + name: value for name, value in training.best.items()}
    tensors |= {_MEAN + name: value for name, value in training.averaged.state().items()}
    for number, moments in training.optimizer.state_dict()["state"].items():
        tensors |= {f"{_ADAM}{number}/{name}": value for name, value in moments.items()}
    apart = {name: value.clone().contiguous() for name, value in tensors.items()}
    about = {"key": key, "progress": json.dumps(asdict(training.progress))}
    with suppress(DataError):
        atomic_write(path, save(apart, about))


def restore_checkpoint(training: Training, path: Path, key: str) -> bool:
    """Bring a training to where it was; whatever is not a sound checkpoint of it is forgotten."""
    try:
        with safe_open(path, framework="pt") as file:
            about = file.metadata() or {}
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        if about.get("key") != key:
            return False
        progress = Progress(**json.loads(about["progress"]))
    except (OSError, SafetensorError, KeyError, TypeError, ValueError):
        return False
    training.model.load_state_dict(_under(_MODEL, tensors))
    _restore_moments(training, _under(_ADAM, tensors))
    training.best = _under(_BEST, tensors)
    training.averaged.restore(_under(_MEAN, tensors), progress.epochs)
    training.progress = progress
    return True


def _under(prefix: str, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    return {
        name.removeprefix(prefix): value
        for name, value in tensors.items()
        if name.startswith(prefix)
    }


def _restore_moments(training: Training, tensors: dict[str, Tensor]) -> None:
    state: dict[int, dict[str, Tensor]] = {}
    for name, value in tensors.items():
        number, moment = name.split("/")
        state.setdefault(int(number), {})[moment] = value
    groups = training.optimizer.state_dict()["param_groups"]
    training.optimizer.load_state_dict({"state": state, "param_groups": groups})
