"""Records on disk: JSON lines, only ever appended to, each there whole or not at all."""

import fcntl
import gzip
import json
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

from pydantic import ValidationError

from lfds.results.errors import ResultsError
from lfds.results.record import FORMAT, Record

RECORDS = "records.jsonl"
PACKED = "records.jsonl.gz"
TORN = "records.torn"


@dataclass(frozen=True)
class Reading:
    """What a file of records holds.

    Attributes:
        records: One for each sound line, in the order of writing.
        whole: Bytes that belong to sound lines.
        torn: What follows them: a line whose writing was interrupted. It counts for nothing.
    """

    records: tuple[Record, ...]
    whole: int
    torn: bytes


def read_records(source: str | os.PathLike[str]) -> Reading:
    """Read a folder of results, or a file of records; an interrupted last line is set apart.

    Args:
        source: A folder in which ``lfds compare`` wrote, or a file of the same lines, compressed
            where its name ends in ``.gz``. In a folder ``records.jsonl.gz`` is read where there is
            no ``records.jsonl``.
    """
    path = Path(source)
    try:
        path = _file_in(path) if path.is_dir() else path
        content = path.read_bytes()
        return _parsed(gzip.decompress(content) if path.suffix == ".gz" else content, path)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise ResultsError("is no sound gzip file; restore it", source=path) from error
    except OSError as error:
        raise ResultsError(f"cannot be read ({error.strerror})", source=path) from error


def _file_in(folder: Path) -> Path:
    plain, packed = folder / RECORDS, folder / PACKED
    return packed if packed.exists() and not plain.exists() else plain


class RecordStore:
    """A folder of results, open for adding to; one process at a time.

    Use :meth:`open`. Where a process was killed while writing, the torn line is moved to a file of
    its own before anything is added.

    Attributes:
        folder: Where it is.
        torn: Bytes of the interrupted line that was set aside on opening; 0 where none was.
    """

    def __init__(self, folder: Path, descriptor: int, reading: Reading) -> None:
        self.folder = folder
        self.torn = len(reading.torn)
        self._descriptor = descriptor
        self._records: dict[str, Record] = {}
        for record in reading.records:
            self._count(record)

    @classmethod
    @contextmanager
    def open(cls, folder: str | os.PathLike[str]) -> Iterator["RecordStore"]:
        """Open a folder, made if need be, and keep others from writing to it meanwhile."""
        place = Path(folder)
        path = place / RECORDS
        try:
            place.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
        except OSError as error:
            raise ResultsError(f"cannot be written ({error.strerror})", source=path) from error
        try:
            _lock(descriptor, place)
            yield cls(place, descriptor, _mended(descriptor, path))
        finally:
            os.close(descriptor)

    def find(self, key: str) -> Record | None:
        """Return the record that counts for a fold: the one that ended well, else the newest."""
        return self._records.get(key)

    def add(self, record: Record) -> None:
        """Write a record in one piece and wait until the disk has it."""
        line = record.model_dump_json().encode() + b"\n"
        end = os.fstat(self._descriptor).st_size
        try:
            if os.write(self._descriptor, line) != len(line):
                raise OSError(28, "No space left on device")
            os.fsync(self._descriptor)
        except OSError as error:
            # What was written of the line is taken back: the file stays sound.
            os.ftruncate(self._descriptor, end)
            raise ResultsError(
                f"cannot be written ({error.strerror}); the same command goes on from here",
                source=self.folder / RECORDS,
            ) from error
        self._count(record)

    def _count(self, record: Record) -> None:
        known = self._records.get(record.key)
        if known is None or known.outcome is None:
            self._records[record.key] = record


def _lock(descriptor: int, folder: Path) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        raise ResultsError(
            "another process is writing results here; wait for it or choose another folder",
            source=folder,
        ) from error


def _mended(descriptor: int, path: Path) -> Reading:
    """Read the file; where its last line is torn, keep that elsewhere and cut it off."""
    reading = _parsed(path.read_bytes(), path)
    if reading.torn:
        with (path.parent / TORN).open("ab") as aside:
            aside.write(reading.torn.rstrip(b"\n") + b"\n")
            aside.flush()
            os.fsync(aside.fileno())
        os.ftruncate(descriptor, reading.whole)
        os.fsync(descriptor)
    return reading


def _parsed(content: bytes, path: Path) -> Reading:
    records = []
    whole = 0
    lines = BytesIO(content).readlines()
    for number, line in enumerate(lines, start=1):
        entry = _json(line)
        if entry is None and number == len(lines):
            break
        records.append(_record(entry, path, number))
        whole += len(line)
    return Reading(tuple(records), whole, content[whole:])


def _json(line: bytes) -> object:
    """Return what a line says, or None for a line that was not written to its end."""
    if not line.endswith(b"\n"):
        return None
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def _record(entry: object, path: Path, number: int) -> Record:
    version = entry.get("format") if isinstance(entry, dict) else None
    if isinstance(version, int) and version != FORMAT:
        raise ResultsError(
            f"is of format {version}, and this lfds reads format {FORMAT}; "
            f"choose another folder, or use the lfds that wrote it",
            source=path,
            line=number,
        )
    try:
        return Record.model_validate(entry)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise ResultsError(
            f"is no record of a fold ({where} {first['msg']}); "
            f"restore the file or choose another folder",
            source=path,
            line=number,
        ) from error
