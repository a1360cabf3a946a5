r"""Find the records of each cell of a table, and compare rows with their baselines.

Over :math:`n` datasets with gains :math:`d_i` the p value of the mean gain is the share of the
:math:`2^n` ways to choose their signs whose mean is at least as far from 0:

.. math::
    p = \frac{1}{2^n} \left| \left\{ s \in \{-1, 1\}^n :
        \left| \sum_i s_i d_i \right| \ge \left| \sum_i d_i \right| \right\} \right|
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product, takewhile
from statistics import fmean

import numpy as np

from benchmarks.tables.manifest import Row, Table
from lfds.config.comparison import CompareSpec
from lfds.config.encoding import EncodingSettings
from lfds.config.migrations import fill_legacy_defaults
from lfds.config.network import recorded_network
from lfds.config.training import TrainingSettings
from lfds.results.record import Record, ResultsError, Rule
from lfds.results.rules import Scores, scores_by
from lfds.results.statistics import Comparison, compare, holm

LAST_EPOCHS = 5
"""Epochs whose mean validation accuracy counts; the best one alone would look too good."""


@dataclass(frozen=True)
class Cell:
    """One row on one dataset.

    Attributes:
        row: The row.
        dataset: The column.
        spec: The comparison that trains it.
        records: The completed folds that belong to it.
    """

    row: Row
    dataset: str
    spec: CompareSpec
    records: tuple[Record, ...]

    @cached_property
    def seeds(self) -> tuple[int, ...]:
        """The first seeds of which all folds are complete."""
        folds = [record.fold.seed for record in self.records]
        full = takewhile(lambda s: folds.count(s) == self.spec.folds, self.spec.all_seeds)
        return tuple(full)

    @property
    def last_seed(self) -> int:
        """The last complete seed; the first one where none is."""
        return self.seeds[-1] if self.seeds else self.spec.seed

    def scores(self, measure: str = "", seeds: Sequence[int] | None = None) -> Scores:
        """Return the accuracy of each fold, ``[seeds, folds]``.

        Args:
            measure: ``validation``, or the rule by which a test accuracy is chosen; the row's own
                measure when left out.
            seeds: Which of the complete seeds; all of them when left out.
        """
        seeds = self.seeds if seeds is None else seeds
        measure = measure or self.row.measure
        records = [record for record in self.records if record.fold.seed in seeds]
        if measure == "validation":
            at = {(record.fold.seed, record.fold.fold): _validated(record) for record in records}
            return np.array([[at[s, fold] for fold in range(self.spec.folds)] for s in seeds])
        rule: Rule = "fair" if measure == "test" else measure  # type: ignore[assignment]
        return scores_by(rule, records, folds=self.spec.folds, seeds=seeds)


def _validated(record: Record) -> float:
    assert record.outcome is not None
    return fmean(record.outcome.curve.validation[-LAST_EPOCHS:])


Cells = dict[tuple[str, str], Cell]


def fill(table: Table, records: Sequence[Record]) -> Cells:
    """Return the cells of a table, by row and dataset, with the records that belong to them."""
    by_place: dict[tuple[str, str], list[Record]] = {}
    for record in records:
        if record.outcome is not None:
            by_place.setdefault((record.fold.dataset, record.fold.pool), []).append(record)
    cells = {}
    for dataset in table.datasets:
        for row in table.rows:
            spec = row.spec(dataset)
            edges = row.edge_data[dataset]
            near = by_place.get((dataset, row.pool), ())
            some = [record for record in near if belongs(record, spec, edge_data=edges)]
            cells[row.name, dataset] = Cell(row, dataset, spec, tuple(some))
        _check_same_graphs([cells[row.name, dataset] for row in table.rows])
    return cells


def belongs(record: Record, spec: CompareSpec, *, edge_data: bool) -> bool:
    """Return whether a record was trained exactly as a comparison of one pooling says.

    Args:
        record: The record.
        spec: The comparison.
        edge_data: Whether edges of the dataset have labels or attributes.

    Settings that are left to their defaults count with the defaults of today, so that a record of
    an earlier default configuration belongs to no row of the present one.
    """
    fold, found = record.fold, record.settings
    if (fold.protocol, fold.folds) != (
        spec.protocol,
        spec.folds,
    ) or fold.seed not in spec.all_seeds:
        return False
    if bool(spec.splits) != ("splits" in found):
        return False
    encoding = EncodingSettings() if spec.encoding == "auto" else spec.encoding
    if found["encoding"] != encoding.model_dump(mode="json"):
        return False
    (candidate,) = found["candidates"]
    trained = fill_legacy_defaults(TrainingSettings, candidate["training"])
    network = spec.network_for(fold.pool).for_data(edge_data=edge_data).as_recorded()
    same_network = recorded_network(candidate["network"]) == recorded_network(network)
    return same_network and trained == spec.training.model_dump(mode="json")


def _check_same_graphs(cells: Sequence[Cell]) -> None:
    for name in ("content", "splits"):
        by_protocol: dict[str, set[object]] = {}
        for record in (record for cell in cells for record in cell.records):
            if name in record.settings:
                by_protocol.setdefault(record.fold.protocol, set()).add(record.settings[name])
        if any(len(several) > 1 for several in by_protocol.values()):
            raise ResultsError(
                f"records of {cells[0].dataset} were made of different graphs or splits; "
                f"remove those of the other {name}"
            )


@dataclass(frozen=True)
class Gain:
    """How far a row is ahead of its baseline on a dataset.

    Attributes:
        outcome: Paired over the folds of the seeds that both have.
        p: After Holm's correction for all rows of the table, also for those not run yet.
    """

    outcome: Comparison
    p: float


def gains_on(dataset: str, table: Table, cells: Cells) -> dict[str, Gain]:
    """Return the gain of each row that has a complete seed on a dataset, by name."""
    compared = [row for row in table.rows if row.baseline]
    found: dict[str, Comparison] = {}
    for row in compared:
        gain = gain_over(cells[row.name, dataset], cells[row.baseline, dataset])
        if gain is not None:
            found[row.name] = gain
    ps = corrected([outcome.p for outcome in found.values()], len(compared))
    return {name: Gain(o, p) for (name, o), p in zip(found.items(), ps, strict=True)}


def corrected(ps: Sequence[float], planned: int) -> tuple[float, ...]:
    """Return p values after Holm's correction for all comparisons of a plan.

    >>> corrected([0.01, 0.04], 2), corrected([0.01, 0.04], 4)
    ((0.02, 0.04), (0.04, 0.12))
    """
    # What is not run yet will be: without it, the first rows of a table would be corrected least.
    return holm([*ps, *[1.0] * (planned - len(ps))])[: len(ps)]


def gain_over(cell: Cell, other: Cell) -> Comparison | None:
    """Compare two cells over the folds of the seeds that both have; None if there is no such."""
    seeds = [seed for seed in cell.seeds if seed in other.seeds]
    if not seeds:
        return None
    mine, theirs = (one.scores(seeds=seeds) for one in (cell, other))
    return compare(mine, theirs, "fair")


@dataclass(frozen=True)
class MeanGain:
    """The mean gain of a row over datasets.

    Attributes:
        difference: The mean.
        datasets: How many there are.
        p: Of this row alone; None on a single dataset.
        p_holm: After Holm's correction for all rows of the table.
    """

    difference: float
    datasets: int
    p: float | None = None
    p_holm: float | None = None


def mean_gains(gains: Mapping[str, Mapping[str, Gain]], rows: int) -> dict[str, MeanGain]:
    """Return the mean gain of each row, from gains by dataset and row.

    Args:
        gains: Of the rows that have a complete seed.
        rows: Number of rows of the table that are compared.
    """
    by_row: dict[str, list[float]] = {}
    for here in gains.values():
        for name, gain in here.items():
            by_row.setdefault(name, []).append(gain.outcome.difference)
    tested = {name: sign_flips(some) for name, some in by_row.items() if len(some) > 1}
    after = dict(zip(tested, corrected(list(tested.values()), rows), strict=True))
    return {
        name: MeanGain(fmean(some), len(some), tested.get(name), after.get(name))
        for name, some in by_row.items()
    }


def sign_flips(gains: Sequence[float]) -> float:
    """Return the share of all choices of signs whose mean is at least as far from 0.

    >>> sign_flips([0.1, 0.2, 0.3]), sign_flips([0.0, 0.0])
    (0.25, 1.0)
    """
    found = abs(sum(gains)) - 1e-12
    signs = list(product((-1, 1), repeat=len(gains)))
    sums = (sum(s * g for s, g in zip(some, gains, strict=True)) for some in signs)
    return sum(abs(total) >= found for total in sums) / len(signs)
