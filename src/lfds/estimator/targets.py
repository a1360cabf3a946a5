"""Targets as users pass them, validated: class labels or values to regress, one per graph."""

import reprlib
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from lfds.config.messages import counted
from lfds.data.errors import DataError, check_text, quoted
from lfds.data.graphset import MISSING_CLASS, GraphSet
from lfds.data.readers.tables import are_many_classes
from lfds.estimator.target_matching import as_in_model, target_places

Labels = NDArray[Any]
_Number = TypeVar("_Number", np.int64, np.float64)

# Sums of squared targets have to be finite.
_LARGEST_VALUE = 1e100


class ManyClassesWarning(UserWarning):
    """The labels are numbers, and so many different ones that they may be values to regress."""


class ConstantTargetWarning(UserWarning):
    """A target to regress has the same value for all graphs for which it is known."""


def class_labels(y: Any, graphs: GraphSet) -> Labels:
    """Return the label of every graph as the user spelt it.

    Args:
        y: Names, integers or booleans; ``None`` takes the labels that the graphs carry.
        graphs: The labelled graphs.
    """
    if y is None:
        check_has_targets(graphs)
        if not graphs.classes:
            raise DataError(
                "the graphs carry numbers to regress, not classes; use LFDSRegressor or pass y=",
                source="y",
            )
        check_number_of_targets(graphs.y.numpy(), 1)
        carried: Labels = np.array(graphs.classes)[graphs.y.numpy()]
        return carried.reshape(len(graphs))
    labels = _one_per_graph(y, len(graphs))
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if labels.ndim != 1:
        raise DataError(f"needs one label per graph, not shape {list(labels.shape)}", source="y")
    labels = _typed(labels)
    if labels.dtype.kind == "f":
        _check_integers(labels)
    return labels


def has_several_targets(y: Any, graphs: GraphSet) -> bool:
    """Whether there are several targets with two classes each, and not one with any number.

    Args:
        y: Labels; ``None`` takes those that the graphs carry, of which numbers may be classes.
        graphs: The labelled graphs.
    """
    if y is None:
        return graphs.y.ndim == 2 and graphs.y.shape[1] > (0 if graphs.classes else 1)
    shape = _one_per_graph(y, len(graphs)).shape
    return len(shape) == 2 and shape[1] > 1


def multi_labels(y: Any, graphs: GraphSet) -> tuple[NDArray[np.int64], Labels]:
    """Return the class of each target of each graph, -1 where it is missing, and both classes.

    Args:
        y: Names, integers or booleans, ``[graphs, targets]``; floats with NaN where one is missing.
            ``None`` takes the labels that the graphs carry, or such floats.
        graphs: The labelled graphs.
    """
    if y is None:
        check_has_targets(graphs)
        if graphs.classes:
            carried: NDArray[np.int64] = graphs.y.numpy()
            return carried, np.array(graphs.classes)
        y = graphs.y
    labels = _one_per_graph(y, len(graphs))
    flat = labels.reshape(-1)
    known = np.array([one is not None and one == one for one in flat.tolist()])  # NaN differs
    if not known.any():
        raise DataError("no target of any graph is known", source="y")
    values = _typed(flat[known] if labels.dtype.kind != "O" else np.array(flat[known].tolist()))
    if values.dtype.kind == "f":
        _check_integers(values)
        values = values.astype(np.int64)
    classes = np.unique(values)
    if len(classes) > 2:
        shown = ", ".join(str(name) for name in classes[:5].tolist())
        raise DataError(
            f"several targets need the same two classes, not {len(classes)}: {shown}; fit "
            "them one by one, or use LFDSRegressor for numbers",
            source="y",
        )
    indices = np.full(len(flat), MISSING_CLASS, dtype=np.int64)
    indices[known] = np.searchsorted(classes, values)
    return indices.reshape(labels.shape), classes


def check_number_of_targets(targets: NDArray[np.generic], wanted: int) -> None:
    """Raise unless there are as many targets for each graph as a model has."""
    found = 1 if targets.ndim == 1 else targets.shape[1]
    if found != wanted:
        what = counted(found, "target")
        raise DataError(f"has {what} for each graph, and the model {wanted}", source="y")


def target_names(y: Any, graphs: GraphSet, count: int) -> tuple[str, ...]:
    """Return the name of each target: those of a data frame or of the graphs, else numbers."""
    return given_names(y, graphs) or tuple(f"target{k}" for k in range(count))


def given_names(y: Any, graphs: GraphSet) -> tuple[str, ...]:
    """Return the names of targets, those of a data frame or of the graphs; empty without any."""
    columns = getattr(y, "columns", None)
    if columns is not None:
        check_text(map(str, columns), "y")
        return tuple(map(str, columns))
    count = 1 if graphs.y.ndim == 1 else graphs.y.shape[1]
    return graphs.target_names if y is None and len(graphs.target_names) == count else ()


def in_order_of(
    names: Sequence[str], table: NDArray[_Number], y: Any, graphs: GraphSet
) -> NDArray[_Number]:
    """Return targets in the order of those of a model: by their names if they have the same.

    Args:
        names: The names of the targets of the model; empty if they have none.
        table: The targets, ``[graphs]`` or ``[graphs, targets]``, as many as the model has.
        y: What they were made from; ``None`` for those that the graphs carry.
        graphs: The graphs they belong to.
    """
    found = given_names(y, graphs)
    if table.ndim == 1 or not len(names) == len(found) == table.shape[1]:
        return table
    return as_in_model(table, target_places(names, found), MISSING_CLASS)


def check_both_classes(y: NDArray[np.int64], names: Sequence[str], source: str = "y") -> None:
    """Raise unless graphs of both classes are known for each of several targets."""
    for name, column in zip(names, y.T, strict=True):
        counts = [int((column == one).sum()) for one in (0, 1)]
        if min(counts) == 0:
            found = f"all {max(counts)} known graphs are of one class" if any(counts) else "none"
            raise DataError(
                f"target {quoted(name)} needs graphs of both classes, and {found}; leave it out",
                source=source,
            )


def multi_label_weights(
    weights: Literal["balanced"] | Mapping[Any, float] | None, classes: Labels, y: NDArray[np.int64]
) -> Tensor | None:
    """Return the weight of both classes of each target in the loss, ``[2, targets]``.

    The arguments are those of :func:`class_weights`; ``"balanced"`` is so for each target.
    """
    if weights is None:
        return None
    columns = [torch.from_numpy(column[column >= 0]) for column in y.T]
    found = [class_weights(weights, classes, column) for column in columns]
    return torch.stack([one for one in found if one is not None], dim=1)


def regression_targets(y: Any, graphs: GraphSet, *, unknown: bool = False) -> NDArray[np.float64]:
    """Return the targets of every graph, ``[graphs]`` or ``[graphs, targets]``.

    One of several targets may be missing, which is NaN.

    Args:
        y: Numbers; ``None`` takes the targets that the graphs carry.
        graphs: The graphs they belong to.
        unknown: Whether all targets may be missing, as where a model is evaluated on some of them.
    """
    if y is None:
        check_has_targets(graphs)
        y = graphs.y
        if graphs.classes:
            named = np.array(graphs.classes)[graphs.y.numpy()]
            y = named if graphs.y.ndim == 1 else _with_nan(named, graphs)
    values = _one_per_graph(y, len(graphs))
    if values.ndim > 2 or values.shape[1:] == (0,) or values.dtype.kind not in "iuf":
        raise DataError(
            f"needs one number, or one row of numbers, for each graph, not {values.dtype} of shape "
            f"{list(values.shape)}; use LFDSClassifier for classes",
            source="y",
        )
    values = values.astype(np.float64)
    rows = values.reshape(len(values), -1)
    several = rows.shape[1] > 1 or (unknown and values.ndim == 2)
    missing = np.isnan(rows) if several else np.zeros(rows.shape, dtype=bool)
    _check_all(np.isfinite(rows) | missing, values, "finite; leave that graph out")
    if missing.all(axis=0).any() and not unknown:
        column = int(missing.all(axis=0).argmax())
        raise DataError(f"target {column} is missing for all graphs; leave it out", source="y")
    small = missing | (np.abs(rows) <= _LARGEST_VALUE)
    _check_all(small, values, f"no larger than {_LARGEST_VALUE:g}; use other units")
    return values


def constant_target(values: NDArray[np.floating], names: Sequence[str]) -> str | None:
    """Return that a target has fewer than two values, if one has; there is nothing to fit.

    Args:
        values: ``[graphs]``, or ``[graphs, targets]`` with NaN where one is missing.
        names: The name of each of several targets.
    """
    table = values.reshape(len(values), -1)
    for place, column in enumerate(table.T):
        known = column[~np.isnan(column)]
        if len(np.unique(known)) > 1:
            continue
        name = "the target" if table.shape[1] == 1 and not names else f"target {names[place]!r}"
        if len(known) == 0:
            return f"{name} has no values"
        if len(known) == 1:
            return f"{name} is known for one graph only"
        return f"{name} has one value only, {known[0]:g}"
    return None


def warn_of_constant_targets(values: NDArray[np.float64], names: Sequence[str]) -> None:
    """Warn if a target has fewer than two values; see :func:`constant_target`."""
    found = constant_target(values, names)
    if found is not None:
        fix = "use other targets" if values.ndim == 1 else "leave it out"
        warnings.warn(
            f"y: {found}; there is nothing to fit: {fix}", ConstantTargetWarning, stacklevel=4
        )


def _with_nan(named: Labels, graphs: GraphSet) -> NDArray[Any]:
    if named.dtype.kind not in "iuf":
        return named
    return np.where(graphs.known_targets.numpy(), named.astype(np.float64), np.nan)


def check_has_targets(graphs: GraphSet, source: str = "y", fix: str = "pass y=") -> None:
    """Raise unless the graphs carry targets.

    Args:
        graphs: Which are to be fitted or evaluated on.
        source: Where they are from, for the message.
        fix: What to do about it, for the message.
    """
    if not graphs.has_targets:
        raise DataError(f"the graphs have no labels; {fix}", source=source)


def check_several_classes(labels: Labels, source: str = "y") -> None:
    """Raise unless there are at least two classes."""
    names = np.unique(labels)
    if len(names) < 2:
        raise DataError(
            f"all {len(labels)} graphs are of class {quoted(names[0].item())}, and a classifier "
            "needs at least 2 classes; add graphs of another class",
            source=source,
        )


def sorted_classes(classes: Any) -> Labels:
    """Return the argument ``classes`` of ``partial_fit`` as sorted labels."""
    try:
        names = np.asarray(classes)
        mixed = len({isinstance(one, str) for one in classes}) > 1
    except (TypeError, ValueError):
        names, mixed = np.empty((0, 0)), False
    if names.ndim != 1 or names.dtype.kind not in "iubfUO" or mixed:
        raise DataError(
            f"needs a list of labels, as ['a', 'b'], not {reprlib.repr(classes)}", source="classes"
        )
    names = np.unique(_typed(names, "classes"))
    if len(names) < 2:
        raise DataError(f"needs at least 2 labels, not {names.tolist()}", source="classes")
    return names


def warn_of_many_classes(labels: Labels) -> None:
    """Warn if the labels are numbers that hardly ever repeat."""
    count = len(np.unique(labels))
    if labels.dtype.kind in "iuf" and are_many_classes(count, len(labels)):
        warnings.warn(
            f"y has {count} different numbers for {len(labels)} graphs; to predict numbers use "
            "LFDSRegressor (lfds fit --task regression)",
            ManyClassesWarning,
            stacklevel=5,
        )


def class_indices(labels: Labels, classes: Labels, source: str = "y") -> Tensor:
    """Return the index of every label in the sorted classes.

    Args:
        labels: Each one of the classes.
        classes: All classes, sorted.
        source: Where the labels are from, for the message about an unknown one.
    """
    unknown = ~np.isin(labels, classes)
    if unknown.any():
        shown = ", ".join(str(name) for name in classes[:10].tolist())
        first = labels[unknown.argmax()].item()
        raise DataError(f"label {quoted(first)} is none of the classes {shown}", source=source)
    return torch.from_numpy(np.searchsorted(classes, labels).astype(np.int64))


def class_weights(
    weights: Literal["balanced"] | Mapping[Any, float] | None, classes: Labels, y: Tensor
) -> Tensor | None:
    r"""Return the weight of each class in the loss.

    .. math::
        w_c = \frac{n}{k \, n_c}

    for ``"balanced"``, with n graphs of k classes: the total weight of every class is the same.

    Args:
        weights: ``None``, ``"balanced"``, or a weight for each label; other labels have weight 1.
        classes: The labels, sorted.
        y: The index of the class of every graph.
    """
    if weights is None:
        return None
    if isinstance(weights, str):
        counts = torch.bincount(y, minlength=len(classes)).clamp(min=1)
        return (len(y) / (len(classes) * counts)).float()
    table = torch.ones(len(classes))
    for label, weight in weights.items():
        table[class_indices(np.array([label]), classes, source="class_weight")] = weight
    return table


def sample_weights(weights: Any, count: int) -> Tensor | None:
    r"""Return the weight of each graph in the loss, with mean one.

    .. math::
        w_g = \frac{n \, v_g}{\sum_h v_h}

    Args:
        weights: The given weights :math:`v`, ``[graphs]``; ``None`` for none.
        count: Number of graphs.
    """
    if weights is None:
        return None
    plain = weights.detach().cpu().numpy() if isinstance(weights, Tensor) else weights
    try:
        values = np.asarray(plain, dtype=np.float64)
    except (TypeError, ValueError):
        values = np.empty(0)
    if values.shape != (count,):
        raise DataError(
            f"needs one number for each of {count} graphs, not shape {list(np.shape(plain))}",
            source="sample_weight",
        )
    wrong = ~(np.isfinite(values) & (values >= 0))
    if wrong.any() or not values.any():
        row = int(wrong.argmax())
        found = f"{values[row]} at graph {row}" if wrong.any() else "zeros alone"
        raise DataError(
            f"needs finite numbers of at least 0, some above, not {found}", source="sample_weight"
        )
    return torch.from_numpy(values * (count / values.sum()))


def _one_per_graph(y: Any, count: int) -> Labels:
    """Return ``y`` as an array with one entry, or row, for each graph."""
    plain = y.detach().cpu().numpy() if isinstance(y, Tensor) else y
    if isinstance(plain, list | tuple) and len({isinstance(one, str) for one in plain}) > 1:
        raise DataError("mixes names with other labels; use one type throughout", source="y")
    try:
        values = np.asarray(plain)
    except ValueError as error:
        raise DataError(f"needs one row of labels ({error})", source="y") from None
    if values.ndim == 0 or len(values) != count:
        found = "one value" if values.ndim == 0 else len(values)
        raise DataError(f"needs one label for each of {count} graphs, not {found}", source="y")
    return values


def _typed(labels: Labels, source: str = "y") -> Labels:
    """Return labels as an array of their type; names must be text."""
    typed = _of_one_type(labels, source)
    if typed.dtype.kind == "U":
        check_text(np.unique(typed).tolist(), source)
    return typed


def _of_one_type(labels: Labels, source: str) -> Labels:
    """Return an array of objects, as pandas makes them, as an array of their type."""
    if labels.dtype.kind in "iubfU":
        return labels
    types = {type(label) for label in labels.tolist()}
    plain = np.array(labels.tolist())
    if len(types) != 1 or plain.dtype.kind not in "iubfU":
        shown = ", ".join(sorted(one.__name__ for one in types))
        raise DataError(
            f"needs names, integers or booleans throughout, not {shown}; "
            "leave out graphs whose label is missing",
            source=source,
        )
    return plain


def _check_integers(labels: Labels) -> None:
    wrong = labels != np.round(labels)  # holds for NaN as well
    if wrong.any():
        row = int(wrong.argmax())
        found = labels[row].item()
        fix = "leave that graph out" if np.isnan(found) else "use LFDSRegressor for numbers"
        raise DataError(
            f"label {row} is {found}, but classes are names or integers; {fix}", source="y"
        )


def _check_all(valid: NDArray[np.bool_], values: NDArray[np.float64], need: str) -> None:
    wrong = ~valid.all(axis=1)
    if wrong.any():
        row = int(wrong.argmax())
        shown = reprlib.repr(values[row].tolist())
        raise DataError(f"target {row} is {shown}, but needs to be {need}", source="y")
