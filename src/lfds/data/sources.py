"""From the name of a dataset or a path to its graphs, at once or in chunks."""

import hashlib
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, TypedDict, Unpack

from lfds.config.registry import READERS, ReaderEntry, load, readable_formats, suffixes_with
from lfds.data.atomic_io import check_present
from lfds.data.chunk import Chunk
from lfds.data.datasets.catalog import (
    BUILT_IN,
    TU_DATASETS,
    find_files,
    not_found,
    prepared_at,
)
from lfds.data.errors import DataError, check_regular, quoted, reading
from lfds.data.graphset import GraphSet
from lfds.data.readers.atom_features import AtomFeatures
from lfds.data.readers.rdkit_molecules import Fragments
from lfds.data.readers.smiles import Bad
from lfds.data.readers.tables import Task
from lfds.data.readers.target_columns import Missing
from lfds.data.readers.tu_files import ENDINGS, tu_home
from lfds.data.storage import is_saved_set
from lfds.data.storage import load as load_saved

SOURCE_STATE = "source_state"
"""The key of ``provenance`` under which a prepared set stores the state of its source."""

# Files of all formats have these: their readers need not know them.
_DEFAULTS = {"bad": "stop", "task": "auto"}


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
        for place in (prepared_at(name, root), Path(name)):
            check_present(place, "set of graphs")
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


class ReadOptions(TypedDict, total=False):
    """Options of the reader of molecules; see :func:`lfds.data.readers.smiles.read_smiles`."""

    smiles: str
    target: str | Sequence[str] | None
    task: Task
    bad: Bad
    atom_features: AtomFeatures
    fragments: Fragments
    group: str | None
    keep: Sequence[str]
    missing: Missing


def read_any(
    path: str | os.PathLike[str], *, seed: int = 0, **options: Unpack[ReadOptions]
) -> GraphSet:
    """Read a file or folder in any format of :data:`lfds.config.registry.READERS`.

    Args:
        path: A file or folder.
        seed: Seed of the random order of the nodes of each graph, and of sampled points.
        **options: Options of the reader, for files that have them.
    """
    path = Path(path)
    with reading(path):
        entry = READERS[format_of(path)]
        given = reader_options(entry, path, options)
        graphs: GraphSet = entry.load()(path, seed=seed, **given)
        return graphs


def open_source(
    source: str, root: str | os.PathLike[str] = "data", **options: Unpack[ReadOptions]
) -> GraphSet:
    """Return the graphs of a dataset or a path, whichever ``source`` is.

    Args:
        source: As for :func:`load_dataset` or :func:`read_any`.
        root: Folder of the datasets.
        **options: Options of the reader, for files that have them.
    """
    path = _path_read(source, root, options)
    return load_dataset(source, root) if path is None else read_any(path, **options)


def open_rows(
    source: str, root: str | os.PathLike[str] = "data", **options: Unpack[ReadOptions]
) -> Chunk:
    """Return the graphs of :func:`open_source` with their positions, and the rows skipped.

    Positions are lines where the format has rows that may be skipped; else graphs are counted.
    """
    path = _path_read(source, root, options)
    if path is not None:
        with reading(path):
            entry = READERS[format_of(path)]
            if entry.rows is not None:
                given = reader_options(entry, path, options)
                chunk: Chunk = load(entry.rows)(path, seed=0, **given)
                return chunk
    graphs = open_source(source, root, **options)
    return Chunk(graphs, list(range(len(graphs))), "graph")


def _path_read(source: str, root: str | os.PathLike[str], options: ReadOptions) -> Path | None:
    """Return the file or folder that is read with some options; None for a dataset by its name."""
    if is_path(source):
        return Path(source)
    if not _changed(options):
        return None
    with reading(root):
        return find_files(source, Path(root)) or Path(source)


def options_of(source: str, root: str | os.PathLike[str] = "data") -> tuple[str, ...]:
    """Return the options that the reader of a dataset or a path has."""
    if is_path(source):
        with reading(source):
            return READERS[format_of(Path(source))].options
    if source in BUILT_IN:
        return ()
    with reading(root):
        found = find_files(source, Path(root))
        return () if found is None else READERS[format_of(found)].options


def table_of(source: str, root: str | os.PathLike[str] = "data") -> Path | None:
    """Return the file that a dataset or a path is, if it is a table with named columns."""
    if "smiles" not in options_of(source, root):
        return None
    with reading(root):
        return Path(source) if is_path(source) else find_files(source, Path(root))


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
        check_present(path, "set of graphs")
        raise DataError("no such file or folder", source=path)
    check_regular(path)
    for name, entry in READERS.items():
        if not path.is_dir() and path.name.lower().endswith(entry.suffixes):
            return name
    for name, entry in READERS.items():
        if entry.detect is not None and load(entry.detect)(path):
            return name
    raise DataError(f"unknown format; give {readable_formats()}", source=path)


def reader_options(
    entry: ReaderEntry, source: str | os.PathLike[str], options: ReadOptions
) -> dict[str, Any]:
    """Return the options that were set; raise if the reader of ``source`` does not have them."""
    given = _changed(options)
    for option in given:
        if option not in entry.options:
            raise DataError(
                f"only {suffixes_with(option)} files have this option, not {source}", source=option
            )
    return given


def _changed(options: ReadOptions) -> dict[str, Any]:
    return {name: one for name, one in options.items() if one != _DEFAULTS.get(name)}


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


CHUNK_SIZE = 4096
"""Most graphs of a chunk, unless given."""


def stream_source(
    source: str,
    root: str | os.PathLike[str] = "data",
    *,
    size: int | None = None,
    **options: Unpack[ReadOptions],
) -> Iterator[Chunk]:
    """Yield the graphs of a dataset or a path in chunks, for prediction.

    Files whose format can be streamed are read line by line, and saved sets are mapped from disk;
    other sources are read at once.

    Args:
        source: As for :func:`lfds.data.sources.open_source`.
        root: Folder of the datasets.
        size: Most graphs of a chunk; ``None`` for the default.
        **options: Options of the reader, for files that have them.
    """
    size = CHUNK_SIZE if size is None else size
    path = Path(source)
    if is_path(source):
        with reading(source):
            entry = READERS[format_of(path)]
        if entry.stream is not None:
            given = reader_options(entry, path, options)
            yield from load(entry.stream)(path, size=size, **given)
            return
    if options.get("keep"):
        raise DataError(
            f"only {suffixes_with('keep')} files given by their path have columns to keep, not "
            f"{source}",
            source="keep",
        )
    everything = open_source(source, root, **options)
    for start in range(0, len(everything), size):
        stop = min(start + size, len(everything))
        yield Chunk(everything[start:stop], list(range(start, stop)), "graph")
