"""A model in a folder: weights in safetensors, the rest in JSON; nothing in it is ever run."""

import hashlib
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

from lfds.data.atomic_io import atomic_folder, check_overwrite, previous_folder
from lfds.data.encodings.encoder import Encoder
from lfds.data.errors import DataError
from lfds.estimator.card_file import card_text, file_content, read_card, read_head, unsound
from lfds.estimator.model_card import ModelCard
from lfds.estimator.weights import network_from, weights_of
from lfds.nn import GraphNetwork

CARD, WEIGHTS, ENCODER = "model.json", "weights.safetensors", "encoder.json"
_OURS = frozenset((CARD, WEIGHTS, ENCODER)).__contains__


@dataclass(frozen=True)
class SavedModel:
    """What a folder holds.

    Attributes:
        card: Everything that is no tensor.
        network: With its weights.
        encoder: Fitted.
    """

    card: ModelCard
    network: GraphNetwork
    encoder: Encoder


def files_of(network: GraphNetwork, encoder: Encoder) -> dict[str, bytes]:
    """Return the files of a model, its card apart."""
    return {WEIGHTS: weights_of(network), ENCODER: encoder.to_json().encode()}


def digests(files: dict[str, bytes]) -> dict[str, str]:
    """Return the SHA-256 of each file."""
    return {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}


def check_replaceable(path: str | PathLike[str]) -> None:
    """Raise if a model at ``path`` would take the place of something that is no model."""
    folder = Path(path)
    check_overwrite(folder, _OURS)
    if not folder.exists() or not any(folder.iterdir()):
        return
    try:
        read_head(folder / CARD)
    except DataError as error:
        raise DataError(
            f"holds no model of lfds, for it has no {CARD} that says so, and is not replaced by "
            "one; choose a new folder",
            source=folder,
        ) from error


def save_model(path: str | PathLike[str], card: ModelCard, files: dict[str, bytes]) -> None:
    """Write a model beside ``path``, then put it there; a model that is there steps aside."""
    check_replaceable(path)
    with atomic_folder(Path(path), replaceable=_OURS) as folder:
        for name, content in files.items():
            (folder / name).write_bytes(content)
        (folder / CARD).write_text(card_text(card), encoding="utf-8")


def load_model(path: str | PathLike[str]) -> SavedModel:
    """Read a model, and prove that it is what was written."""
    folder = Path(path)
    if not folder.is_dir():
        raise _no_folder(folder)
    card = read_card(folder / CARD)
    files = {name: _read(folder / name, card.files.get(name)) for name in (WEIGHTS, ENCODER)}
    encoder = Encoder.from_json(files[ENCODER])
    if encoder.width != card.features:
        raise unsound(folder / ENCODER, f"makes {encoder.width} features, not {card.features}")
    network = network_from(files[WEIGHTS], card, folder / WEIGHTS)
    return SavedModel(card, network.eval(), encoder)


def _read(file: Path, expected: str | None) -> bytes:
    content = file_content(file)
    if hashlib.sha256(content).hexdigest() != expected:
        raise unsound(file, "its checksum differs")
    return content


def _no_folder(folder: Path) -> DataError:
    old = None if folder.exists() else previous_folder(folder)
    if old is None:
        return DataError("is no model: a folder written by save is needed", source=folder)
    return DataError(
        f"is not there: a save was cut short, and the model from before is {old}; move it to "
        f"{folder}, or save again",
        source=folder,
    )
