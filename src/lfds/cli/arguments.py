"""Arguments and checks that several commands share."""

import os
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TextIO

import typer

from lfds.data.errors import DataError, reading

if TYPE_CHECKING:
    from lfds.data.graphset import GraphSet

Data = Annotated[
    str,
    typer.Argument(
        help="Name of a dataset, a TU folder or archive, .jsonl, .csv with SMILES, a folder of "
        "point clouds, or a saved GraphSet."
    ),
]
Model = Annotated[Path, typer.Argument(help="Folder of a saved model.")]
Root = Annotated[Path, typer.Option(help="Folder with datasets.")]
Target = Annotated[str | None, typer.Option(help="Column of a .csv file to predict.")]
SkipBad = Annotated[
    bool, typer.Option("--skip-bad", help="Skip lines of a .csv file with invalid SMILES.")
]


def read_graphs(data: str, root: Path, target: str | None, skip_bad: bool) -> "GraphSet":
    """Read all graphs of a dataset with their targets."""
    from lfds.data.sources import open_source

    for flag, given in (("--target", target is not None), ("--skip-bad", skip_bad)):
        if given and not data.lower().endswith(".csv"):
            raise DataError(f"is for .csv files, not {data}; leave it out", source=flag)
    return open_source(data, root, target=target, bad="skip" if skip_bad else "stop")


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
