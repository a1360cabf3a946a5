"""The files of a TU dataset: found in a folder or an archive, and written."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from os import PathLike
from pathlib import Path, PurePosixPath

import numpy as np
import torch
from torch import Tensor

from lfds.config.strict_json import strict_json
from lfds.data.atomic_io import atomic_folder
from lfds.data.errors import DataError, check_regular, quoted, reading
from lfds.data.graphset import GraphSet
from lfds.data.readers.archives import is_archive, read_members
from lfds.data.readers.arrays import label_values
from lfds.data.readers.tables import check_text_size

ENDINGS = {
    "A": "_A.txt",
    "graph_indicator": "_graph_indicator.txt",
    "graph_labels": "_graph_labels.txt",
    "graph_attributes": "_graph_attributes.txt",
    "node_labels": "_node_labels.txt",
    "node_attributes": "_node_attributes.txt",
    "edge_labels": "_edge_labels.txt",
    "edge_attributes": "_edge_attributes.txt",
    "names": "_names.json",
}
# Nine significant digits distinguish any two numbers of single precision.
_FLOAT_FORMAT = "%.9g"
_ROWS_PER_WRITE = 100_000


@dataclass(frozen=True)
class RawFiles:
    """The content of the files of a dataset.

    Attributes:
        home: The folder or archive.
        name: Name of the dataset, with which its file names begin.
        content: The bytes of each existing file, by its key in ``ENDINGS``.
        place: Where each file was found, for messages.
    """

    home: str
    name: str
    content: Mapping[str, bytes]
    place: Mapping[str, str]

    def required(self, part: str) -> tuple[bytes, str]:
        """Return content and place of a file that every dataset needs."""
        if part not in self.content:
            raise DataError(f"lacks the file {self.name}_{part}.txt", source=self.home)
        return self.content[part], self.place[part]

    def fingerprint(self) -> str:
        """Return the SHA-256 of all content, whether in a folder or an archive."""
        digest = hashlib.sha256()
        for part in sorted(self.content):
            digest.update(f"{part} {len(self.content[part])}\n".encode())
            digest.update(self.content[part])
        return digest.hexdigest()


@dataclass(frozen=True)
class Names:
    """Names that the text files of a TU dataset cannot store, kept in ``NAME_names.json``.

    Attributes:
        classes: The name of each class; ``graph_labels`` then holds indices into it.
        label_values: The sorted values of each column of node labels.
    """

    classes: tuple[str | int, ...]
    label_values: tuple[tuple[int, ...], ...]


def read_raw(path: Path) -> RawFiles:
    """Read the files at ``path``: a folder with ``NAME_A.txt`` and so on, or an archive."""
    with reading(path):
        if path.is_dir():
            return _read_folder(path)
        if not path.exists():
            raise DataError("does not exist; give a folder, a .zip or a .tar(.gz)", source=path)
        return _from_members(path, read_members(path, endings=tuple(ENDINGS.values())))


def is_tu(path: Path) -> bool:
    """Whether ``path`` is a folder with the files of a TU dataset, or an archive."""
    return tu_home(path) is not None if path.is_dir() else is_archive(path)


def tu_home(folder: Path) -> Path | None:
    """Return the folder with the files of a TU dataset: ``folder``, ``folder/raw`` or None."""
    # PyG keeps the files of a dataset in a folder called raw.
    return next((home for home in (folder, folder / "raw") if _adjacency_files(home)), None)


def read_names(raw: RawFiles) -> Names | None:
    """Return the content of ``NAME_names.json``, or ``None`` if there is no such file."""
    if "names" not in raw.content:
        return None
    place = raw.place["names"]
    try:
        entries = strict_json(raw.content["names"])
    except (ValueError, RecursionError) as error:
        raise DataError(f"cannot be read as JSON ({error})", source=place) from error
    if not isinstance(entries, dict) or set(entries) != {"classes", "label_values"}:
        raise DataError('needs exactly "classes" and "label_values"', source=place)
    classes, values = entries["classes"], entries["label_values"]
    if not isinstance(classes, list) or not all(type(name) in (str, int) for name in classes):
        raise DataError('"classes" needs a list of names or whole numbers', source=place)
    if not isinstance(values, list) or not all(_is_increasing(column) for column in values):
        raise DataError('"label_values" needs lists of increasing whole numbers', source=place)
    return Names(tuple(classes), tuple(tuple(column) for column in values))


def write_tu(graphs: GraphSet, folder: str | PathLike[str]) -> None:
    """Write ``graphs`` to ``folder`` in the TU format, completely or not at all.

    The files are named after the set. Encoded features ``x`` are not part of the format and are
    not written. Class names that are not integers, and classes or labels that no graph has, go to
    ``NAME_names.json``, which other readers ignore. A table without rows loses its width.
    """
    name = graphs.name
    if not name or Path(name).name != name or "\0" in name:
        raise DataError(f"files cannot be named after a set called {quoted(name)}", source="name")
    if not graphs.has_targets:
        raise DataError("the TU format needs targets, and the graphs have none", source="y")
    names = _names_needed(graphs)
    files = {name + ending for ending in ENDINGS.values()}
    with atomic_folder(Path(folder), replaceable=files.__contains__) as home:
        for part, table in _tables(graphs, as_indices=names is not None).items():
            _write_table(home / f"{name}_{part}.txt", table)
        if names is not None:
            entries = {"classes": names.classes, "label_values": names.label_values}
            (home / f"{name}_names.json").write_text(json.dumps(entries) + "\n", encoding="utf-8")


def find_parts(folder: Path) -> tuple[str, dict[str, Path]]:
    """Return the name of the dataset in a folder, and its existing files by their key."""
    home = tu_home(folder) or folder
    name = _dataset_name([file.name for file in _adjacency_files(home)], folder)
    files = {part: home / (name + ending) for part, ending in ENDINGS.items()}
    files = {part: file for part, file in files.items() if file.exists()}
    for file in files.values():
        check_regular(file)
    return name, files


def _read_folder(folder: Path) -> RawFiles:
    home = tu_home(folder) or folder
    name, files = find_parts(folder)
    check_text_size(sum(file.stat().st_size for file in files.values()), home)
    content = {part: file.read_bytes() for part, file in files.items()}
    return RawFiles(str(home), name, content, {part: str(file) for part, file in files.items()})


def _from_members(archive: Path, members: Mapping[str, bytes]) -> RawFiles:
    adjacency = [m for m in members if m.endswith("_A.txt") and not _is_hidden(m)]
    name = PurePosixPath(_dataset_name(adjacency, archive)).name
    # Only the folder of NAME_A.txt is read: an archive may hold other versions in others.
    home = PurePosixPath(adjacency[0]).parent
    by_path = {PurePosixPath(member): member for member in members}
    found = {part: by_path.get(home / (name + ending)) for part, ending in ENDINGS.items()}
    return RawFiles(
        str(archive),
        name,
        {part: members[member] for part, member in found.items() if member},
        {part: f"{archive}/{member}" for part, member in found.items() if member},
    )


def _adjacency_files(home: Path) -> list[Path]:
    return [file for file in home.glob("*_A.txt") if not _is_hidden(file.name)]


def _is_hidden(member: str) -> bool:
    """Whether a file is not part of a dataset: some systems add hidden copies of files."""
    return any(part.startswith(".") or part == "__MACOSX" for part in PurePosixPath(member).parts)


def _dataset_name(adjacency_files: list[str], source: Path) -> str:
    if not adjacency_files:
        raise DataError(
            "holds no file NAME_A.txt, which every dataset of the TU collection has", source=source
        )
    if len(adjacency_files) > 1:
        found = ", ".join(sorted(adjacency_files)[:3])
        raise DataError(f"holds more than one dataset: {found}; give one of them", source=source)
    return adjacency_files[0].removesuffix("_A.txt")


def _is_increasing(column: object) -> bool:
    limits = np.iinfo(np.int64)
    return (
        isinstance(column, list)
        and all(type(value) is int and limits.min <= value <= limits.max for value in column)
        and all(low < high for low, high in pairwise(column))
    )


def _names_needed(graphs: GraphSet) -> Names | None:
    """Return the names that the text files alone would lose, if any."""
    present = graphs.y.bincount().count_nonzero() if graphs.classes else 0
    numbers = [name for name in graphs.classes if isinstance(name, int)]
    plain_classes = present == len(numbers) == graphs.num_classes and numbers == sorted(numbers)
    if plain_classes and graphs.label_values == label_values(graphs.labels.numpy()):
        return None
    return Names(graphs.classes, graphs.label_values)


def _tables(graphs: GraphSet, *, as_indices: bool) -> dict[str, Tensor]:
    tables = {
        "A": graphs.edge_index.T + 1,
        "graph_indicator": torch.repeat_interleave(graphs.sizes)[:, None] + 1,
        "node_labels": graphs.labels,
        "node_attributes": graphs.attributes,
        "edge_labels": graphs.edge_labels,
        "edge_attributes": graphs.edge_attributes,
    }
    if graphs.classes:
        numbers = [name for name in graphs.classes if isinstance(name, int)]
        labels = graphs.y if as_indices else torch.tensor(numbers)[graphs.y]
        tables["graph_labels"] = labels[:, None]
    else:
        tables["graph_attributes"] = graphs.y.reshape(len(graphs), -1)
    return {part: table for part, table in tables.items() if table.shape[1]}


def _write_table(path: Path, table: Tensor) -> None:
    cell = _FLOAT_FORMAT if table.is_floating_point() else "%d"
    row = ", ".join([cell] * table.shape[1]) + "\n"
    with path.open("w", encoding="ascii") as file:
        for rows in torch.split(table, _ROWS_PER_WRITE):
            # One format for many rows: several times faster than numpy row by row.
            file.write(row * len(rows) % tuple(rows.flatten().tolist()))
