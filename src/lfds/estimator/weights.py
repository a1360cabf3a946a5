"""The weights of a network in safetensors, and back: only where they are as large as it says."""

from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load as tensors_from
from safetensors.torch import save as tensors_to
from torch import Size, Tensor

from lfds.config.migrations import migrate_weights
from lfds.estimator.card_file import unsound
from lfds.estimator.model_card import ModelCard
from lfds.nn import GraphNetwork

# Each of these is the length of an axis of some tensor, or counts tensors.
_LENGTHS = ("width", "head_width", "slots")
_COUNTS = ("layers", "depth")


def weights_of(network: GraphNetwork) -> bytes:
    """Return the weights of a network as a file holds them."""
    weights = {name: value.contiguous().clone() for name, value in network.state_dict().items()}
    return tensors_to(weights)


def network_from(content: bytes, card: ModelCard, source: Path) -> GraphNetwork:
    """Return the network that a card describes, with the weights of a file.

    The sizes are compared first, without any memory for them: a card may ask for a network of a
    billion channels, but a file cannot hold one unnoticed.
    """
    try:
        weights: dict[str, Tensor] = tensors_from(content)
    except SafetensorError as error:
        raise unsound(source, str(error)) from error
    weights = _migrated(weights, card)
    _check_sizes(weights, card, source)
    for name, value in weights.items():
        if not bool(value.isfinite().all()):
            raise unsound(source, f"{name} is not finite")
    network = GraphNetwork(card.features, card.meaning.outputs, card.network)
    network.load_state_dict(weights)
    return network


def _migrated(weights: dict[str, Tensor], card: ModelCard) -> dict[str, Tensor]:
    """The tensors under today's names."""
    names = migrate_weights(weights, _sizes_of(card))
    moved = {name: weights[old] for name, old in names.items() if old in weights}
    return {**{name: weights[name] for name in weights.keys() - set(names.values())}, **moved}


def _check_sizes(weights: dict[str, Tensor], card: ModelCard, source: Path) -> None:
    longest = max((length for value in weights.values() for length in value.shape), default=0)
    for names, most in ((_LENGTHS, longest), (_COUNTS, len(weights))):
        for name in names:
            asked = getattr(card.network, name)
            if asked > most:
                raise unsound(source, f"it is too small for the {name} of {asked} in the card")
    wanted, found = _sizes_of(card), {name: value.shape for name, value in weights.items()}
    for name in sorted(wanted.keys() | found.keys()):
        if wanted.get(name) != found.get(name):
            there, asked = _shown(found.get(name)), _shown(wanted.get(name))
            raise unsound(source, f"{name} is {there}, where the card asks for {asked}")


def _sizes_of(card: ModelCard) -> dict[str, Size]:
    with torch.device("meta"):  # shapes without memory
        network = GraphNetwork(card.features, card.meaning.outputs, card.network)
    return {name: value.shape for name, value in network.state_dict().items()}


def _shown(shape: Size | None) -> str:
    return "nothing" if shape is None else str(list(shape))
