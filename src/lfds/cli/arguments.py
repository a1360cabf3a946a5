"""Arguments and checks that several commands share."""

import os
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, TextIO

import typer

from lfds.cli.data import SOURCE_HELP
from lfds.data.errors import DataError, reading

Data = Annotated[str, typer.Argument(help=SOURCE_HELP)]
Model = Annotated[Path, typer.Argument(help="Folder of a saved model.")]


@contextmanager
def print_warnings() -> Iterator[None]:
    """Print the first warning of every category as one line on standard error."""
    printed: set[type[Warning]] = set()

    def show(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        if category not in printed:
            printed.add(category)
            typer.echo(f"lfds: warning: {' '.join(str(message).split())}", err=True)

    with warnings.catch_warnings():
        warnings.simplefilter("always", UserWarning)
        warnings.showwarning = show
        yield


def check_output(out: Path, model: Path, data: Iterable[Path] = ()) -> None:
    """Raise if writing a file would overwrite an input.

    Args:
        out: The file to write.
        model: Folder of a model; no other files may be written there.
        data: Files and folders with graphs; new files may be written to such a folder.
    """
    check_not_in_model(out, model)
    with reading(out):
        if out.is_dir():
            raise DataError("is a folder, but a file is to be written; name a file", source=out)
        lost = next((place for place in data if out.exists() and _within(out, place)), None)
    if lost is not None:
        what = "is an input" if out.samefile(lost) else f"is part of the input {lost}"
        raise DataError(f"{what} and would be overwritten; choose a new file", source=out)


def check_not_in_model(out: Path, model: Path) -> None:
    """Raise if a path is in the folder of a model."""
    with reading(out):
        inside = _within(out, model)
    if inside:
        raise DataError(
            f"is in the model folder {model}, which holds nothing else; choose another place",
            source=out,
        )


def _within(out: Path, place: Path) -> bool:
    """Whether a path is another one or below it, whatever links lead there."""
    real = Path(os.path.realpath(out))
    existing = (path for path in (real, *real.parents) if path.exists())
    return place.exists() and any(path.samefile(place) for path in existing)
