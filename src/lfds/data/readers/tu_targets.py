"""What is to be predicted in a TU dataset: classes, or quantities."""

from typing import Literal, TypeAlias

import torch
from torch import Tensor

from lfds.data.errors import DataError
from lfds.data.readers.arrays import targets_from
from lfds.data.readers.edges import Whole
from lfds.data.readers.number_table import float_table, int_table
from lfds.data.readers.tu_files import RawFiles
from lfds.data.readers.tu_names import Names, read_names

TargetKind: TypeAlias = Literal["labels", "attributes"]


def read_targets(raw: RawFiles, kind: TargetKind | None) -> tuple[Tensor, tuple[str | int, ...]]:
    """Return the targets of all graphs and the names of the classes, none for regression.

    Args:
        raw: The files.
        kind: ``"labels"`` for classes, ``"attributes"`` for regression; ``None`` takes the labels
            if there are any.
    """
    if kind is None:
        kind = "attributes" if "graph_labels" not in raw.content else "labels"
        if kind == "attributes" and "graph_attributes" not in raw.content:
            raise DataError(
                f"has neither {raw.name}_graph_labels.txt nor {raw.name}_graph_attributes.txt; "
                f"one of them is needed to know what to predict",
                source=raw.home,
            )
    text, place = raw.required(f"graph_{kind}")
    if kind == "labels":
        labels = int_table(text, columns=1, source=place)[:, 0]
        _check_any(len(labels), place)
        return _classes(labels, place, read_names(raw))
    amounts = float_table(text, columns=None, source=place)
    _check_any(len(amounts), place)
    return targets_from(amounts, len(amounts))


def _classes(
    labels: Whole, place: str, names: Names | None
) -> tuple[Tensor, tuple[str | int, ...]]:
    if names is None:
        return targets_from(labels, len(labels))
    outside = (labels < 0) | (labels >= len(names.classes))
    if outside.any():
        line = int(outside.argmax()) + 1
        raise DataError(
            f"names class {labels[line - 1]}, but the file of names lists 0 to "
            f"{len(names.classes) - 1}",
            source=place,
            line=line,
        )
    return torch.from_numpy(labels), names.classes


def _check_any(graphs: int, place: str) -> None:
    if graphs == 0:
        raise DataError("is empty; it needs one line for each graph", source=place)
