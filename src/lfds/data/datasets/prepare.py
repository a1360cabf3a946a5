"""A dataset made ready: fetched if need be, compared with what was published, and saved."""

import os
from dataclasses import dataclass, replace
from pathlib import Path

from lfds.data.datasets.catalog import (
    BUILT_IN,
    COLLECTION,
    TU_DATASETS,
    find_files,
    prepared_at,
    unknown,
    where_to_put,
)
from lfds.data.datasets.download import Progress, fetch
from lfds.data.datasets.source_state import SOURCE_STATE, source_state
from lfds.data.errors import DataError, reading
from lfds.data.graphset import GraphSet
from lfds.data.readers.tu import read_tu
from lfds.data.summary import Summary, differences, summarise


@dataclass(frozen=True)
class Prepared:
    """A dataset that is ready.

    Attributes:
        graphs: The dataset.
        summary: What it is like.
        differences: What is not as published; empty when all is, or when nothing was published.
        saved: The folder it was saved to.
        sha256: Of the archive that was fetched; ``None`` when nothing was.
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
    progress: Progress = lambda _here, _total: None,
) -> Prepared:
    """Read the dataset ``name`` under ``root`` and save it for quick loading as ``NAME.graphs``.

    Args:
        name: A name of the catalog, or of any dataset kept under ``root`` in the same way.
        root: Where the files are, or are to be.
        download: Whether to fetch ``NAME.zip`` when there are no files.
        source: Where to fetch it from: ``source/NAME.zip``.
        sha256: What the SHA-256 of the archive must be, where that is known.
        progress: Told how far the download is.
    """
    if name in BUILT_IN:
        raise DataError(f"{name} is built in and needs no preparing; see `lfds data info {name}`")
    folder = Path(root)
    with reading(folder):
        found = find_files(name, folder)
    fetched = None
    if found is None:
        if name not in TU_DATASETS and not download:
            raise unknown(name)
        if not download:
            raise DataError(
                f"the files of {name} are not in {folder}; {where_to_put(name, folder)}, "
                f"or add --download"
            )
        found = folder / f"{name}.zip"
        fetched = _download(name, found, source, sha256, progress)
    with reading(found):
        # Taken before reading: what changes meanwhile is read again the next time.
        state = source_state(found)
    graphs = read_tu(found)
    graphs = replace(graphs, provenance={**graphs.provenance, SOURCE_STATE: state})
    summary = summarise(graphs)
    saved = prepared_at(name, folder)
    graphs.save(saved)
    return Prepared(graphs, summary, _differences(graphs, summary), saved, fetched)


def _download(name: str, target: Path, source: str, sha256: str | None, progress: Progress) -> str:
    try:
        return fetch(
            f"{source.rstrip('/')}/{name}.zip",
            target,
            sha256=sha256,
            check=_check_readable,
            progress=progress,
        )
    except DataError as error:
        raise DataError(f"{error}; {where_to_put(name, target.parent)}") from error


def _check_readable(archive: Path) -> None:
    # What is not as published is told, not thrown away: the published table may be wrong.
    read_tu(archive)


def _differences(graphs: GraphSet, summary: Summary) -> list[str]:
    published = TU_DATASETS.get(graphs.name)
    return [] if published is None else differences(graphs, summary, published)
