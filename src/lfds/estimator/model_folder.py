"""A model in a folder: weights in safetensors, the rest in JSON; nothing in it is ever run."""

import hashlib
import json
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from safetensors import SafetensorError
from safetensors.torch import load as tensors_from
from safetensors.torch import save as tensors_to
from torch import Tensor

from lfds.data.encodings.encoder import Encoder
from lfds.data.errors import DataError
from lfds.data.whole_file import check_nothing_is_lost, whole_folder
from lfds.estimator.model_card import ModelCard
from lfds.nn import GraphClassifier

FORMAT, VERSION = "lfds model", 1
CARD, WEIGHTS, ENCODER = "model.json", "weights.safetensors", "encoder.json"
_AGAIN = "copy or save the model again"


@dataclass(frozen=True)
class SavedModel:
    """What a folder holds.

    Attributes:
        card: Everything that is no tensor.
        network: With its weights.
        encoder: Fitted.
    """

    card: ModelCard
    network: GraphClassifier
    encoder: Encoder


def files_of(network: GraphClassifier, encoder: Encoder) -> dict[str, bytes]:
    """Return the files of a model, its card apart."""
    weights = {name: value.contiguous().clone() for name, value in network.state_dict().items()}
    return {WEIGHTS: tensors_to(weights), ENCODER: encoder.to_json().encode()}


def digests(files: dict[str, bytes]) -> dict[str, str]:
    """Return the SHA-256 of each file."""
    return {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}


def digest(written: object) -> str:
    """Return the SHA-256 of something as JSON, however it is spaced."""
    text = json.dumps(written, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def check_replaceable(path: str | PathLike[str]) -> None:
    """Raise if a model at ``path`` would take the place of something that is no model."""
    check_nothing_is_lost(Path(path), {CARD, WEIGHTS, ENCODER}.__contains__)


def save_model(path: str | PathLike[str], card: ModelCard, files: dict[str, bytes]) -> None:
    """Write a model beside ``path``, then put it in place in one step."""
    written = card.model_dump(mode="json")
    head = {"format": FORMAT, "version": VERSION, "sha256": digest(written), "model": written}
    with whole_folder(Path(path), ours={CARD, *files}.__contains__) as folder:
        for name, content in files.items():
            (folder / name).write_bytes(content)
        (folder / CARD).write_text(json.dumps(head, indent=1) + "\n", encoding="utf-8")


def load_model(path: str | PathLike[str]) -> SavedModel:
    """Read a model, and prove that it is what was written."""
    folder = Path(path)
    card = _read_card(folder)
    files = {name: _read(folder, name, card.files.get(name)) for name in (WEIGHTS, ENCODER)}
    encoder = Encoder.from_json(files[ENCODER])
    if encoder.width != card.features:
        raise _unsound(folder / ENCODER, f"makes {encoder.width} features, not {card.features}")
    network = GraphClassifier(card.features, card.meaning.outputs, card.network)
    _fill(network, files[WEIGHTS], folder / WEIGHTS)
    return SavedModel(card, network.eval(), encoder)


def _read_card(folder: Path) -> ModelCard:
    source = folder / CARD
    if not folder.is_dir():
        raise DataError("is no model: a folder written by save is needed", source=folder)
    content = _content(source)  # outside: what it raises is a ValueError as well
    try:
        head: Any = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise DataError(f"cannot be read as JSON ({error}); {_AGAIN}", source=source) from error
    if not isinstance(head, dict) or head.get("format") != FORMAT:
        raise DataError(f'is no model: it needs "format": "{FORMAT}"', source=source)
    version = head.get("version")
    if version != VERSION:
        newer = isinstance(version, int) and version > VERSION
        way = "update lfds" if newer else _AGAIN
        raise DataError(
            f"is in format {version!r}, and this lfds reads format {VERSION}; {way}", source=source
        )
    # Of what is in the file: a setting that came later must not spoil what was written before.
    if digest(head.get("model")) != head.get("sha256"):
        raise _unsound(source, "its checksum differs")
    try:
        card = ModelCard.model_validate(head.get("model"))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise _unsound(source, f"{where}: {first['msg']}") from error
    return card


def _read(folder: Path, name: str, expected: str | None) -> bytes:
    content = _content(folder / name)
    if hashlib.sha256(content).hexdigest() != expected:
        raise _unsound(folder / name, "its checksum differs")
    return content


def _content(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except FileNotFoundError:
        raise DataError(f"is missing; {_AGAIN}", source=file) from None
    except OSError as error:
        raise DataError(f"cannot be read ({error.strerror})", source=file) from error


def _fill(network: GraphClassifier, content: bytes, source: Path) -> None:
    try:
        weights: dict[str, Tensor] = tensors_from(content)
        network.load_state_dict(weights)
    except (SafetensorError, RuntimeError) as error:
        raise _unsound(source, str(error)) from error
    for name, value in weights.items():
        if not bool(value.isfinite().all()):
            raise _unsound(source, f"{name} is not finite")


def _unsound(source: Path, problem: str) -> DataError:
    return DataError(f"is not what was saved: {problem}; {_AGAIN}", source=source)
