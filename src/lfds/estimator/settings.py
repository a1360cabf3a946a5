"""From the options of an estimator to the settings of network, training and encoding."""

import operator
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from lfds.data.encodings import STRUCTURAL
from lfds.data.encodings.encoder import EncodingSettings
from lfds.data.graphset import GraphSet
from lfds.experiment.datasets import automatic_encoding
from lfds.experiment.errors import SpecError
from lfds.experiment.spec import TrainingSettings, nearest, one_line
from lfds.nn import STRUCTURES, NetworkSettings

_Settings = TypeVar("_Settings", bound=BaseModel)
Encoding = str | Sequence[str] | EncodingSettings


def network_settings(
    structure: str | Sequence[str],
    slots: int,
    reduction: str,
    options: Mapping[str, Any] | None,
) -> NetworkSettings:
    """Return the network that an estimator asks for.

    Args:
        structure: Name of a latent structure, or several to stand side by side.
        slots: Of each.
        reduction: How a slot takes up what it is given.
        options: What else is to be otherwise, by the names of the settings of a network.
    """
    names = [structure] if isinstance(structure, str) else list(structure)
    for name in names:
        if name not in STRUCTURES:
            raise SpecError(f"no structure is called {name!r}; {nearest(str(name), STRUCTURES)}")
    if not names:
        raise SpecError(f"structure: one is needed; choose from {', '.join(STRUCTURES)}")
    taken = {"pool": "+".join(names), "slots": plain(slots), "reduction": reduction}
    others = dict(options or {})
    for name in taken.keys() & others.keys():
        raise SpecError(f"options: {name!r} is chosen by an option of its own")
    return _made(NetworkSettings, {**others, **taken})


def training_settings(epochs: int, batch_size: int, learning_rate: float) -> TrainingSettings:
    """Return how an estimator asks to be fitted.

    A rate that is no larger than the final one stays as it is.
    """
    final = TrainingSettings().final_learning_rate
    told = {
        "epochs": plain(epochs),
        "batch_size": plain(batch_size),
        "learning_rate": learning_rate,
        "final_learning_rate": min(final, learning_rate),
    }
    return _made(TrainingSettings, told)


def encoding_settings(encoding: Encoding, graphs: GraphSet) -> EncodingSettings:
    """Return what the nodes of graphs are known by.

    Args:
        encoding: ``"auto"``, names of structural encodings, or settings.
        graphs: For which ``"auto"`` decides.
    """
    if isinstance(encoding, EncodingSettings):
        return encoding
    names = [encoding] if isinstance(encoding, str) else list(encoding)
    if names == ["auto"]:
        return automatic_encoding(graphs)
    for name in names:
        if name not in STRUCTURAL:
            known = {"auto": (), **STRUCTURAL}
            raise SpecError(f"no encoding is called {name!r}; {nearest(str(name), known)}")
    structure = [one.model_dump() for name in names for one in STRUCTURAL[name]]
    return EncodingSettings.model_validate({"structure": structure})


def plain(number: Any) -> Any:
    """Return a whole number of numpy, as searches over options give it, as Python's own."""
    try:
        return number if isinstance(number, bool) else operator.index(number)
    except TypeError:
        return number


def _made(kind: type[_Settings], told: Mapping[str, Any]) -> _Settings:
    try:
        return kind.model_validate(told)
    except ValidationError as error:
        raise SpecError(one_line(error, kind.model_fields)) from error
