"""Where results are written: never over what they are made from."""

import os
from collections.abc import Iterable
from pathlib import Path

from lfds.data.errors import DataError, reading


def check_output(out: Path, model: Path, data: Iterable[Path] = ()) -> None:
    """Raise if a file to be written would replace something that is to be read.

    Args:
        out: The file; there may be an earlier one.
        model: Folder of a model, in which nothing else is kept.
        data: Files and folders that graphs are read from; new files may be put into such a folder.
    """
    check_not_in_model(out, model)
    with reading(out):
        if out.is_dir():
            raise DataError("is a folder, where a file is to be written", source=out)
        lost = next((place for place in data if out.exists() and _within(out, place)), None)
    if lost is not None:
        what = "is read" if out.samefile(lost) else f"is a file of {lost}, which is read"
        raise DataError(
            f"{what}, and would be overwritten; choose a file that is not there", source=out
        )


def check_not_in_model(out: Path, model: Path) -> None:
    """Raise if something would be written into the folder of a model."""
    with reading(out):
        inside = _within(out, model)
    if inside:
        raise DataError(
            f"is in the model folder {model}, where nothing else is kept; choose another place",
            source=out,
        )


def _within(out: Path, place: Path) -> bool:
    """Whether one is the other, or below it, by whatever names and links."""
    real = Path(os.path.realpath(out))
    there = (path for path in (real, *real.parents) if path.exists())
    return place.exists() and any(path.samefile(place) for path in there)
