"""Records of runs and their statistics. Nothing here imports torch."""

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lfds.results.errors import IncompleteRunError, ResultsError
    from lfds.results.ranks import rank
    from lfds.results.record import Record
    from lfds.results.rules import scores_by
    from lfds.results.statistics import compare, summarise
    from lfds.results.store import RecordStore, read_records
    from lfds.results.table import table_of

__all__ = [
    "IncompleteRunError",
    "Record",
    "RecordStore",
    "ResultsError",
    "compare",
    "rank",
    "read_records",
    "scores_by",
    "summarise",
    "table_of",
]

_HOMES = {
    "IncompleteRunError": "lfds.results.errors",
    "Record": "lfds.results.record",
    "RecordStore": "lfds.results.store",
    "ResultsError": "lfds.results.errors",
    "compare": "lfds.results.statistics",
    "rank": "lfds.results.ranks",
    "read_records": "lfds.results.store",
    "scores_by": "lfds.results.rules",
    "summarise": "lfds.results.statistics",
    "table_of": "lfds.results.table",
}


def __getattr__(name: str) -> object:
    # scipy takes a second to import; `lfds --help` does not need it.
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(
        f"module 'lfds.results' has no attribute {name!r}; it offers {', '.join(__all__)}"
    )


def __dir__() -> list[str]:
    return sorted(__all__)
