"""From a name or a path to a GraphSet, by the reader that is made for it."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path

from lfds.data.datasets.catalog import (
    BUILT_IN,
    TU_DATASETS,
    find_files,
    prepared_at,
    unknown,
    where_to_put,
)
from lfds.data.datasets.source_state import SOURCE_STATE, source_state
from lfds.data.errors import DataError, quoted, reading
from lfds.data.graphset import GraphSet
from lfds.data.readers.cloud_folder import is_cloud_folder, read_clouds
from lfds.data.readers.clouds import CloudSettings
from lfds.data.readers.jsonl import read_jsonl
from lfds.data.readers.smiles import Bad, read_smiles
from lfds.data.readers.tu import read_tu
from lfds.data.readers.tu_files import tu_home
from lfds.data.storage import is_saved_set, load


def load_dataset(name: str, root: str | os.PathLike[str] = "data", *, seed: int = 0) -> GraphSet:
    """Return the dataset called ``name``.

    Args:
        name: A name of the catalog, or of any dataset kept under ``root`` in the same way.
        root: Where the files are: ``root/NAME/``, ``root/NAME.zip`` or ``root/NAME.tar.gz``.
            Datasets that are built in need no files.
        seed: Root of the random order of the nodes of each graph, and of what is generated.
    """
    if not isinstance(name, str):
        raise DataError(f"needs the name of a dataset, not {quoted(name)}", source="name")
    if name in BUILT_IN:
        return BUILT_IN[name].make(seed)
    with reading(root):
        return _load(name, Path(root), seed)


def _load(name: str, folder: Path, seed: int) -> GraphSet:
    prepared = prepared_at(name, folder)
    found = find_files(name, folder)
    graphs = _load_prepared(prepared, found)
    if graphs is not None and graphs.provenance.get("node_order_seed") == seed:
        return graphs
    if found is None:
        if name not in TU_DATASETS:
            raise unknown(name)
        raise DataError(
            f"the files of {name} are not in {folder}; {where_to_put(name, folder)}, "
            f"or run `lfds data prepare {name} --download --root {folder}`"
        )
    return read_tu(found, seed=seed)


def _load_prepared(prepared: Path, source: Path | None) -> GraphSet | None:
    """Return what was prepared, or ``None`` where its source is there and tells better."""
    if not is_saved_set(prepared):
        return None
    try:
        graphs = load(prepared)
    except DataError:
        if source is None:
            raise
        return None
    made_from = graphs.provenance.get(SOURCE_STATE)
    return graphs if source is None or made_from == source_state(source) else None


def read_any(
    path: str | os.PathLike[str], *, seed: int = 0, target: str | None = None, bad: Bad = "stop"
) -> GraphSet:
    """Read whatever is at ``path``.

    Args:
        path: A folder written by ``GraphSet.save``, a TU folder or archive, a .jsonl file, a .csv
            file with SMILES, or a folder of clouds ``CLASS/NAME.xyz``.
        seed: Root of the random order of the nodes of each graph, and of sampling points.
        target: The column to predict, of a .csv file that has several.
        bad: What a SMILES that cannot be read does to a .csv file: ``"stop"`` or ``"skip"``.
    """
    place = Path(path)
    with reading(path):
        if place.suffix.lower() == ".csv" and not place.is_dir():
            return read_smiles(place, target=target, bad=bad, seed=seed)
        if target is not None or bad != "stop":
            option = "bad" if target is None else "target"
            raise DataError(f"only a .csv file is read with it, not {place}", source=option)
        return _read(place, seed)


def open_source(
    source: str,
    root: str | os.PathLike[str] = "data",
    *,
    target: str | None = None,
    bad: Bad = "stop",
) -> GraphSet:
    """Return the graphs of a name or a path, whichever ``source`` is.

    Args:
        source: What :func:`load_dataset` or :func:`read_any` takes.
        root: Where datasets known by name are kept.
        target: The column to predict, of a .csv file that has several.
        bad: What a SMILES that cannot be read does to a .csv file.
    """
    if _is_path(source) or target is not None or bad != "stop":
        return read_any(source, target=target, bad=bad)
    return load_dataset(source, root)


def places_of(source: str, root: str | os.PathLike[str] = "data") -> list[Path]:
    """Return the files and folders that :func:`open_source` reads, as far as they are there."""
    if _is_path(source):
        return [Path(source)]
    if source in BUILT_IN:
        return []
    with reading(root):
        places = (prepared_at(source, Path(root)), find_files(source, Path(root)))
        return [place for place in places if place is not None and place.exists()]


def _is_path(source: str) -> bool:
    with reading(source):
        return source not in TU_DATASETS and source not in BUILT_IN and Path(source).exists()


def _read(place: Path, seed: int) -> GraphSet:
    if not place.exists():
        raise DataError("is not there", source=place)
    if is_saved_set(place):
        return load(place)
    suffix = "" if place.is_dir() else place.suffix.lower()
    if suffix in _READERS:
        return _READERS[suffix](place, seed)
    if not place.is_dir() or tu_home(place) is not None:
        return read_tu(place, seed=seed)
    if is_cloud_folder(place):
        return read_clouds(place, CloudSettings(seed=seed)).graphs
    raise DataError(
        "is no dataset: it needs NAME_A.txt and so on (TU collection), CLASS/NAME.xyz (clouds), "
        "or what GraphSet.save writes",
        source=place,
    )


_READERS: Mapping[str, Callable[[Path, int], GraphSet]] = {
    ".jsonl": lambda path, seed: read_jsonl(path, seed=seed),
    ".ndjson": lambda path, seed: read_jsonl(path, seed=seed),
}
