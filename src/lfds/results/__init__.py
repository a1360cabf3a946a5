"""Records of runs and their statistics. Nothing here imports torch."""

from typing import TYPE_CHECKING

from lfds.lazy import lazy_names

if TYPE_CHECKING:
    from lfds.results.ranks import rank
    from lfds.results.record import IncompleteRunError, Record, ResultsError
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
    "IncompleteRunError": "lfds.results.record",
    "Record": "lfds.results.record",
    "RecordStore": "lfds.results.store",
    "ResultsError": "lfds.results.record",
    "compare": "lfds.results.statistics",
    "rank": "lfds.results.ranks",
    "read_records": "lfds.results.store",
    "scores_by": "lfds.results.rules",
    "summarise": "lfds.results.statistics",
    "table_of": "lfds.results.table",
}

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
