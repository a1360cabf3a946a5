"""From the options of an estimator to the settings of network, training and encoding."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from lfds.config.encoding import EncodingSettings, encoding_from
from lfds.config.errors import SpecError
from lfds.config.messages import choose_from, one_line
from lfds.config.network import NetworkSettings
from lfds.config.registry import STRUCTURES
from lfds.config.training import TrainingSettings
from lfds.data.encodings.encoder import automatic_encoding
from lfds.data.graphset import GraphSet
from lfds.estimator.options import Options

_Settings = TypeVar("_Settings", bound=BaseModel)
Encoding = str | Sequence[str] | EncodingSettings


def network_settings(asked: Options, usual: Mapping[str, Any] | None = None) -> NetworkSettings:
    """Return the network that an estimator asks for.

    Args:
        asked: Its options.
        usual: Settings that are other than those of all networks, unless asked for.
    """
    names = [asked.structure] if isinstance(asked.structure, str) else asked.structure
    for name in names:
        if name not in STRUCTURES:
            raise SpecError(f"no structure is called {name!r}; {choose_from(name, STRUCTURES)}")
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise SpecError(f"structure: names {twice!r} twice; once is enough")
    if not names:
        raise SpecError(f"structure: one is needed; choose from {', '.join(STRUCTURES)}")
    taken = {"pool": "+".join(names), "slots": asked.slots, "reduction": asked.reduction}
    others = {**(usual or {}), **(asked.options or {})}
    for name in taken.keys() & others.keys():
        raise SpecError(f"options: {name!r} is chosen by an option of its own")
    return _made(NetworkSettings, {**others, **taken})


def training_settings(asked: Options) -> TrainingSettings:
    """Return how an estimator asks to be fitted.

    A rate that is no larger than the final one stays as it is.
    """
    final = TrainingSettings().final_learning_rate
    told = {
        "epochs": asked.epochs,
        "batch_size": asked.batch_size,
        "learning_rate": asked.learning_rate,
        "final_learning_rate": min(final, asked.learning_rate),
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
    return encoding_from(names)


def _made(kind: type[_Settings], told: Mapping[str, Any]) -> _Settings:
    try:
        return kind.model_validate(told, strict=True)
    except ValidationError as error:
        raise SpecError(one_line(error, kind.model_fields)) from error
