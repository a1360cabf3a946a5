"""A whole comparison: completed folds are kept, the others are run, and tables are returned."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final
from typing import Protocol as Interface

from lfds.compare.datasets import PreparedDataset, load_datasets, prepare_datasets
from lfds.compare.engines.local import Engine, engine_for
from lfds.compare.fold import RunDirectory, Step
from lfds.compare.given_splits import find_splits, with_given_folds
from lfds.compare.task import Candidate, FoldTask
from lfds.config.budget import over_budget
from lfds.config.comparison import CompareSpec, defaults_version
from lfds.config.forest import ForestSettings
from lfds.config.messages import SpecError
from lfds.config.migrations import DEFAULTS_KEY, SCHEMA_VERSION
from lfds.config.registry import REFERENCES
from lfds.data.atomic_io import atomic_write
from lfds.data.temporary import remove_all_abandoned
from lfds.results.record import PROTOCOLS, Failure, Fold, Outcome, Record
from lfds.results.store import RecordStore, check_regular_file
from lfds.results.table import Table, table_of
from lfds.train.device import resolve_device
from lfds.train.edge_data import warn_of_unused_edges
from lfds.train.memory_limit import check_memory

_BYTES_PER_FOLD = 2000

SPEC = "spec.json"
"""The file of the last spec that was run in a folder of results."""


WRITTEN = ("data", "splits", "checkpoints")
"""The folders below it that processes write to; killed ones may leave something there."""


class Observer(Interface):
    """Follows the progress of a comparison."""

    def begin(self, tasks: Sequence[FoldTask], stored: Sequence[Record], torn: int) -> None:
        """Called once with all folds, their stored records, and the bytes of a torn record."""

    def step(self, task: FoldTask, step: Step) -> None:
        """Called after each epoch of a fold."""

    def end(self, task: FoldTask, record: Record) -> None:
        """Called when a fold has completed or failed."""


@final
class NoProgress:
    """Shows nothing."""

    def begin(self, tasks: Sequence[FoldTask], stored: Sequence[Record], torn: int) -> None:
        """Show nothing."""

    def step(self, task: FoldTask, step: Step) -> None:
        """Show nothing."""

    def end(self, task: FoldTask, record: Record) -> None:
        """Show nothing."""


@dataclass(frozen=True)
class Result:
    """The result of a comparison.

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
        """The records of failed folds."""
        return tuple(record for record in self.records if record.failure is not None)


def compare(
    spec: CompareSpec,
    out: Path,
    observer: Observer | None = None,
    *,
    root: Path = Path("data"),
    workers: int = 1,
    patience: float = 10.0,
    retry: bool = False,
    engine: Engine | None = None,
) -> Result:
    """Run all folds of a comparison that are not in its folder yet, and return its tables.

    Args:
        spec: The comparison.
        out: The folder of results; a run that was interrupted there is resumed.
        observer: Follows the progress; nothing is shown by default.
        root: The folder of datasets that are given by name.
        workers: Processes that run folds.
        patience: Seconds between two checkpoints of a fold, at least.
        retry: Whether failed folds are run again.
        engine: Runs the folds; by default in ``workers`` processes.
    """
    observer = NoProgress() if observer is None else observer
    # Before anything is written: what cannot be run leaves no trace.
    if engine is None:  # another engine may run the folds on other machines
        check_networks(spec)
        # Records name the device that was used.
        spec = spec.model_copy(update={"device": str(resolve_device(spec.device))})
    elif spec.device == "auto":
        raise SpecError('device: "auto" means this machine, not those of a cluster; name a device')
    datasets = load_datasets(spec, root)
    given = find_splits(spec, datasets)
    spec = with_given_folds(spec, given)
    _check_count(spec, len(datasets))
    with RecordStore.open(out) as store:
        _remove_abandoned(out)
        prepared = prepare_datasets(spec, datasets, out, given=given, workers=workers)
        # There may be records of other settings as well: this says which belong to the last run.
        atomic_write(out / SPEC, json.dumps(_stored(spec, out), indent=2).encode() + b"\n")
        for data in prepared:
            for candidate in spec.candidates() if spec.networks else ():
                network = candidate.network_for(spec.networks[0])
                warn_of_unused_edges(network, data.name, edge_data=data.edge_data)
        tasks = tasks_of(spec, prepared)
        directory = RunDirectory(out, patience)
        stored = _stored_folds(tasks, store, directory)
        observer.begin(tasks, tuple(stored.values()), store.torn)

        def end(task: FoldTask, outcome: Outcome | Failure) -> None:
            record = task.record(outcome)
            store.add(record)
            # Only now: the checkpoint is needed until the record is safe.
            directory.remove_checkpoints(task)
            stored[task.key] = record
            observer.end(task, record)

        open_tasks = [
            task
            for task in tasks
            if task.key not in stored or (retry and stored[task.key].failure is not None)
        ]
        if open_tasks:
            (engine or engine_for(workers)).run(open_tasks, directory, observer.step, end)
    records = tuple(stored[task.key] for task in tasks)
    return Result(spec, records, _tables(spec, prepared, records))


def _remove_abandoned(out: Path) -> None:
    """Remove what killed processes left in a folder of results."""
    for folder in (out, *(out / name for name in WRITTEN)):
        remove_all_abandoned(folder)


def _stored_folds(
    tasks: Sequence[FoldTask], store: RecordStore, directory: RunDirectory
) -> dict[str, Record]:
    """Return the records that are there, by key."""
    stored = {task.key: record for task in tasks if (record := store.find(task.key))}
    for task in tasks:
        if task.key in stored:  # a kill after it was stored leaves the checkpoint of the fold
            directory.remove_checkpoints(task)
    return stored


def _stored(spec: CompareSpec, out: Path) -> dict[str, Any]:
    """The content of ``spec.json``; a run that an earlier version began keeps its defaults."""
    check_regular_file(out / SPEC)
    version = defaults_version(out / SPEC)
    kept = {} if version == SCHEMA_VERSION else {DEFAULTS_KEY: version}
    return {**spec.as_stored(), **kept}


def _check_count(spec: CompareSpec, datasets: int) -> None:
    """Raise a SpecError if a comparison has more folds than can be listed."""
    folds = datasets * spec.seeds * len(spec.pools) * spec.folds
    missing = over_budget(_BYTES_PER_FOLD * folds)
    if missing is not None:
        raise SpecError(f"seeds: {spec.seeds} make {folds:,} folds, whose list {missing}")


def check_networks(spec: CompareSpec) -> None:
    """Raise a SpecError if a network of a comparison does not fit into the memory."""
    for candidate in spec.candidates():
        for pool in spec.networks:
            check_memory(candidate.network_for(pool))


def tasks_of(spec: CompareSpec, datasets: Sequence[PreparedDataset]) -> list[FoldTask]:
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
            candidates=_candidates(spec, pool, data),
            forest=ForestSettings() if pool in REFERENCES else None,
        )
        for data in datasets
        for seed in spec.all_seeds
        for pool in spec.pools
        for fold in range(spec.folds)
    ]


def _candidates(spec: CompareSpec, pool: str, data: PreparedDataset) -> tuple[Candidate, ...]:
    if pool in REFERENCES:
        return ()
    return tuple(
        Candidate(
            training=one.training,
            network=one.network_for(pool).for_data(edge_data=data.edge_data),
        )
        for one in spec.candidates()
    )


def _tables(
    spec: CompareSpec, datasets: Sequence[PreparedDataset], records: Sequence[Record]
) -> tuple[Table, ...]:
    return tuple(
        table_of(
            rule,
            records,
            pools=spec.pools,
            datasets=[data.name for data in datasets],
            folds=spec.folds,
            seeds=spec.all_seeds,
        )
        for rule in PROTOCOLS[spec.protocol]
    )
