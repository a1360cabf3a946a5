"""Labels as people give them, checked: one for each graph, and none missing."""

import reprlib
import warnings
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from lfds.data.errors import DataError, quoted
from lfds.data.graphset import GraphSet

Labels = NDArray[Any]

# More classes than this, with fewer graphs of each, are rare, and quantities are common.
_CLASSES, _OF_EACH = 10, 10


class ManyClassesWarning(UserWarning):
    """The classes are numbers, and so many that they may be quantities."""


def class_labels(y: Any, graphs: GraphSet) -> Labels:
    """Return the label of every graph, as the user spelt it.

    Args:
        y: Names, whole numbers or booleans; ``None`` takes those that the graphs carry.
        graphs: What is labelled.
    """
    if y is None:
        need_targets(graphs)
        if not graphs.classes:
            raise DataError(
                "the graphs carry quantities and no classes; use LFDSRegressor, or give labels",
                source="y",
            )
        carried: Labels = np.array(graphs.classes)[graphs.y.numpy()]
        return carried
    labels = one_each(y, len(graphs))
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if labels.ndim != 1:
        raise DataError(f"needs one label per graph, not shape {list(labels.shape)}", source="y")
    labels = _words(labels)
    if labels.dtype.kind == "f":
        _need_whole(labels)
    return labels


def need_targets(graphs: GraphSet) -> None:
    """Raise unless the graphs carry something to learn or to be judged by."""
    if not graphs.has_targets:
        raise DataError("the graphs carry no labels; pass y, or graphs that have some", source="y")


def one_each(y: Any, count: int) -> Labels:
    """Return what was given as an array with one entry, or row, for each graph."""
    plain = y.detach().cpu().numpy() if isinstance(y, Tensor) else y
    if isinstance(plain, list | tuple) and len({isinstance(one, str) for one in plain}) > 1:
        raise DataError("mixes names with other labels; use one kind throughout", source="y")
    try:
        values = np.asarray(plain)
    except ValueError as error:
        raise DataError(f"needs one row of labels ({error})", source="y") from None
    if values.ndim == 0 or len(values) != count:
        found = "one value" if values.ndim == 0 else len(values)
        raise DataError(f"needs one label for each of {count} graphs, not {found}", source="y")
    return values


def need_several(labels: Labels) -> None:
    """Raise unless there are two classes at least."""
    names = np.unique(labels)
    if len(names) < 2:
        raise DataError(
            f"all {len(labels)} graphs are of class {quoted(names[0].item())}; "
            "learning needs at least 2 classes: give labels, or other graphs",
            source="y",
        )


def announced(classes: Any) -> Labels:
    """Return all the labels there will ever be, rising."""
    try:
        names = np.asarray(classes)
        mixed = len({isinstance(one, str) for one in classes}) > 1
    except (TypeError, ValueError):
        names, mixed = np.empty((0, 0)), False
    if names.ndim != 1 or names.dtype.kind not in "iubfUO" or mixed:
        raise DataError(
            f"needs a list of labels, as ['a', 'b'], not {reprlib.repr(classes)}", source="classes"
        )
    names = np.unique(_words(names, "classes"))
    if len(names) < 2:
        raise DataError(f"needs at least 2 labels, not {names.tolist()}", source="classes")
    return names


def tell_of_amounts(labels: Labels) -> None:
    """Warn of labels that are numbers and hardly ever the same."""
    distinct = len(np.unique(labels))
    if labels.dtype.kind in "iuf" and distinct > _CLASSES and len(labels) < distinct * _OF_EACH:
        warnings.warn(
            f"y has {distinct} different numbers for {len(labels)} graphs, as quantities have; "
            "LFDSRegressor predicts those (lfds fit does, where a file has them with a point, "
            "as 7.0)",
            ManyClassesWarning,
            stacklevel=4,
        )


def positions(labels: Labels, classes: Labels, source: str = "y") -> Tensor:
    """Return the place of every label among the classes, which rise.

    Args:
        labels: Each of them one of the classes.
        classes: All there are.
        source: Where the labels are from, for what is said of one that is no class.
    """
    strange = ~np.isin(labels, classes)
    if strange.any():
        shown = ", ".join(str(name) for name in classes[:10].tolist())
        first = labels[strange.argmax()].item()
        raise DataError(f"label {quoted(first)} is none of the classes {shown}", source=source)
    return torch.from_numpy(np.searchsorted(classes, labels).astype(np.int64))


def _words(labels: Labels, source: str = "y") -> Labels:
    """Return objects, as pandas gives them, as what they are."""
    if labels.dtype.kind in "iubfU":
        return labels
    kinds = {type(label) for label in labels.tolist()}
    plain = np.array(labels.tolist())
    if len(kinds) != 1 or plain.dtype.kind not in "iubfU":
        shown = ", ".join(sorted(kind.__name__ for kind in kinds))
        raise DataError(
            f"needs names, whole numbers or booleans throughout, not {shown}; "
            "leave out graphs whose label is missing",
            source=source,
        )
    return plain


def _need_whole(labels: Labels) -> None:
    wrong = labels != np.round(labels)  # holds for NaN as well
    if wrong.any():
        row = int(wrong.argmax())
        found = labels[row].item()
        way = "leave that graph out" if np.isnan(found) else "use LFDSRegressor for quantities"
        raise DataError(f"label {row} is {found}, but classes need names; {way}", source="y")
