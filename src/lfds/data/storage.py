"""A GraphSet on disk: tensors in safetensors, the rest in JSON; loaded by memory map."""

import json
import os
from collections.abc import Mapping
from pathlib import Path

from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from lfds.config.migrations import SCHEMA_VERSION, VERSION_KEY, check_version, version_of
from lfds.data.atomic_io import atomic_folder, check_overwrite
from lfds.data.errors import DataError, reading
from lfds.data.graphset import GraphSet
from lfds.data.validation import check_finite, check_valid

_TENSORS = "graphs.safetensors"
_SETTINGS = "graphs.json"
_FORMAT = "lfds graph set 1"
_NAMES = (
    "ptr", "x", "attributes", "labels", "y",
    "edge_ptr", "edge_dst", "edge_attributes", "edge_labels",
)  # fmt: skip
_REPLACEABLE = frozenset((_TENSORS, _SETTINGS)).__contains__
_COORDINATES = "coordinates"  # stored only if there are any; older sets have none


def save(graphs: GraphSet, path: str | os.PathLike[str]) -> None:
    """Write ``graphs`` to the folder ``path``, completely or not at all."""
    _check_replaceable(Path(path))
    tensors = {name: getattr(graphs, name).contiguous() for name in _NAMES}
    # Features that are the attributes are stored once, in memory and on disk.
    shared = graphs.x is graphs.attributes
    if shared:
        del tensors["x"]
    if graphs.coordinates.shape[1]:
        tensors[_COORDINATES] = graphs.coordinates.contiguous()
    settings = {
        "format": _FORMAT,
        VERSION_KEY: SCHEMA_VERSION,
        "name": graphs.name,
        "classes": graphs.classes,
        "label_values": graphs.label_values,
        "provenance": dict(graphs.provenance),
        "features_are_attributes": shared,
    }
    with atomic_folder(Path(path), replaceable=_REPLACEABLE) as folder:
        try:
            save_file(tensors, folder / _TENSORS)
        except SafetensorError as error:  # for example on a full disk
            raise DataError(f"cannot be written ({error})", source=path) from error
        # safetensors makes the file private.
        (folder / _TENSORS).chmod(0o644)
        (folder / _SETTINGS).write_text(json.dumps(settings, indent=1), encoding="utf-8")


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
        path: A folder written by :func:`save`.
        mmap: Map the file into memory and read it on use, instead of at once.
    """
    folder = Path(path)
    settings = _read_settings(folder / _SETTINGS)
    tensors = _map_tensors(folder / _TENSORS)
    if not mmap:
        tensors = {name: tensor.clone() for name, tensor in tensors.items()}
    if settings.get("features_are_attributes") and "attributes" in tensors:
        tensors["x"] = tensors["attributes"]
    missing = [name for name in _NAMES if name not in tensors]
    if missing:
        raise DataError(
            f"lacks {', '.join(missing)}; save it again with GraphSet.save",
            source=folder / _TENSORS,
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
    """Whether ``path`` is a folder written by :func:`save`."""
    return (Path(path) / _SETTINGS).is_file()


def _read_settings(path: Path) -> Mapping[str, object]:
    try:
        settings = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
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
    names = (*_NAMES, _COORDINATES) if _COORDINATES in tensors else _NAMES
    return GraphSet(
        name=name,
        classes=tuple(classes),
        label_values=tuple(tuple(column) for column in values),
        provenance=provenance,
        **{key: tensors[key] for key in names},
    )
