"""Saving and loading models: weights in safetensors, the rest in JSON; nothing is unpickled."""

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from safetensors import SafetensorError
from safetensors.torch import load as tensors_from
from safetensors.torch import save as tensors_to
from torch import Size, Tensor

from lfds.config.budget import over_budget
from lfds.config.migrations import migrate_weights
from lfds.data.atomic_io import atomic_folder, check_overwrite, check_present
from lfds.data.encodings.encoder import Encoder
from lfds.data.errors import DataError, reading
from lfds.estimator.model_card import (
    ModelCard,
    card_text,
    damaged,
    file_content,
    read_card,
    read_head,
)
from lfds.estimator.output_decoding import ValueDecoder
from lfds.nn import GraphNetwork
from lfds.train.memory_limit import min_parameters, modes_bytes

if TYPE_CHECKING:
    from lfds.estimator.classifier import LFDSClassifier
    from lfds.estimator.regressor import LFDSRegressor

CARD, WEIGHTS, ENCODER = "model.json", "weights.safetensors", "encoder.json"
_OTHER_WEIGHTS = re.compile(r"weights-[1-9]\d*\.safetensors")
# Settings that are the length of an axis of some tensor, and settings that count tensors.
_LENGTHS = ("width", "head_width", "slots")
_COUNTS = ("layers", "depth")


@dataclass(frozen=True)
class SavedModel:
    """The content of a model folder.

    Attributes:
        card: Everything that is not a tensor.
        networks: The members with their weights, in evaluation mode.
        encoder: Fitted.
    """

    card: ModelCard
    networks: tuple[GraphNetwork, ...]
    encoder: Encoder


def weights_file(member: int) -> str:
    """Return the name of the file with the weights of a member.

    >>> weights_file(0), weights_file(4)
    ('weights.safetensors', 'weights-4.safetensors')
    """
    return WEIGHTS if member == 0 else f"weights-{member}.safetensors"


def is_model_file(name: str) -> bool:
    """Whether a file of this name may be part of a model folder."""
    return name in (CARD, WEIGHTS, ENCODER) or _OTHER_WEIGHTS.fullmatch(name) is not None


def load(path: str | PathLike[str]) -> "LFDSClassifier | LFDSRegressor":
    """Return the estimator saved in the folder ``path``; its predictions are the same bits.

    Nothing in the folder is executed. A file that is missing, truncated or changed, and a format
    newer than this library, raise a DataError.
    """
    # Estimators save themselves by this module.
    from lfds.estimator.classifier import LFDSClassifier
    from lfds.estimator.regressor import LFDSRegressor

    saved = load_model(path)
    options = saved.card.parameters
    if isinstance(saved.card.decoder, ValueDecoder):
        return LFDSRegressor(**options.for_estimator(LFDSRegressor)).restore(saved)
    return LFDSClassifier(**options.for_estimator(LFDSClassifier)).restore(saved)


def load_model(path: str | PathLike[str]) -> SavedModel:
    """Read a model folder and verify its checksums."""
    folder = Path(path)
    with reading(folder):
        found = folder.is_dir()
    if not found:
        check_present(folder, "model")
        raise DataError("is not a model: needs a folder that save wrote", source=folder)
    card = read_card(folder / CARD)
    encoder = Encoder.from_json(_verified(folder / ENCODER, card.files.get(ENCODER)))
    for what, width, wanted in (
        ("features", encoder.width, card.features),
        ("edge features", encoder.edge_width, card.edge_features),
    ):
        if width != wanted:
            raise damaged(folder / ENCODER, f"has {width} {what}, not {wanted}")
    networks = []
    for name in map(weights_file, range(card.members)):
        content = _verified(folder / name, card.files.get(name))
        networks.append(network_from(content, card, folder / name).eval())
    return SavedModel(card, tuple(networks), encoder)


def save_model(
    path: str | PathLike[str], card: ModelCard, networks: Sequence[GraphNetwork], encoder: Encoder
) -> None:
    """Write a model folder completely or not at all, replacing a model that is there."""
    check_replaceable(path)
    files = {weights_file(member): weights_of(one) for member, one in enumerate(networks)}
    files[ENCODER] = encoder.to_json().encode()
    card = card.model_copy(
        update={"files": {name: _sha256(content) for name, content in files.items()}}
    )
    with atomic_folder(Path(path), replaceable=is_model_file) as folder:
        for name, content in files.items():
            (folder / name).write_bytes(content)
        (folder / CARD).write_text(card_text(card), encoding="utf-8")


def check_replaceable(path: str | PathLike[str]) -> None:
    """Raise if saving a model at ``path`` would delete anything but a model."""
    folder = Path(path)
    check_overwrite(folder, is_model_file)
    if not folder.exists() or not any(folder.iterdir()):
        return
    try:
        read_head(folder / CARD)
    except DataError as error:
        raise DataError(
            f"is not a model of lfds (no valid {CARD}) and is not replaced; choose a new folder",
            source=folder,
        ) from error


def weights_of(network: GraphNetwork) -> bytes:
    """Return the weights of a network in the safetensors format."""
    weights = {name: value.contiguous().clone() for name, value in network.state_dict().items()}
    return tensors_to(weights)


def network_from(content: bytes, card: ModelCard, source: Path) -> GraphNetwork:
    """Return the network that a card describes, with stored weights.

    Sizes are compared before any memory is allocated: a card may describe a network of a billion
    channels, but a small file cannot hold its weights.
    """
    try:
        weights: dict[str, Tensor] = tensors_from(content)
    except SafetensorError as error:
        raise damaged(source, str(error)) from error
    _check_settings(weights, card, source)
    try:
        network = _network(card)
        sizes = {name: value.shape for name, value in network.state_dict().items()}
        weights = _migrate(weights, sizes)
        _check_shapes(weights, sizes, source)
        network.load_state_dict(weights)
    except DataError:
        raise
    except (MemoryError, RuntimeError, TypeError, ValueError) as error:
        raise damaged(source, str(error)) from error
    for name, value in weights.items():
        if not bool(value.isfinite().all()):
            raise damaged(source, f"{name} is not finite")
    return network


def _check_settings(weights: dict[str, Tensor], card: ModelCard, source: Path) -> None:
    """Raise if the card describes more than a file of this size can hold."""
    longest = max((length for value in weights.values() for length in value.shape), default=0)
    for names, most in ((_LENGTHS, longest), (_COUNTS, len(weights))):
        for name in names:
            size = getattr(card.network, name)
            if size > most:
                raise damaged(source, f"it is too small for the {name} of {size} in the card")
    found, least = sum(value.numel() for value in weights.values()), min_parameters(card.network)
    if found < least:
        raise damaged(source, f"it has {found:,} numbers, and the card at least {least:,}")
    missing = over_budget(modes_bytes(card.network))
    if missing is not None:
        raise DataError(f"its network {missing}", source=source)


def _migrate(weights: dict[str, Tensor], sizes: Mapping[str, Size]) -> dict[str, Tensor]:
    """Return tensors under the names of today's network."""
    names = migrate_weights(weights, sizes)
    renamed = {name: weights[old] for name, old in names.items() if old in weights}
    unused = {name: weights[name] for name in weights.keys() - set(names.values())}
    return {**unused, **renamed}


def _check_shapes(weights: Mapping[str, Tensor], wanted: Mapping[str, Size], source: Path) -> None:
    found = {name: value.shape for name, value in weights.items()}
    for name in sorted(wanted.keys() | found.keys()):
        if wanted.get(name) != found.get(name):
            stored, needed = _shown(found.get(name)), _shown(wanted.get(name))
            raise damaged(source, f"{name} is {stored} here and {needed} in the card")


def _network(card: ModelCard) -> GraphNetwork:
    outputs, edges = card.decoder.outputs, card.edge_features
    return GraphNetwork(card.features, outputs, card.network, edge_channels=edges)


def _shown(shape: Size | None) -> str:
    return "missing" if shape is None else str(list(shape))


def _verified(file: Path, expected: str | None) -> bytes:
    content = file_content(file)
    if _sha256(content) != expected:
        raise damaged(file, "its checksum differs")
    return content


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
