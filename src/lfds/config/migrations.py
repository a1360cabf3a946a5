"""What earlier versions stored, and how it is read today.

Specs, records, model folders and checkpoints carry ``schema_version``; what was stored before there
was one is version 1.  A setting that is added or whose default changes says so where it is declared
(:func:`added`), and everything stored before goes on to mean what it meant:

- a **spec** of an earlier version gets the value that was the default then;
- a **record or model card** that does not name the setting has the value that was in effect before
  it could be chosen.  Such a value is never written, so that the same training keeps its key.

So a new option rewrites no stored file.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel
from pydantic.fields import FieldInfo

SCHEMA_VERSION = 5
"""Version of what is stored.

1: everything before there was a number. 2: the linear map from all layers of the base to the slots
belongs to :class:`lfds.LFDSPool` (``input_map``); before it belonged to the pooling around it.
3: by default anchors are smooth, and the vector of every graph is normalized before the head.
4: records hold confusion matrices, and which folds were the first of their process.
5: by default networks use labels and attributes of edges; models and comparisons may be ensembles
of several members.
"""

VERSION_KEY = "schema_version"

DEFAULTS_KEY = "defaults_of"
"""In the spec of a run that an earlier version began: the version whose defaults it keeps."""


@dataclass(frozen=True)
class Added:
    """Says of a setting since when it exists or has its default, and what was in effect before.

    Attributes:
        before: The value in effect before the setting was added, or its earlier default.
        since: The first schema version whose specs have the setting with today's default.
        recorded: Whether records named the setting before; then they always name it.
    """

    before: Any
    since: int
    recorded: bool


def added(*, before: Any, since: int) -> Added:
    """Return the mark of a setting that was added later, to stand in its annotation."""
    return Added(before, since, recorded=False)


def changed(*, before: Any, since: int) -> Added:
    """Return the mark of a setting whose default was changed."""
    return Added(before, since, recorded=True)


def added_fields(settings: type[BaseModel]) -> Iterator[tuple[str, Added]]:
    """The settings that were added later, with what was in effect before."""
    for name, field in settings.model_fields.items():
        yield from ((name, mark) for mark in _marks(field))


def _marks(field: FieldInfo) -> Iterable[Added]:
    return (mark for mark in field.metadata if isinstance(mark, Added))


def fill_legacy_defaults(settings: type[BaseModel], stored: Mapping[str, Any]) -> dict[str, Any]:
    """Return stored settings of a record or card, with what was in effect where they are silent."""
    return {**legacy_defaults(settings), **stored}


def legacy_defaults(settings: type[BaseModel]) -> dict[str, Any]:
    """Return what was in effect before each later setting could be chosen."""
    return {name: mark.before for name, mark in added_fields(settings) if not mark.recorded}


def without_legacy_defaults(settings: type[BaseModel], chosen: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings as records name them: what was in effect before is left out."""
    before = legacy_defaults(settings)
    return {
        name: value for name, value in chosen.items() if name not in before or value != before[name]
    }


def version_of(stored: Mapping[str, Any]) -> object:
    """Return the schema version of something stored."""
    return stored.get(VERSION_KEY, 1)


def migrate_spec(
    stored: Mapping[str, Any], network: type[BaseModel], training: type[BaseModel]
) -> dict[str, Any]:
    """Return the options of a stored spec as today's version understands them.

    Args:
        stored: The content of the file.
        network: The settings of networks, which a spec holds under ``options``.
        training: The settings of trainings, which a spec holds itself.

    Raises:
        ValueError: If the spec was written by a later version.
    """
    spec = dict(stored)
    spec.pop(DEFAULTS_KEY, None)
    version = spec.pop(VERSION_KEY, 1)
    check_version(version)
    options = spec.get("options") or {}
    later = earlier_defaults(network, version)
    if later and isinstance(options, Mapping) and spec.get("network", "default") == "default":
        spec["options"] = {**later, **options}
    for name, mark in added_fields(training):
        if mark.since > version:
            spec.setdefault(name, mark.before)
    return spec


def earlier_defaults(settings: type[BaseModel], version: int) -> dict[str, Any]:
    """Return the defaults of a schema version, where they differ from those of today."""
    return {
        name: mark.before
        for name, mark in added_fields(settings)
        if mark.since > version and mark.before != settings.model_fields[name].default
    }


def check_version(version: object) -> None:
    """Refuse what a later version stored."""
    if type(version) is not int or not 1 <= version <= SCHEMA_VERSION:
        newer = type(version) is int and version > SCHEMA_VERSION
        way = "update lfds" if newer else f"it must be a number from 1 to {SCHEMA_VERSION}"
        raise ValueError(
            f"{VERSION_KEY} is {version!r}, and this lfds reads up to {SCHEMA_VERSION}; {way}"
        )


def migrate_weights(stored: Iterable[str], current: Iterable[str]) -> dict[str, str]:
    """Return where each tensor of today's network is found among stored ones, by name.

    Args:
        stored: Names of the stored tensors.
        current: Names of the tensors of the network.
    """
    stored = set(stored)
    return {name: _stored_name(name, stored) for name in current}


def _stored_name(name: str, stored: set[str]) -> str:
    head, found, tail = name.partition(".input_map.")
    if name in stored or not found:
        return name
    # Version 1: `pool.mix.weight`, one for all structures that are used side by side.
    return f"{head.rpartition('pools.')[0]}mix.{tail}"
