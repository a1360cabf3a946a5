"""What a fold costs: seconds and memory, the median over folds, for every row."""

from collections.abc import Mapping, Sequence
from statistics import median

from benchmarks.table1.rows import as_table, columns_of, row_names
from lfds.report.load import Source
from lfds.report.report import Report
from lfds.report.series import Series
from lfds.results.record import Protocol


def costs(made: Report, notes: Mapping[str, str]) -> str:
    """Return a table for each protocol that has records, and a note."""
    first = first_folds(made.sources)
    protocols: tuple[Protocol, ...] = ("paper", "fair")
    parts = [part for protocol in protocols if (part := _table(made, protocol, first)) is not None]
    return "\n\n".join(filter(None, [*(parts or ["Not run."]), notes.get("costs")]))


def first_folds(sources: Sequence[Source]) -> frozenset[str]:
    """Return the key of the first fold that each source has of each dataset.

    It pays for code and data that the later folds of its process find in memory.
    """
    first: dict[tuple[int, str], str] = {}
    for place, source in enumerate(sources):
        for record in source.met:
            first.setdefault((place, record.fold.dataset), record.key)
    return frozenset(first.values())


def cost_cell(some: Sequence[Series], first: frozenset[str]) -> str:
    """Return median seconds and megabytes of the folds of one row that ended well."""
    done = [(r.key, r.outcome) for s in some for r in s.done if r.outcome is not None]
    if not done:
        return "not run"
    seconds = median(outcome.seconds for _, outcome in done)
    peaks = [o.peak_memory for key, o in done if key not in first and o.peak_memory is not None]
    memory = f"{median(peaks) / 1e6:.0f} MB" if peaks else "-"
    return f"{seconds:.3g} s, {memory}"


def _table(made: Report, protocol: Protocol, first: frozenset[str]) -> str | None:
    columns = {c: some for c, some in columns_of(made, protocol).items() if some}
    if not columns:
        return None
    rows = row_names(series for some in columns.values() for series in some)
    lines = [
        [
            f"`{row}`",
            *(cost_cell([s for s in some if s.row == row], first) for some in columns.values()),
        ]
        for row in rows
    ]
    return f"### Protocol `{protocol}`\n\n{as_table(('pooling', *columns), lines)}"
