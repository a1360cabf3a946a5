"""A bar for the epochs of one training, on standard error."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from lfds.train.loop import Training


@contextmanager
def epochs_shown(epochs: int, *, shown: bool) -> Iterator[Callable[[Training], None]]:
    """Give what is to be called after each epoch.

    Args:
        epochs: How many there will be, at most.
        shown: Whether there is a bar at all.
    """
    columns = (TextColumn("fitting"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    console = Console(stderr=True)
    note = TextColumn("{task.fields[note]}")
    with Progress(*columns, note, console=console, disable=not shown) as bar:
        task = bar.add_task("fitting", total=epochs, note="")

        def after_epoch(training: Training) -> None:
            seen = training.progress
            where = "validation" if seen.has_validation else "training"
            told = f"loss {seen.loss[-1]:.3f}, {where} {seen.validation[-1]:.3f}"
            bar.update(task, completed=seen.epochs, note=told)

        yield after_epoch
