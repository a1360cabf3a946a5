"""From the name of a dataset or a path to a GraphSet, by the readers of the registry."""

import hashlib
import os
from pathlib import Path
from typing import Any

from lfds.config.registry import READERS, ReaderEntry, load, readable_formats, suffixes_with
from lfds.data.datasets.catalog import (
    BUILT_IN,
    TU_DATASETS,
    find_files,
    not_found,
    prepared_at,
)
from lfds.data.errors import DataError, quoted, reading
from lfds.data.graphset import GraphSet
from lfds.data.readers.smiles import Bad
from lfds.data.readers.tu_files import ENDINGS, tu_home
from lfds.data.storage import is_saved_set
from lfds.data.storage import load as load_saved

SOURCE_STATE = "source_state"
"""The key of ``provenance`` under which a prepared set stores the state of its source."""


def load_dataset(name: str, root: str | os.PathLike[str] = "data", *, seed: int = 0) -> GraphSet:
    """Return the dataset called ``name``.

    Args:
        name: A name of the catalog, or of any dataset stored under ``root`` in the same way.
        root: Folder with ``NAME/`` or ``NAME.zip``, ``NAME.tar.gz``, ``NAME.jsonl`` and so on.
            Built-in datasets need no files.
        seed: Seed of the random order of the nodes of each graph, and of generated datasets.
    """
    if not isinstance(name, str):
        raise DataError(f"needs the name of a dataset, not {quoted(name)}", source="name")
    if name in BUILT_IN:
        return BUILT_IN[name].make(seed)
    with reading(root):
        return _load(name, Path(root), seed)


def _load(name: str, root: Path, seed: int) -> GraphSet:
    found = find_files(name, root)
    graphs = _load_prepared(prepared_at(name, root), found)
    if graphs is not None and graphs.provenance.get("node_order_seed") == seed:
        return graphs
    if found is None:
        raise not_found(name, root)
    return read_any(found, seed=seed)


def _load_prepared(prepared: Path, source: Path | None) -> GraphSet | None:
    """Return a prepared set; ``None`` if there is none, or it is outdated or damaged."""
    if not is_saved_set(prepared):
        return None
    try:
        graphs = load_saved(prepared)
    except DataError:
        if source is None:
            raise
        return None
    made_from = graphs.provenance.get(SOURCE_STATE)
    return graphs if source is None or made_from == source_state(source) else None


def read_any(
    path: str | os.PathLike[str], *, seed: int = 0, target: str | None = None, bad: Bad = "stop"
) -> GraphSet:
    """Read a file or folder in any format of :data:`lfds.config.registry.READERS`.

    Args:
        path: A file or folder.
        seed: Seed of the random order of the nodes of each graph, and of sampled points.
        target: The column to predict, of a .csv file with several.
        bad: Whether an invalid SMILES of a .csv file raises an error (``"stop"``) or is skipped.
    """
    path = Path(path)
    with reading(path):
        entry = READERS[format_of(path)]
        options = reader_options(entry, path, target=target, bad=bad)
        graphs: GraphSet = entry.load()(path, seed=seed, **options)
        return graphs


def open_source(
    source: str,
    root: str | os.PathLike[str] = "data",
    *,
    target: str | None = None,
    bad: Bad = "stop",
) -> GraphSet:
    """Return the graphs of a dataset or a path, whichever ``source`` is.

    Args:
        source: As for :func:`load_dataset` or :func:`read_any`.
        root: Folder of the datasets.
        target: The column to predict, of a .csv file with several.
        bad: Whether an invalid SMILES of a .csv file raises an error (``"stop"``) or is skipped.
    """
    if is_path(source):
        return read_any(source, target=target, bad=bad)
    if target is None and bad == "stop":
        return load_dataset(source, root)
    with reading(root):
        found = find_files(source, Path(root))
    return read_any(source if found is None else found, target=target, bad=bad)


def places_of(source: str, root: str | os.PathLike[str] = "data") -> list[Path]:
    """Return the existing files and folders that :func:`open_source` reads."""
    if is_path(source):
        return [Path(source)]
    if source in BUILT_IN:
        return []
    with reading(root):
        places = (prepared_at(source, Path(root)), find_files(source, Path(root)))
        return [place for place in places if place is not None and place.exists()]


def is_path(source: str) -> bool:
    """Whether ``source`` is an existing path, and not a name of the catalog."""
    with reading(source):
        return source not in TU_DATASETS and source not in BUILT_IN and Path(source).exists()


def format_of(path: Path) -> str:
    """Return the format of a file or folder, by its name in the registry."""
    if not path.exists():
        raise DataError("no such file or folder", source=path)
    for name, entry in READERS.items():
        if not path.is_dir() and path.name.lower().endswith(entry.suffixes):
            return name
    for name, entry in READERS.items():
        if entry.detect is not None and load(entry.detect)(path):
            return name
    raise DataError(f"unknown format; give {readable_formats()}", source=path)


def reader_options(
    entry: ReaderEntry, source: str | os.PathLike[str], *, target: str | None, bad: Bad
) -> dict[str, Any]:
    """Return the options that were set; raise if the reader of ``source`` does not have them."""
    given = {"target": target} if target is not None else {}
    given |= {"bad": bad} if bad != "stop" else {}
    for option in given:
        if option not in entry.options:
            raise DataError(
                f"only {suffixes_with(option)} files have this option, not {source}", source=option
            )
    return given


def source_state(source: Path) -> str:
    """Return a hash of name, size and time of the files of a dataset.

    Reading the files would take longer than a prepared set saves. Any other time is a change: a
    file may be replaced by an older one.
    """
    digest = hashlib.sha256()
    for file in _files(source):
        facts = file.stat()
        digest.update(f"{file.name!r} {facts.st_size} {facts.st_mtime_ns}\n".encode())
    return digest.hexdigest()


def _files(source: Path) -> list[Path]:
    if not source.is_dir():
        return [source]
    home = tu_home(source)
    if home is None:
        return sorted(file for file in source.rglob("*") if file.is_file())
    return sorted(file for file in home.iterdir() if file.name.endswith(tuple(ENDINGS.values())))
