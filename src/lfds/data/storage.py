"""A GraphSet on disk: tensors in safetensors, the rest in JSON; and a hash of its content."""

import hashlib
import json
import os
import shutil
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from lfds.config.migrations import SCHEMA_VERSION, VERSION_KEY, check_version, version_of
from lfds.config.strict_json import strict_json
from lfds.data.atomic_io import atomic_folder, check_overwrite, check_present
from lfds.data.errors import DataError, check_regular, reading
from lfds.data.graphset import GraphSet
from lfds.data.shards.manifest import is_sharded
from lfds.data.validation import check_finite, check_valid

TENSORS = "graphs.safetensors"
"""The file with the tensors of a set."""
_SETTINGS = "graphs.json"
_FORMAT = "lfds graph set 1"
_NAMES = (
    "ptr", "x", "attributes", "labels", "y",
    "edge_ptr", "edge_dst", "edge_attributes", "edge_labels",
)  # fmt: skip
_REPLACEABLE = frozenset((TENSORS, _SETTINGS)).__contains__
# Stored only if there are any; older sets have none.
_OPTIONAL, _TARGETS = ("coordinates", "groups", "edge_x"), "target_names"


def save(graphs: GraphSet, path: str | os.PathLike[str]) -> None:
    """Write ``graphs`` to the folder ``path``, completely or not at all."""
    _check_replaceable(Path(path))
    tensors = {name: getattr(graphs, name).contiguous() for name in _NAMES}
    # Features that are the attributes are stored once, in memory and on disk.
    shared = graphs.x is graphs.attributes
    if shared:
        del tensors["x"]
    optional = {name: getattr(graphs, name) for name in _OPTIONAL}
    tensors |= {name: table.contiguous() for name, table in optional.items() if table.shape[1]}
    settings = {
        "format": _FORMAT,
        VERSION_KEY: SCHEMA_VERSION,
        "name": graphs.name,
        "classes": graphs.classes,
        "label_values": graphs.label_values,
        "provenance": dict(graphs.provenance),
        "features_are_attributes": shared,
        **({_TARGETS: graphs.target_names} if graphs.target_names else {}),
    }
    with atomic_folder(Path(path), replaceable=_REPLACEABLE) as folder:
        try:
            save_file(tensors, folder / TENSORS)
        except SafetensorError as error:  # for example on a full disk
            raise DataError(f"cannot be written ({error})", source=path) from error
        (folder / _SETTINGS).write_text(json.dumps(settings, indent=1), encoding="utf-8")
        # safetensors makes the file private; the other one has what the umask gives.
        shutil.copymode(folder / _SETTINGS, folder / TENSORS)


def _check_replaceable(folder: Path) -> None:
    """Raise if saving to ``folder`` would replace something other than a saved set."""
    check_overwrite(folder, _REPLACEABLE)
    with reading(folder):
        if not folder.exists() or not any(folder.iterdir()):
            return
    try:
        _read_settings(folder / _SETTINGS)
    except DataError as error:
        raise DataError(
            f"is not a saved set of graphs (no valid {_SETTINGS}) and is not replaced by one; "
            "choose a new folder",
            source=folder,
        ) from error


def load(path: str | os.PathLike[str], *, mmap: bool = True) -> GraphSet:
    """Load the set in the folder ``path``.

    Args:
        path: A folder written by :func:`save`, or the folder of a sharded set.
        mmap: Map the file into memory and read it on use, instead of at once.
    """
    folder = Path(path)
    check_present(folder, "set of graphs")
    if is_sharded(folder):
        from lfds.data.shards.sharded_set import ShardedGraphSet  # it is made of saved sets

        sharded = ShardedGraphSet(folder)
        return sharded if mmap else sharded.in_memory()
    settings = _read_settings(folder / _SETTINGS)
    tensors = _map_tensors(folder / TENSORS)
    if not mmap:
        tensors = {name: tensor.clone() for name, tensor in tensors.items()}
    if settings.get("features_are_attributes") and "attributes" in tensors:
        tensors["x"] = tensors["attributes"]
    missing = [name for name in _NAMES if name not in tensors]
    if missing:
        raise DataError(
            f"lacks {', '.join(missing)}; save it again with GraphSet.save",
            source=folder / TENSORS,
        )
    graphs = _assemble(tensors, settings, folder / _SETTINGS)
    check_valid(graphs, source=folder)
    if not mmap:
        # A mapped set is read in parts: do not read all of it here.
        check_finite(graphs, source=folder)
    return graphs


def read_saved(path: str | os.PathLike[str], *, seed: int | None = 0) -> GraphSet:
    """Load a saved set; its nodes keep their order, whatever the seed is."""
    return load(path)


def is_saved_set(path: str | os.PathLike[str]) -> bool:
    """Whether ``path`` is a folder written by :func:`save`, or of a sharded set."""
    return (Path(path) / _SETTINGS).is_file() or is_sharded(path)


def _read_settings(path: Path) -> Mapping[str, object]:
    try:
        with reading(path):
            check_regular(path)
            text = path.read_text(encoding="utf-8")
        settings = strict_json(text)
    except DataError:
        raise
    except (ValueError, RecursionError) as error:
        raise DataError(f"cannot be read as JSON ({error})", source=path) from error
    if not isinstance(settings, dict) or settings.get("format") != _FORMAT:
        raise DataError(
            f'is not a saved set: it needs "format": "{_FORMAT}"; save it with GraphSet.save',
            source=path,
        )
    try:
        check_version(version_of(settings))
    except ValueError as error:
        raise DataError(str(error), source=path) from error
    return settings


def _map_tensors(path: Path) -> dict[str, Tensor]:
    check_regular(path)
    with reading(path):
        path.open("rb").close()  # safetensors says "No such file" whatever the reason is
    try:
        with safe_open(path, framework="pt") as file:
            return {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (OSError, SafetensorError) as error:
        raise DataError(f"cannot be read as safetensors ({error})", source=path) from error


def _assemble(
    tensors: Mapping[str, Tensor], settings: Mapping[str, object], source: Path
) -> GraphSet:
    name, classes = settings.get("name"), settings.get("classes")
    values, provenance = settings.get("label_values"), settings.get("provenance")
    if not isinstance(name, str) or not isinstance(provenance, dict):
        raise DataError('needs a "name" and a "provenance"', source=source)
    if not isinstance(classes, list) or not all(isinstance(c, str | int) for c in classes):
        raise DataError('"classes" needs a list of names or whole numbers', source=source)
    if not isinstance(values, list) or not all(isinstance(column, list) for column in values):
        raise DataError('"label_values" needs one list for each column of labels', source=source)
    targets = settings.get(_TARGETS, [])
    if not isinstance(targets, list) or not all(isinstance(one, str) for one in targets):
        raise DataError(f'"{_TARGETS}" needs a list of names', source=source)
    names = (*_NAMES, *(name for name in _OPTIONAL if name in tensors))
    return GraphSet(
        name=name,
        classes=tuple(classes),
        label_values=tuple(tuple(column) for column in values),
        provenance=provenance,
        target_names=tuple(targets),
        **{key: tensors[key] for key in names},
    )


def content_of(graphs: GraphSet) -> str:
    """Return a hash of everything that a network can learn from."""
    digest = hashlib.sha256(repr((graphs.name, graphs.classes, graphs.label_values)).encode())
    none = graphs[0:0].in_memory()
    for entry in fields(graphs):
        value = getattr(none, entry.name)
        if isinstance(value, Tensor) and _is_learned_from(entry.name, graphs):
            shape = graphs.shape_of(entry.name)
            digest.update(f"{entry.name} {value.dtype} {shape}".encode())
            for block in graphs.blocks(entry.name):
                digest.update(np.ascontiguousarray(block).data)
    return digest.hexdigest()[:24]


def _is_learned_from(name: str, graphs: GraphSet) -> bool:
    # Coordinates are for drawing only and groups for splits: no network sees them. Features of
    # edges were added later: a set without any keeps its hash.
    return name not in ("coordinates", "groups") and (name != "edge_x" or graphs.width(name) > 0)
