"""Progress of a comparison on standard error: bars on a terminal, one line per fold elsewhere."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import final

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn
from rich.progress import TimeRemainingColumn as Remaining

from lfds.compare.fold import Step
from lfds.compare.runner import Observer
from lfds.compare.task import FoldTask, versions
from lfds.config.messages import as_message, printable
from lfds.config.registry import REFERENCES
from lfds.results.record import Record


@contextmanager
def progress_display() -> Iterator[Observer]:
    """Yield progress bars on a terminal, and progress lines elsewhere."""
    console = Console(stderr=True, highlight=False)
    if not console.is_terminal:
        yield ProgressLines()
        return
    counted = TextColumn("{task.fields[counted]}")
    columns = (TextColumn("{task.description}"), BarColumn(), counted, Remaining())
    with Progress(*columns, TextColumn("{task.fields[note]}"), console=console) as bars:
        yield ProgressBars(bars)


@final
class ProgressLines:
    """One line on standard error for each fold that ends."""

    def __init__(self) -> None:
        self._done = self._all = 0

    def begin(self, tasks: Sequence[FoldTask], stored: Sequence[Record], torn: int) -> None:
        self._done, self._all = len(stored), len(tasks)
        for line in resume_notes(len(tasks), stored, torn):
            print(f"lfds: {line}", file=sys.stderr)

    def step(self, task: FoldTask, step: Step) -> None:
        """Epochs are too many for lines."""

    def end(self, task: FoldTask, record: Record) -> None:
        self._done += 1
        print(f"{self._done}/{self._all} {name_of(task)}: {result_of(record)}", file=sys.stderr)


@final
class ProgressBars:
    """A bar for all folds, with their epochs and the remaining time, and one for each running fold.

    Epochs move the bars, because folds take long; folds are counted where they have ended.
    """

    def __init__(self, bars: Progress) -> None:
        self._bars = bars
        self._running: dict[str, TaskID] = {}
        self._total = bars.add_task("all", total=None, counted="", note="")
        self._epochs: dict[str, int] = {}
        self._done: set[str] = set()
        self._all_folds = self._all_epochs = 0

    def begin(self, tasks: Sequence[FoldTask], stored: Sequence[Record], torn: int) -> None:
        for line in resume_notes(len(tasks), stored, torn):
            self._bars.console.print(line)
        self._done = {record.key for record in stored}
        self._epochs = {task.key: task.epochs for task in tasks if task.key in self._done}
        self._all_folds, self._all_epochs = len(tasks), sum(task.epochs for task in tasks)
        # Not as an advance: what was there before says nothing about the speed.
        self._bars.reset(self._total, total=self._all_epochs, completed=sum(self._epochs.values()))
        self._show_total()

    def step(self, task: FoldTask, step: Step) -> None:
        if task.key not in self._running:
            self._running[task.key] = self._bars.add_task(
                name_of(task), total=task.epochs, counted="", note=""
            )
        part = "validation" if task.fold.protocol == "fair" else "test"
        self._bars.update(
            self._running[task.key],
            completed=step.epochs,
            counted=f"{step.epochs:,}/{task.epochs:,} epochs",
            note=f"{part} {100 * step.accuracy:.1f} %",
        )
        self._epochs[task.key] = step.epochs
        self._show_total()

    def end(self, task: FoldTask, record: Record) -> None:
        if task.key in self._running:
            self._bars.remove_task(self._running.pop(task.key))
        self._epochs[task.key] = task.epochs
        self._done.add(task.key)
        self._show_total()
        self._bars.console.print(f"{name_of(task)}: {result_of(record)}", markup=False)

    def _show_total(self) -> None:
        epochs = sum(self._epochs.values())
        counted = (
            f"{len(self._done):,}/{self._all_folds:,} folds, {epochs:,}/{self._all_epochs:,} epochs"
        )
        self._bars.update(self._total, completed=epochs, counted=counted)


def resume_notes(folds: int, stored: Sequence[Record], torn: int) -> list[str]:
    """Return what to print first: how many folds are stored, and whether a record was damaged."""
    lines = []
    if torn:
        lines.append(
            f"the last record was incomplete; its {torn} bytes are moved to records.torn, and its "
            f"fold is run again"
        )
    if stored:
        failed = sum(record.failure is not None for record in stored)
        more = f", {failed} of them failed (run them again with --retry)" if failed else ""
        lines.append(f"{len(stored)} of {folds} folds are already stored{more}")
    here = versions()["backend"]
    others = [r.versions["backend"] for r in stored if r.versions.get("backend", here) != here]
    if others:
        named = ", ".join(sorted(set(others)))
        lines.append(
            f"{len(others)} of them were computed by {named}, and this is {here}: their numbers "
            f"are kept, but would be others here; for one backend throughout choose another --out"
        )
    return lines


def name_of(task: FoldTask) -> str:
    """Return the name of a fold on the screen."""
    which = task.fold
    dataset = printable(which.dataset)
    return f"{dataset} {which.pool} seed {which.seed} fold {which.fold + 1}/{which.folds}"


def result_of(record: Record) -> str:
    """Return the result of a fold, each number with the name of its rule."""
    if record.outcome is None:
        return f"failed: {as_message(record.failure.reason) if record.failure else ''}"
    if record.outcome.accuracy is not None:
        # A reference without a network has no epochs.
        trained = record.fold.pool not in REFERENCES
        epoch = f" (epoch {(record.outcome.epoch or 0) + 1})" if trained else ""
        return f"fair {100 * record.outcome.accuracy:.1f} %{epoch}"
    curve = record.outcome.curve.test
    return f"last {100 * curve[-1]:.1f} %, fold-best {100 * max(curve):.1f} %"
