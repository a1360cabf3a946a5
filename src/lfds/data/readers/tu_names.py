"""Names a TU dataset has no place for, kept in a JSON file beside its text files."""

import json
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from lfds.data.errors import DataError, quoted
from lfds.data.readers.tu_files import RawFiles


@dataclass(frozen=True)
class Names:
    """The classes and node labels there could be, whether or not any graph has them.

    Attributes:
        classes: The name of each class; ``graph_labels`` then holds positions in it.
        label_values: The values of each column of node labels, rising.
    """

    classes: tuple[str | int, ...]
    label_values: tuple[tuple[int, ...], ...]


def write_names(names: Names) -> str:
    """Return the content of ``NAME_names.json``."""
    return json.dumps({"classes": names.classes, "label_values": names.label_values}) + "\n"


def read_names(raw: RawFiles) -> Names | None:
    """Return what ``NAME_names.json`` says, or ``None`` where there is no such file."""
    if "names" not in raw.content:
        return None
    place = raw.place["names"]
    try:
        entries = json.loads(raw.content["names"].decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise DataError(f"cannot be read as JSON ({error})", source=place) from error
    if not isinstance(entries, dict) or set(entries) != {"classes", "label_values"}:
        raise DataError('needs exactly "classes" and "label_values"', source=place)
    classes, values = entries["classes"], entries["label_values"]
    if not isinstance(classes, list) or not all(type(name) in (str, int) for name in classes):
        raise DataError('"classes" needs a list of names or whole numbers', source=place)
    if not isinstance(values, list) or not all(_is_rising(column) for column in values):
        raise DataError('"label_values" needs lists of rising whole numbers', source=place)
    return Names(tuple(classes), tuple(tuple(column) for column in values))


def check_values(names: Names, found: tuple[tuple[int, ...], ...], place: str) -> None:
    """Raise unless every node label that was found is one of those there could be."""
    if len(names.label_values) != len(found):
        raise DataError(
            f"needs values for {len(found)} column(s) of node labels, "
            f"not {len(names.label_values)}",
            source=place,
        )
    for column, (listed, seen) in enumerate(zip(names.label_values, found, strict=True)):
        strange = sorted(set(seen) - set(listed))
        if strange:
            raise DataError(
                f"column {column} of the node labels holds {quoted(strange[0])}, not listed here",
                source=place,
            )


def _is_rising(column: object) -> bool:
    limits = np.iinfo(np.int64)
    return (
        isinstance(column, list)
        and all(type(value) is int and limits.min <= value <= limits.max for value in column)
        and all(low < high for low, high in pairwise(column))
    )
