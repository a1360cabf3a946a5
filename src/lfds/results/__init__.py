"""What runs leave behind: records, and what may be said of them. Nothing here imports torch."""

from lfds.results.errors import IncompleteRunError, ResultsError
from lfds.results.record import PROTOCOLS, RULES, Curve, Failure, Fold, Outcome, Record
from lfds.results.store import RecordStore, read_records

__all__ = [
    "PROTOCOLS",
    "RULES",
    "Curve",
    "Failure",
    "Fold",
    "IncompleteRunError",
    "Outcome",
    "Record",
    "RecordStore",
    "ResultsError",
    "read_records",
]
