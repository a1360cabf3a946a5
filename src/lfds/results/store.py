"""Records on disk: append-only JSON lines, each written completely or not at all."""

import fcntl
import gzip
import json
import os
import stat
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from lfds.config.strict_json import strict_json
from lfds.results.record import FORMAT, Record, ResultsError, first_problem

RECORDS = "records.jsonl"
PACKED = "records.jsonl.gz"
TORN = "records.torn"
# Records compress 5 to 20 times.
_MAX_EXPANSION, _HARMLESS_SIZE = 100, 64 * 2**20


@dataclass(frozen=True)
class Reading:
    """The content of a file of records.

    Attributes:
        records: One per complete line, in the order of writing.
        size: Bytes of the complete lines.
        torn: The bytes after them: a line whose writing was interrupted. It is ignored.
    """

    records: tuple[Record, ...]
    size: int
    torn: bytes


def read_records(source: str | os.PathLike[str]) -> Reading:
    """Read the records of a folder or file.

    Args:
        source: A folder that ``lfds compare`` wrote to, or a file of records, compressed if its
            name ends in ``.gz``. A folder without ``records.jsonl`` is read from
            ``records.jsonl.gz``.
    """
    path = Path(source)
    try:
        if path.is_dir():
            plain, packed = path / RECORDS, path / PACKED
            path = packed if packed.exists() and not plain.exists() else plain
            if not path.exists() and not path.is_symlink():
                problem = f"has no {RECORDS}; run lfds compare first"
                raise ResultsError(problem, source=source)
            check_regular_file(path)
        _check_no_device(path)
        return _parsed(_unpacked(path) if path.suffix == ".gz" else path.read_bytes(), path)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise ResultsError("invalid gzip file; restore it", source=path) from error
    except FileNotFoundError as error:
        raise ResultsError("no such file or folder", source=path) from error
    except OSError as error:
        raise ResultsError(f"cannot be read ({error.strerror})", source=path) from error


class RecordStore:
    """A folder of results that one process at a time appends to.

    Use :meth:`open`. If a process was killed while writing, the torn line is moved to
    ``records.torn`` before anything is appended.

    Attributes:
        folder: The folder.
        torn: Bytes of the torn line that was moved on opening; 0 if there was none.
    """

    def __init__(self, folder: Path, descriptor: int, reading: Reading) -> None:
        self.folder = folder
        self.torn = len(reading.torn)
        self._descriptor = descriptor
        self._records = one_per_fold(reading.records)

    @classmethod
    @contextmanager
    def open(cls, folder: str | os.PathLike[str]) -> Iterator["RecordStore"]:
        """Open a folder, create it if necessary, and lock it for other processes."""
        place = Path(folder)
        path = place / RECORDS
        try:
            # Where a link points, which may not be there yet.
            Path(os.path.realpath(place)).mkdir(parents=True, exist_ok=True)
            check_regular_file(path)
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
        except (FileExistsError, NotADirectoryError) as error:
            raise ResultsError(
                "is a file, where a folder of results is to be written; choose a new one",
                source=place,
            ) from error
        except OSError as error:
            raise ResultsError(f"cannot be written ({error.strerror})", source=path) from error
        try:
            _lock(descriptor, place)
            yield cls(place, descriptor, _repaired(descriptor, path))
        finally:
            os.close(descriptor)

    def find(self, key: str) -> Record | None:
        """Return the record of a fold: the one that completed, else the latest failure."""
        return self._records.get(key)

    def add(self, record: Record) -> None:
        """Append a record and wait until it is on disk."""
        line = record.model_dump_json().encode() + b"\n"
        end = os.fstat(self._descriptor).st_size
        try:
            if os.write(self._descriptor, line) != len(line):
                raise OSError(28, "No space left on device")
            os.fsync(self._descriptor)
        except OSError as error:
            # Remove the part of the line that was written: the file stays valid.
            os.ftruncate(self._descriptor, end)
            raise ResultsError(
                f"cannot be written ({error.strerror}); run the same command again to resume",
                source=self.folder / RECORDS,
            ) from error
        _keep(self._records, record)


def one_per_fold(records: Iterable[Record]) -> dict[str, Record]:
    """Return one record per fold by key: the first that completed, else the latest failure."""
    kept: dict[str, Record] = {}
    for record in records:
        _keep(kept, record)
    return kept


def _keep(kept: dict[str, Record], record: Record) -> None:
    earlier = kept.get(record.key)
    if earlier is None or earlier.outcome is None:
        kept[record.key] = record


def _lock(descriptor: int, folder: Path) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        raise ResultsError(
            "another process is writing results here; wait for it or choose another folder",
            source=folder,
        ) from error


def _repaired(descriptor: int, path: Path) -> Reading:
    """Read the file; move a torn last line to a file of its own."""
    reading = _parsed(path.read_bytes(), path)
    if reading.torn:
        with (path.parent / TORN).open("ab") as file:
            file.write(reading.torn.rstrip(b"\n") + b"\n")
            file.flush()
            os.fsync(file.fileno())
        os.ftruncate(descriptor, reading.size)
        os.fsync(descriptor)
    return reading


def _parsed(content: bytes, path: Path) -> Reading:
    records = []
    size = 0
    lines = BytesIO(content).readlines()
    for number, line in enumerate(lines, start=1):
        entry = _json(line)
        if entry is None and number == len(lines):
            break
        records.append(_record(entry, line, path, number))
        size += len(line)
    return Reading(tuple(records), size, content[size:])


def _json(line: bytes) -> Any:
    """Return the content of a line, or None for a line that was not written completely."""
    if not line.endswith(b"\n"):
        return None
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def check_regular_file(path: Path) -> None:
    """Raise a ResultsError for a file of a run that is a device or pipe, which may have no end.

    It may be missing, and it may be a link to a file.
    """
    if path.exists() and not path.is_file():
        raise ResultsError("is not a regular file; remove it, or use another folder", source=path)


def _check_no_device(path: Path) -> None:
    # A pipe that was given by name has an end, as that of `lfds report <(zcat ...)`.
    mode = path.stat().st_mode
    if stat.S_ISCHR(mode) or stat.S_ISBLK(mode):
        raise ResultsError("is a device; give a folder of results or a file", source=path)


def _unpacked(path: Path) -> bytes:
    """Return the content of a gzip file, unless it is a decompression bomb."""
    most = max(_HARMLESS_SIZE, _MAX_EXPANSION * path.stat().st_size)
    with gzip.open(path) as file:
        content = file.read(most + 1)
    if len(content) > most:
        raise ResultsError(
            f"unpacks to more than {_MAX_EXPANSION} times its size, as a decompression bomb does; "
            f"if you trust it, unpack it and give the file",
            source=path,
        )
    return content


def _record(entry: Any, line: bytes, path: Path, number: int) -> Record:
    try:
        if entry is not None:
            strict_json(line)
        if not isinstance(entry, dict):
            raise ValueError("not a JSON object")
        version = entry.get("format", FORMAT)
        if version != FORMAT:
            raise ValueError(f"it has format {version!r}, and this lfds reads format {FORMAT}")
        return Record.from_stored(entry)
    except ValueError as error:
        problem = first_problem(error) if isinstance(error, ValidationError) else error
        raise ResultsError(
            f"invalid record ({problem}); restore the file or choose another folder",
            source=path,
            line=number,
        ) from error
