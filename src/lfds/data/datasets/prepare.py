"""Prepared datasets: downloaded, compared with the published statistics, and saved."""

import os
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import quote

from lfds.data.datasets.catalog import (
    BUILT_IN,
    COLLECTION,
    TU_DATASETS,
    find_files,
    not_found,
    prepared_at,
    where_to_put,
)
from lfds.data.datasets.download import MAX_SIZE, Progress, download_file
from lfds.data.errors import DataError, quoted, reading
from lfds.data.graphset import GraphSet
from lfds.data.readers.tu import read_tu
from lfds.data.sources import SOURCE_STATE, read_any, source_state
from lfds.data.summary import Summary, differences, summarize


@dataclass(frozen=True)
class Prepared:
    """A prepared dataset.

    Attributes:
        graphs: The dataset.
        summary: Its statistics.
        differences: How it differs from the published statistics, if there are any.
        saved: The folder it was saved to.
        sha256: Hash of the downloaded archive; ``None`` without a download.
    """

    graphs: GraphSet
    summary: Summary
    differences: list[str]
    saved: Path
    sha256: str | None


def prepare(
    name: str,
    root: str | os.PathLike[str] = "data",
    *,
    download: bool = False,
    source: str = COLLECTION,
    sha256: str | None = None,
    progress: Progress = lambda _received, _total: None,
) -> Prepared:
    """Read the dataset ``name`` and save it for fast loading as ``root/NAME.graphs``.

    Args:
        name: A name of the catalog, or of any dataset stored under ``root`` in the same way.
        root: Folder of the datasets.
        download: Whether to download ``NAME.zip`` if there are no files.
        source: Address to download from: ``source/NAME.zip``.
        sha256: Expected SHA-256 of the archive; ``None`` does not check it.
        progress: Called with the progress of the download.
    """
    if name in ("", "..") or Path(name).name != name or not name.isprintable():
        raise DataError(
            f"needs the name of a dataset, which is no path, not {quoted(name)}; read a path with "
            f"lfds.data.read_any",
            source="name",
        )
    if name in BUILT_IN:
        raise DataError(f"{name} is built in and needs no preparation; see `lfds data info {name}`")
    folder = Path(root)
    with reading(folder):
        found = find_files(name, folder)
    downloaded = None
    if found is None:
        if not download:
            raise not_found(name, folder)
        found = folder / f"{name}.zip"
        downloaded = _download(name, found, source, sha256, progress)
    with reading(found):
        # Before reading: files that change meanwhile are read again the next time.
        state = source_state(found)
    graphs = read_any(found)
    graphs = replace(graphs, provenance={**graphs.provenance, SOURCE_STATE: state})
    summary = summarize(graphs)
    saved = prepared_at(name, folder)
    graphs.save(saved)
    return Prepared(graphs, summary, _differences(graphs, summary), saved, downloaded)


def _download(name: str, target: Path, source: str, sha256: str | None, progress: Progress) -> str:
    most = TU_DATASETS[name].max_bytes if name in TU_DATASETS else MAX_SIZE
    try:
        return download_file(
            f"{source.rstrip('/')}/{quote(name)}.zip",
            target,
            sha256=sha256,
            max_size=min(most, MAX_SIZE),
            check=_check_readable,
            progress=progress,
        )
    except DataError as error:
        raise DataError(f"{error}; {where_to_put(name, target.parent)}") from error


def _check_readable(archive: Path) -> None:
    # Other statistics than published are no reason to refuse: the table may be wrong.
    read_tu(archive)


def _differences(graphs: GraphSet, summary: Summary) -> list[str]:
    published = TU_DATASETS.get(graphs.name)
    return [] if published is None else differences(graphs, summary, published)
