"""The folds of one pooling on one dataset under one protocol, and which of them are missing."""

from dataclasses import dataclass, field

from lfds.config.training import Protocol
from lfds.report.settings import Settings
from lfds.results.record import Record

DEALING = ("folds", "splits", "validation")
"""Settings that decide which graphs are trained on, chosen on and tested in a fold."""


@dataclass
class Series:
    """What is there, and what should be, of one row and one column.

    Attributes:
        protocol: How its epochs are chosen.
        pool: The name of the pooling.
        dataset: The name of the dataset.
        content: The hash of its graphs; empty where no fold has ended yet.
        folds: How many there should be of each seed.
        settings: Everything else that was chosen.
        seeds: Which seeds there should be.
        records: One for each fold that has come to an end.
        row: What the row is called.
        column: What the column is called.
    """

    protocol: Protocol
    pool: str
    dataset: str
    content: str
    folds: int
    settings: Settings
    seeds: set[int] = field(default_factory=set)
    records: list[Record] = field(default_factory=list)
    row: str = ""
    column: str = ""

    @property
    def dealt(self) -> tuple[object, ...]:
        """What makes the folds those they are; only where it is equal are there pairs of folds."""
        chosen = (self.settings.get(name) for name in DEALING)
        return (self.content, self.folds, frozenset(self.seeds), *chosen)

    @property
    def wanted(self) -> int:
        """How many folds there should be."""
        return self.folds * len(self.seeds)

    @property
    def done(self) -> list[Record]:
        """The folds that ended well."""
        return [record for record in self.records if record.outcome is not None]

    @property
    def failed(self) -> list[Record]:
        """The folds that failed."""
        return [record for record in self.records if record.failure is not None]

    @property
    def failures(self) -> dict[str, list[Record]]:
        """The folds that failed, by the reason."""
        found: dict[str, list[Record]] = {}
        for record in self.failed:
            if record.failure is not None:
                found.setdefault(record.failure.reason, []).append(record)
        return found

    @property
    def missing(self) -> dict[int, list[int]]:
        """The folds without any record, counted from 0, by seed."""
        there = {(record.fold.seed, record.fold.fold) for record in self.records}
        lacking = {
            seed: [fold for fold in range(self.folds) if (seed, fold) not in there]
            for seed in sorted(self.seeds)
        }
        return {seed: folds for seed, folds in lacking.items() if folds}

    @property
    def graphs(self) -> int | None:
        """How many graphs the dataset has; known once all folds of a seed have tested theirs."""
        tested: dict[int, list[int]] = {}
        for record in self.done:
            if record.outcome is not None:
                tested.setdefault(record.fold.seed, []).append(record.outcome.tested)
        return next((sum(t) for t in tested.values() if len(t) == self.folds), None)

    @property
    def complete(self) -> bool:
        """Whether every fold ended well."""
        return not self.missing and not self.failed
