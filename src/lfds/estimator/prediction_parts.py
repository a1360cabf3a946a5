"""Predictions for any number of graphs, as a folder of parts that many processes write.

A part holds the predictions for a run of graphs and is written at once. The folder says which model
and which graphs it belongs to, and lists the parts that are done, so that an interrupted run goes
on with the others. Which process writes a part changes no bit of it.
"""

import csv
import hashlib
import io
import json
import os
import pickle
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import count, islice
from pathlib import Path
from typing import Any, Literal, cast

from pydantic import BaseModel, ConfigDict, ValidationError

from lfds.config.messages import SpecError
from lfds.config.migrations import SCHEMA_VERSION, VERSION_KEY, check_version, version_of
from lfds.config.strict_json import strict_json
from lfds.data.atomic_io import atomic_write
from lfds.data.chunk import Chunk
from lfds.data.errors import DataError, quoted, reading
from lfds.data.shards.engines import HERE, Where, connected, map_parts
from lfds.data.shards.folder import file_sha256
from lfds.data.shards.sharded_set import ShardedGraphSet
from lfds.data.sources import CHUNK_SIZE, is_path, places_of, source_state
from lfds.estimator.persistence import CARD, load
from lfds.estimator.prediction_table import Estimator, table_columns, table_header, table_rows

Format = Literal["csv", "parquet"]

CHUNKS_PER_PART = 16
"""Chunks of graphs whose predictions are in a part: the chunks are those of one process."""

MANIFEST, DONE = "predictions.json", "done.jsonl"
_FORMAT = "lfds predictions 1"


class PredictionSettings(BaseModel):
    """What decides the content of the parts; another model or data is another folder.

    Attributes:
        model: Fingerprint of the model.
        data: Fingerprint of the graphs.
        file_format: Of the parts.
        graphs_per_part: Most graphs of a part.
        errors: Whether skipped rows are listed with the reason.
        device: Where the network runs; ``None`` for the model's.
        precision: How precisely; ``None`` for the model's.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    model: str
    data: str
    file_format: Format
    graphs_per_part: int = CHUNKS_PER_PART * CHUNK_SIZE
    errors: bool = False
    device: str | None = None
    precision: str | None = None


class FinishedPart(BaseModel):
    """A line of the list of finished parts.

    Attributes:
        number: Of the part.
        graphs: Number of graphs that it has predictions for.
        sha256: Of the file.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    number: int
    graphs: int
    sha256: str


@dataclass(frozen=True)
class _Task:
    """One part, for any process.

    Attributes:
        number: Of the part.
        model: Folder of the model.
        settings: What decides the content.
        out: Folder of the parts.
        shards: Folder of the graphs; None if they are in ``chunks``.
        start: The first graph, if they are in a folder.
        stop: The last graph, excluded.
        chunks: The graphs otherwise, pickled.
    """

    number: int
    model: Path
    settings: PredictionSettings
    out: Path
    shards: Path | None = None
    start: int = 0
    stop: int = 0
    chunks: bytes = b""


def predict_parts(
    model: Path,
    graphs: "ShardedGraphSet | Iterable[Chunk]",
    out: Path,
    settings: PredictionSettings,
    *,
    where: Where = HERE,
    progress: Callable[[int], None] | None = None,
) -> int:
    """Write the predictions for graphs to a folder of parts; return the number of graphs.

    Parts that are in the folder already are verified and skipped.

    Args:
        model: Folder of a saved model.
        graphs: A set in parts, which all processes read themselves, or chunks of graphs, which
            this process reads and sends; those are not for a cluster.
        out: A new folder, or that of an interrupted run with the same settings.
        settings: What decides the content of the parts.
        where: Which processes predict.
        progress: Called with the number of graphs of each finished part.
    """
    if where.ray is not None and not isinstance(graphs, ShardedGraphSet):
        raise SpecError(
            "ray: a cluster reads graphs from a set in parts in a folder that all nodes share; "
            "make one with: lfds data convert IN OUT --shards"
        )
    if isinstance(graphs, ShardedGraphSet) and not graphs.is_whole:
        raise DataError("needs all graphs of a folder; convert those to predict", source="graphs")
    _check_parquet(settings)
    model, out = model.resolve(), out.resolve()
    # A cluster that does not answer is found before a folder is made.
    with connected(None if (out / MANIFEST).exists() else where.ray):
        return _predict(model, graphs, out, settings, where, progress)


def _predict(
    model: Path,
    graphs: "ShardedGraphSet | Iterable[Chunk]",
    out: Path,
    settings: PredictionSettings,
    where: Where,
    progress: Callable[[int], None] | None,
) -> int:
    done = _begin(out, settings)
    total = 0
    for part in done.values():
        total += part.graphs
        if progress is not None:
            progress(part.graphs)
    if isinstance(graphs, ShardedGraphSet):
        tasks = _tasks_of_shards(model, graphs, out, settings)
    else:
        tasks = _tasks_of_chunks(model, graphs, out, settings, done)
    left = (task for task in tasks if task.number not in done)
    for part in map_parts(_write_part, left, where):
        _append(out, settings, part)
        total += part.graphs
        if progress is not None:
            progress(part.graphs)
    return total


def part_file(out: Path, number: int, settings: PredictionSettings) -> Path:
    """Return the file of a part."""
    return out / f"part-{number:06d}.{settings.file_format}"


def model_fingerprint(model: Path) -> str:
    """Return a hash of a saved model; its card has the checksums of all other files."""
    return file_sha256(model / CARD)[:24]


def data_fingerprint(source: str, root: Path, options: dict[str, Any]) -> str:
    """Return a hash of a source that is read as a stream: of its name, its files, and options."""
    with reading(source):
        states = [source_state(place) for place in places_of(source, root)]
    name = os.path.abspath(source) if is_path(source) else source
    facts = json.dumps([name, states, options], sort_keys=True)
    return hashlib.sha256(facts.encode()).hexdigest()[:24]


def _check_parquet(settings: PredictionSettings) -> None:
    if settings.file_format != "parquet":
        return
    try:
        import pyarrow  # noqa: F401
    except ImportError as error:
        raise SpecError(
            "Parquet needs pyarrow; install it with: pip install 'lfds[parquet]'"
        ) from error


def _begin(out: Path, settings: PredictionSettings) -> dict[int, FinishedPart]:
    """Make the folder, or return what is done in it."""
    manifest = out / MANIFEST
    if not manifest.exists():
        _check_empty(out)
        content = {"format": _FORMAT, VERSION_KEY: SCHEMA_VERSION, **settings.model_dump()}
        atomic_write(manifest, (json.dumps(content, indent=1) + "\n").encode())
        return {}
    _check_same(_read_settings(manifest), settings, out)
    done = {}
    for part in _listed(out / DONE):
        file = part_file(out, part.number, settings)
        if file.is_file() and file_sha256(file) == part.sha256:
            done[part.number] = part
    return done


def _check_empty(out: Path) -> None:
    with reading(out):
        if not out.exists():
            return
        if not out.is_dir():
            raise DataError("is a file, where a folder of parts is to be written", source=out)
        others = sorted(entry.name for entry in out.iterdir() if not entry.name.startswith("."))
    if others:
        raise DataError(
            f"holds other files, such as {quoted(others[0])}; choose a new folder", source=out
        )


def _read_settings(manifest: Path) -> PredictionSettings:
    with reading(manifest):
        text = manifest.read_text(encoding="utf-8")
    try:
        content = strict_json(text)
        if not isinstance(content, dict) or content.pop("format", None) != _FORMAT:
            raise ValueError(f'it needs "format": "{_FORMAT}"')
        check_version(version_of(content))
        content.pop(VERSION_KEY, None)
        return PredictionSettings.model_validate(content)
    except (ValueError, RecursionError) as error:
        reason: object = error
        if isinstance(error, ValidationError):
            reason = error.errors(include_url=False)[0]["msg"]
        raise DataError(
            f"cannot be read ({reason}); choose a new folder", source=manifest
        ) from error


def _check_same(found: PredictionSettings, settings: PredictionSettings, out: Path) -> None:
    meanings = {"model": "another model", "data": "other graphs"}
    for name in PredictionSettings.model_fields:
        if getattr(found, name) != getattr(settings, name):
            what = meanings.get(name, f"another {name.replace('_', ' ')}")
            raise DataError(f"holds predictions of {what}; choose a new folder", source=out)


def _listed(file: Path) -> Iterator[FinishedPart]:
    """Yield the finished parts; a line that a killed process left unfinished is ignored."""
    if not file.exists():
        return
    with reading(file):
        lines = file.read_bytes().splitlines()
    for line in lines:
        try:
            yield FinishedPart.model_validate_json(line)
        except ValidationError:
            continue


def _append(out: Path, settings: PredictionSettings, part: FinishedPart) -> None:
    """List a part as finished, if it is here and what was written."""
    file = part_file(out, part.number, settings)
    if not file.is_file() or file_sha256(file) != part.sha256:
        raise DataError(
            "was written by another machine and is not here; the output needs to be in a folder "
            "that all machines share",
            source=file,
        )
    try:
        with (out / DONE).open("ab") as lines:
            # After a line that was cut off, a new one begins.
            start = b"" if lines.tell() == 0 else b"\n"
            lines.write(start + part.model_dump_json().encode())
    except OSError as error:
        raise DataError(f"cannot be written ({error.strerror})", source=out / DONE) from error


def _tasks_of_shards(
    model: Path, graphs: ShardedGraphSet, out: Path, settings: PredictionSettings
) -> Iterator[_Task]:
    step = settings.graphs_per_part
    for number, start in enumerate(range(0, len(graphs), step)):
        yield _Task(
            number,
            model,
            settings,
            out,
            shards=graphs.folder.path.resolve(),
            start=start,
            stop=min(start + step, len(graphs)),
        )


def _tasks_of_chunks(
    model: Path,
    chunks: Iterable[Chunk],
    out: Path,
    settings: PredictionSettings,
    done: dict[int, FinishedPart],
) -> Iterator[_Task]:
    source = iter(chunks)
    for number in count():
        some = list(islice(source, CHUNKS_PER_PART))
        if not some:
            return
        # Finished parts are read and not sent.
        sent = b"" if number in done else pickle.dumps(some)
        yield _Task(number, model, settings, out, chunks=sent)


def _write_part(task: _Task) -> FinishedPart:
    """Predict the graphs of a part, and write it."""
    settings = task.settings
    estimator = _loaded(task.model, settings)
    if task.shards is None:
        chunks: Iterable[Chunk] = cast(list[Chunk], pickle.loads(task.chunks))
    else:
        chunks = _chunks_of(_opened(task.shards, settings.data), task.start, task.stop)
    write = _csv if settings.file_format == "csv" else _parquet
    content, graphs = write(estimator, chunks, settings.errors)
    atomic_write(part_file(task.out, task.number, settings), content)
    return FinishedPart(
        number=task.number, graphs=graphs, sha256=hashlib.sha256(content).hexdigest()
    )


def _chunks_of(graphs: ShardedGraphSet, start: int, stop: int) -> Iterator[Chunk]:
    for first in range(start, stop, CHUNK_SIZE):
        last = min(first + CHUNK_SIZE, stop)
        _verify(graphs, first, last)
        yield Chunk(graphs[first:last], list(range(first, last)), "graph")


def _verify(graphs: ShardedGraphSet, first: int, last: int) -> None:
    """Compare the checksums of the parts that some graphs are in, once in each process."""
    starts = graphs.folder.starts
    for number, part in enumerate(graphs.folder.manifest.parts):
        inside = starts[number] < last and starts[number + 1] > first
        if inside and part.sha256 not in _VERIFIED:
            graphs.folder.verify(part)
            _VERIFIED.add(part.sha256)


_VERIFIED: set[str] = set()


@lru_cache(maxsize=1)
def _loaded(model: Path, settings: PredictionSettings) -> Estimator:
    if model_fingerprint(model) != settings.model:
        raise DataError("has changed since the command was started; start again", source=model)
    estimator = load(model)
    given = {"device": settings.device, "precision": settings.precision}
    estimator.set_params(**{name: one for name, one in given.items() if one is not None})
    return estimator


@lru_cache(maxsize=1)
def _opened(shards: Path, fingerprint: str) -> ShardedGraphSet:
    graphs = ShardedGraphSet(shards)
    if graphs.fingerprint != fingerprint:
        raise DataError("has changed since the command was started; start again", source=shards)
    return graphs


def _csv(estimator: Estimator, chunks: Iterable[Chunk], errors: bool) -> tuple[bytes, int]:
    text, graphs = io.StringIO(newline=""), 0
    table = csv.writer(text, lineterminator="\n")
    for chunk in chunks:
        if graphs == 0:
            table.writerow(table_header(estimator, chunk, errors=errors))
        table.writerows(table_rows(estimator, chunk, errors=errors))
        graphs += len(chunk.positions)
    return text.getvalue().encode(), graphs


def _parquet(estimator: Estimator, chunks: Iterable[Chunk], errors: bool) -> tuple[bytes, int]:
    import pyarrow as arrow
    from pyarrow import parquet

    tables, graphs = [], 0
    for chunk in chunks:
        tables.append(arrow.table(table_columns(estimator, chunk, errors=errors)))
        graphs += len(chunk.positions)
    content = io.BytesIO()
    parquet.write_table(arrow.concat_tables(tables, promote_options="permissive"), content)
    return content.getvalue(), graphs
