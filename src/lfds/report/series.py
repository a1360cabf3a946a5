"""The folds of one pooling on one dataset with one set of settings; missing ones, and cost."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from statistics import fmean, median
from typing import Any

from lfds.config.migrations import legacy_defaults
from lfds.config.network import recorded_network
from lfds.config.training import Protocol, TrainingSettings
from lfds.results.record import Outcome, Record

Settings = Mapping[str, str]
"""Settings by name, values as text; equal if the settings are equal."""

SPLIT_SETTINGS = ("folds", "splits", "validation")
"""Settings that determine the training, validation and test graphs of each fold."""

LEGACY_TRAINING: Mapping[str, Any] = {"averaging": 0.0, **legacy_defaults(TrainingSettings)}
"""What was in effect in records that do not name these settings."""

# They name the column and the row.
_NOT_SETTINGS = ("content", "pool")
# A network may have a setting of the same name: gmt has seeds.
_RUN_SETTINGS = ("folds", "protocol", "seeds", "splits", "validation", "encoding")


@dataclass
class Series:
    """The folds of one row and one column: those found, and those missing.

    Attributes:
        protocol: Protocol of the run.
        pool: Name of the pooling.
        dataset: Name of the dataset.
        content: Hash of the graphs; empty if no fold has finished.
        folds: Number of folds per seed.
        settings: All other settings.
        seeds: The seeds there should be.
        records: One per finished fold.
        row: Name of the row.
        column: Name of the column.
        cold: Keys of the folds that were the first of their process on the dataset.
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
    cold: set[str] = field(default_factory=set)

    @property
    def split(self) -> tuple[object, ...]:
        """What determines the folds; series with equal values can be compared fold by fold."""
        chosen = (self.settings.get(name) for name in SPLIT_SETTINGS)
        return (self.content, self.folds, frozenset(self.seeds), *chosen)

    @property
    def wanted(self) -> int:
        """Number of folds there should be."""
        return self.folds * len(self.seeds)

    @property
    def done(self) -> list[Record]:
        """The completed folds."""
        return [record for record in self.records if record.outcome is not None]

    @property
    def outcomes(self) -> list[Outcome]:
        """The results of the completed folds."""
        return [record.outcome for record in self.records if record.outcome is not None]

    @property
    def failed(self) -> list[Record]:
        """The failed folds."""
        return [record for record in self.records if record.failure is not None]

    @property
    def failures(self) -> dict[str, list[Record]]:
        """The failed folds by reason."""
        found: dict[str, list[Record]] = {}
        for record in self.records:
            if record.failure is not None:
                found.setdefault(record.failure.reason, []).append(record)
        return found

    @property
    def missing(self) -> dict[int, list[int]]:
        """The folds without a record, counted from 0, by seed."""
        found = {(record.fold.seed, record.fold.fold) for record in self.records}
        missing = {
            seed: [fold for fold in range(self.folds) if (seed, fold) not in found]
            for seed in sorted(self.seeds)
        }
        return {seed: folds for seed, folds in missing.items() if folds}

    @property
    def graphs(self) -> int | None:
        """Number of graphs of the dataset; None until all folds of a seed have completed."""
        tested: dict[int, list[int]] = {}
        for record, outcome in zip(self.done, self.outcomes, strict=True):
            tested.setdefault(record.fold.seed, []).append(outcome.tested)
        return next((sum(t) for t in tested.values() if len(t) == self.folds), None)

    @property
    def complete(self) -> bool:
        """Whether every fold completed."""
        return not self.missing and not self.failed

    @property
    def cost(self) -> "Cost":
        """The cost of the completed folds, of which there must be one."""
        warm = [record for record in self.done if record.key not in self.cold]
        peaks = [
            r.outcome.peak_memory for r in warm if r.outcome and r.outcome.peak_memory is not None
        ]
        return Cost(
            fmean(outcome.seconds for outcome in self.outcomes),
            fmean(outcome.parameters for outcome in self.outcomes),
            float(median(peaks)) if peaks else None,
        )


@dataclass(frozen=True)
class Cost:
    """Cost of a fold.

    Attributes:
        seconds: Mean training time.
        parameters: Mean number of parameters.
        memory: Median peak memory in bytes, without the first folds of processes; None if it was
            not measured.
    """

    seconds: float
    parameters: float
    memory: float | None = None

    def __str__(self) -> str:
        memory = "" if self.memory is None else f", {self.memory / 1e6:.0f} MB"
        return f"{self.seconds:.3g} s, {self.parameters:,.0f} parameters{memory}"


def settings_of(record: Record) -> Settings:
    """Return all settings of a fold, without pooling and dataset.

    >>> from lfds.results.record import Fold
    >>> fold = Fold(dataset="A", pool="max", protocol="fair", folds=10, fold=0, seed=0)
    >>> settings = {"content": "c0ffee", "candidates": [{"training": {"epochs": 5}}]}
    >>> settings_of(Record(key="k", fold=fold, settings=settings, failure={"reason": "-"}))
    {'folds': '10', 'epochs': '5', 'keep': 'best', 'members': '1'}
    """
    flat = {"folds": str(record.fold.folds)}
    settings = dict(record.settings)
    fair = record.fold.protocol == "fair"
    candidates = [_filled(candidate, fair=fair) for candidate in settings.pop("candidates", [])]
    flat |= {name: _text(value) for name, value in settings.items()}
    for part in ("training", "network"):
        names = dict.fromkeys(name for one in candidates for name in one.get(part, {}))
        for name in names:
            values = [_text(one.get(part, {}).get(name)) for one in candidates]
            key = f"{part} {name}" if name in _RUN_SETTINGS else name
            flat[key] = " or ".join(dict.fromkeys(values))
    return {name: value for name, value in flat.items() if name not in _NOT_SETTINGS}


def _filled(candidate: Mapping[str, Any], *, fair: bool) -> Mapping[str, Any]:
    """Return the settings of a candidate, with what was in effect if a record does not name it."""
    filled = dict(candidate)
    if "network" in filled:
        filled["network"] = recorded_network(filled["network"])
    if fair and "training" in filled:
        before = {name: LEGACY_TRAINING[name] for name in ("keep", "members")}
        filled["training"] = {**filled["training"], **before, **filled["training"]}
    return filled


def differing(variants: Iterable[Settings]) -> list[str]:
    """Return the names of settings whose values differ, in order of appearance."""
    variants = list(variants)
    names = dict.fromkeys(name for settings in variants for name in settings)
    return [name for name in names if len({settings.get(name) for settings in variants}) > 1]


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, float):
        return f"{value:g}"
    return json.dumps(value, separators=(", ", ": "))
