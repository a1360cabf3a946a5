"""From folders and files of results to records, each fold once."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from lfds.report.run_spec import RequestedRun, read_requested_run
from lfds.results.errors import ResultsError
from lfds.results.record import Record
from lfds.results.store import RECORDS, read_records


@dataclass(frozen=True)
class Source:
    """One folder or file of results.

    Attributes:
        path: Where it is, as it was given.
        records: Those that count: of each fold the one that ended well, else the newest.
        met: One of each fold that has come to an end here, counted here or in another source.
        wish: What the last run there was asked for, if a ``spec.json`` says so.
        torn: Bytes of a line whose writing was interrupted; it counts for nothing.
    """

    path: Path
    records: tuple[Record, ...]
    met: tuple[Record, ...]
    wish: RequestedRun | None = None
    torn: int = 0

    def means(self, record: Record, origin: "Source") -> bool:
        """Whether a record of this or another source is one that was asked for here."""
        if self.wish is None or not self.wish.meant(record):
            return False
        if origin is self or origin.wish is None or not origin.wish.meant(record):
            return True
        return self.wish.is_like(origin.wish)


def read_sources(paths: Sequence[Path]) -> tuple[Source, ...]:
    """Read all folders and files; a fold that is in several counts once."""
    if not paths:
        raise ResultsError("a report needs a folder of results, as lfds compare --out makes one")
    readings = [read_records(path) for path in paths]
    counted = {id(record) for record in counting(r for one in readings for r in one.records)}
    sources = tuple(
        Source(
            path,
            tuple(record for record in reading.records if id(record) in counted),
            tuple(counting(reading.records)),
            _wish_beside(path),
            len(reading.torn),
        )
        for path, reading in zip(paths, readings, strict=True)
    )
    if not any(source.records or source.wish for source in sources):
        names = ", ".join(str(path) for path in paths)
        raise ResultsError("no fold has come to an end yet; run lfds compare first", source=names)
    return sources


def _wish_beside(path: Path) -> RequestedRun | None:
    """A folder's own; a file's only where it is called as in a folder, and so belongs to one."""
    if path.is_dir():
        return read_requested_run(path)
    return read_requested_run(path.parent) if path.name.startswith(RECORDS) else None


def counting(records: Iterable[Record]) -> list[Record]:
    """Return of each fold the record that ended well, else the newest."""
    found: dict[str, Record] = {}
    for record in records:
        known = found.get(record.key)
        if known is None or known.outcome is None:
            found[record.key] = record
    return list(found.values())
