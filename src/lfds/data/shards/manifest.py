"""The manifest of a sharded set: which parts it has, and what they have in common."""

import hashlib
import json
from os import PathLike
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, NonNegativeInt, ValidationError

from lfds.config.migrations import SCHEMA_VERSION, VERSION_KEY, check_version, version_of
from lfds.config.strict_json import strict_json
from lfds.data.atomic_io import atomic_write
from lfds.data.errors import DataError, check_regular, reading
from lfds.data.validation import check_names

MANIFEST = "shards.json"
UNFINISHED = "unfinished.json"
"""The manifest of a set that is still being written, or whose writing was interrupted."""

_FORMAT = "lfds sharded graph set 1"
_REMEDY = "copy or convert the set again"
_FROZEN = ConfigDict(frozen=True, extra="forbid")
_Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
_Name = str | Annotated[int, Field(ge=-(2**63), lt=2**63)]

WIDTHS = (
    "x", "attributes", "labels", "coordinates", "edge_attributes", "edge_labels", "groups",
)  # fmt: skip
"""The tables of a set, all of whose parts have the same columns."""


class Part(BaseModel):
    """One part, a folder in the format of ``GraphSet.save``.

    Attributes:
        name: Name of its folder.
        graphs: Number of graphs.
        nodes: Number of nodes.
        edges: Number of edges.
        size: Bytes of its tensors on disk.
        sha256: Of the file with the tensors.
        classes: The classes that its targets are indices into; ``None`` for those of the set.
    """

    model_config = _FROZEN
    name: Annotated[str, Field(pattern=r"^part-[0-9]{6,}$")]
    graphs: NonNegativeInt
    nodes: NonNegativeInt
    edges: NonNegativeInt
    size: NonNegativeInt
    sha256: _Sha256
    classes: tuple[_Name, ...] | None = None


class Targets(BaseModel):
    """The form of the targets.

    Attributes:
        dtype: ``int64`` for classes, ``float32`` for numbers.
        columns: Number of columns; ``None`` for one number or class per graph.
    """

    model_config = _FROZEN
    dtype: Literal["int64", "float32"]
    columns: NonNegativeInt | None = None


class Progress(BaseModel):
    """How far the writing of a set has come.

    Attributes:
        source: Hash of what it is made from, and of how.
        position: The position in the source of the last graph that is stored.
        nodes: How many nodes were stored from this source.
    """

    model_config = _FROZEN
    source: str
    position: int
    nodes: NonNegativeInt


class Manifest(BaseModel):
    """What all parts of a sharded set have in common, and the list of parts.

    Attributes:
        name: Name of the set.
        classes: The sorted names of all classes.
        label_values: The sorted values of each column of labels.
        target_names: The name of each target; empty if they have none.
        provenance: Where the set came from and how it was changed.
        widths: Number of columns of each table.
        targets: The form of the targets.
        features_are_attributes: Whether the features ``x`` are the attributes.
        parts: The parts in order.
        progress: How far the writing has come; only while it is unfinished.
    """

    model_config = _FROZEN
    name: str
    classes: tuple[_Name, ...] = ()
    label_values: tuple[tuple[int, ...], ...] = ()
    target_names: tuple[str, ...] = ()
    provenance: dict[str, str | int] = {}
    widths: dict[str, NonNegativeInt]
    targets: Targets
    features_are_attributes: bool = False
    parts: tuple[Part, ...]
    progress: Progress | None = None

    @property
    def fingerprint(self) -> str:
        """A hash of the content, from the checksums of the parts: nothing else is read."""
        common = self.model_dump(mode="json", exclude={"parts", "provenance", "progress"})
        digest = hashlib.sha256(json.dumps(common, sort_keys=True).encode())
        for part in self.parts:
            digest.update(f"{part.graphs} {part.classes} {part.sha256}\n".encode())
        return digest.hexdigest()[:24]

    def write(self, folder: Path, name: str = MANIFEST) -> None:
        """Write the manifest to a folder, completely or not at all."""
        content = {
            "format": _FORMAT,
            VERSION_KEY: SCHEMA_VERSION,
            **self.model_dump(mode="json", exclude_none=True),
        }
        atomic_write(folder / name, (json.dumps(content, indent=1) + "\n").encode())


def is_sharded(path: str | PathLike[str]) -> bool:
    """Whether ``path`` is the folder of a sharded set, finished or not."""
    return any((Path(path) / name).is_file() for name in (MANIFEST, UNFINISHED))


def read_manifest(folder: Path, name: str = MANIFEST) -> Manifest:
    """Read the manifest of a sharded set, and check that it is consistent."""
    path = folder / name
    if name == MANIFEST and not path.exists() and (folder / UNFINISHED).exists():
        raise DataError(
            "is not finished: its conversion was interrupted; run the same command again, which "
            "goes on where it ended",
            source=folder,
        )
    if folder.is_dir() and not path.exists():
        raise DataError(
            "is not a set in parts; make one with: lfds data convert IN OUT --shards", source=folder
        )
    with reading(path):
        check_regular(path)
        raw = path.read_bytes()
    try:
        content = strict_json(raw)
    except (ValueError, RecursionError) as error:
        raise DataError(f"cannot be read as JSON ({error}); {_REMEDY}", source=path) from error
    manifest = _validated(content, path)
    _check_consistent(manifest, path)
    return manifest


def _validated(content: Any, path: Path) -> Manifest:
    if not isinstance(content, dict) or content.get("format") != _FORMAT:
        raise DataError(f'is not a manifest: it needs "format": "{_FORMAT}"', source=path)
    try:
        check_version(version_of(content))
    except ValueError as error:
        raise DataError(str(error), source=path) from error
    common = {key: value for key, value in content.items() if key not in ("format", VERSION_KEY)}
    try:
        return Manifest.model_validate(common)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(step) for step in first["loc"])
        raise DataError(f"{where}: {first['msg']}; {_REMEDY}", source=path) from error


def _check_consistent(manifest: Manifest, path: Path) -> None:
    missing = [name for name in WIDTHS if name not in manifest.widths]
    if missing:
        raise DataError(f"widths lacks {missing[0]}; {_REMEDY}", source=path)
    names = [part.name for part in manifest.parts]
    if len(set(names)) < len(names):
        raise DataError(f"lists a part twice; {_REMEDY}", source=path)
    check_names(manifest.classes, manifest.label_values, source=path)
    if manifest.parts and len(manifest.label_values) != manifest.widths["labels"]:
        raise DataError(f"label_values needs one list per column of labels; {_REMEDY}", source=path)
    known = set(manifest.classes)
    for part in manifest.parts:
        if part.classes is not None and not known.issuperset(part.classes):
            raise DataError(f"{part.name} has a class that the set has not; {_REMEDY}", source=path)
    if bool(manifest.classes) != (manifest.targets.dtype == "int64") and manifest.parts:
        raise DataError(f"targets: int64 needs classes, float32 none; {_REMEDY}", source=path)
