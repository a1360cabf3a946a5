"""A whole comparison: what is there already is kept, the rest is run, and a table comes out."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol as Interface

from lfds.compare.datasets import ReadyData, load_sets, make_ready
from lfds.compare.engines.local import Engine, engine_for
from lfds.compare.fold import RunDirectory, Step
from lfds.compare.given_splits import find_splits, follow_folds
from lfds.compare.task import Candidate, FoldTask
from lfds.config.comparison import CompareSpec
from lfds.data.atomic_io import atomic_write
from lfds.results.record import PROTOCOLS, Failure, Fold, Outcome, Record
from lfds.results.store import RecordStore
from lfds.results.table import Table, table_of
from lfds.train.memory_limit import check_room

SPEC = "spec.json"
"""What the last run in a folder of results was asked for."""


class Watcher(Interface):
    """Someone who wants to know how a comparison gets on."""

    def begin(self, tasks: Sequence[FoldTask], known: Sequence[Record], torn: int) -> None:
        """All folds there are, the records there are of them, and bytes of a torn record."""

    def step(self, task: FoldTask, step: Step) -> None:
        """A fold has done an epoch."""

    def end(self, task: FoldTask, record: Record) -> None:
        """A fold has come to an end, good or bad."""


@dataclass(frozen=True)
class Result:
    """What a comparison found.

    Attributes:
        spec: What was run.
        records: One for each fold.
        tables: One for each rule of the protocol.
    """

    spec: CompareSpec
    records: tuple[Record, ...]
    tables: tuple[Table, ...]

    @property
    def failed(self) -> tuple[Record, ...]:
        """The folds that failed."""
        return tuple(record for record in self.records if record.failure is not None)


def compare(
    spec: CompareSpec,
    out: Path,
    watcher: Watcher,
    *,
    root: Path = Path("data"),
    workers: int = 1,
    patience: float = 10.0,
    retry: bool = False,
    engine: Engine | None = None,
) -> Result:
    """Run what is missing of a comparison, and lay out what is there.

    Args:
        spec: What is to be run.
        out: The folder of results; a run that was interrupted there is gone on with.
        watcher: Is told how it gets on.
        root: Where datasets known by name are kept.
        workers: Processes that run folds.
        patience: Seconds between two checkpoints of a fold, at least.
        retry: Whether folds that failed are run again.
        engine: Runs the folds; one made for ``workers`` when left out.
    """
    # Before anything is written: what cannot be run leaves no trace.
    if engine is None:  # others may run the folds on other machines
        check_networks(spec)
    sets = load_sets(spec, root)
    given = find_splits(spec, sets)
    spec = follow_folds(spec, given)
    with RecordStore.open(out) as store:
        ready = make_ready(spec, sets, out, given=given, workers=workers)
        # Records of other settings may be here as well: this says which ones the last run meant.
        atomic_write(out / SPEC, json.dumps(spec.as_stored(), indent=2).encode() + b"\n")
        tasks = tasks_of(spec, ready)
        place = RunDirectory(out, patience)
        known = {task.key: record for task in tasks if (record := store.find(task.key))}
        watcher.begin(tasks, tuple(known.values()), store.torn)

        def end(task: FoldTask, outcome: Outcome | Failure) -> None:
            record = task.record(outcome)
            store.add(record)
            # Only now: a checkpoint goes when its record is safe.
            place.forget(task)
            known[task.key] = record
            watcher.end(task, record)

        open_tasks = [
            task
            for task in tasks
            if task.key not in known or (retry and known[task.key].failure is not None)
        ]
        if open_tasks:
            (engine or engine_for(workers)).run(open_tasks, place, watcher.step, end)
    records = tuple(known[task.key] for task in tasks)
    return Result(spec, records, _tables(spec, ready, records))


def check_networks(spec: CompareSpec) -> None:
    """Raise a SpecError if there is no room on this machine for a network of a comparison."""
    for candidate in spec.candidates():
        for pool in spec.pools:
            check_room(candidate.network_for(pool))


def tasks_of(spec: CompareSpec, ready: Sequence[ReadyData]) -> list[FoldTask]:
    """Return every fold of a comparison."""
    return [
        FoldTask(
            fold=Fold(
                dataset=data.name,
                pool=pool,
                protocol=spec.protocol,
                folds=spec.folds,
                fold=fold,
                seed=seed,
            ),
            data=data.path,
            content=data.content,
            splits_file=data.splits,
            splits=data.splits_content,
            validation=spec.validation,
            encoding=data.encoding,
            candidates=tuple(
                Candidate(training=one.training, network=one.network_for(pool))
                for one in spec.candidates()
            ),
        )
        for data in ready
        for seed in spec.all_seeds
        for pool in spec.pools
        for fold in range(spec.folds)
    ]


def _tables(
    spec: CompareSpec, ready: Sequence[ReadyData], records: Sequence[Record]
) -> tuple[Table, ...]:
    return tuple(
        table_of(
            rule,
            records,
            pools=spec.pools,
            datasets=[data.name for data in ready],
            folds=spec.folds,
            seeds=spec.all_seeds,
        )
        for rule in PROTOCOLS[spec.protocol]
    )
