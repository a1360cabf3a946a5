"""From folders and files of results to records, each fold once."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from lfds.report.wish import Wish, read_wish
from lfds.results.errors import ResultsError
from lfds.results.record import Record
from lfds.results.store import read_records


@dataclass(frozen=True)
class Source:
    """One folder or file of results.

    Attributes:
        path: Where it is, as it was given.
        records: Those that count: of each fold the one that ended well, else the newest.
        wish: What the last run there was asked for, if a ``spec.json`` says so.
        torn: Bytes of a line whose writing was interrupted; it counts for nothing.
    """

    path: Path
    records: tuple[Record, ...]
    wish: Wish | None = None
    torn: int = 0


def read_sources(paths: Sequence[Path]) -> tuple[Source, ...]:
    """Read all folders and files; a fold that is in several counts in the first."""
    if not paths:
        raise ResultsError("a report needs a folder of results, as lfds compare --out makes one")
    read = []
    seen: set[str] = set()
    for path in paths:
        reading = read_records(path)
        wish = read_wish(path if path.is_dir() else path.parent)
        records = tuple(r for r in counting(reading.records) if r.key not in seen)
        seen |= {record.key for record in records if record.outcome is not None}
        read.append(Source(path, records, wish, len(reading.torn)))
    if not any(source.records or source.wish for source in read):
        names = ", ".join(str(path) for path in paths)
        raise ResultsError("no fold has come to an end yet; run lfds compare first", source=names)
    return tuple(read)


def counting(records: Iterable[Record]) -> list[Record]:
    """Return of each fold the record that ended well, else the newest."""
    found: dict[str, Record] = {}
    for record in records:
        known = found.get(record.key)
        if known is None or known.outcome is None:
            found[record.key] = record
    return list(found.values())
