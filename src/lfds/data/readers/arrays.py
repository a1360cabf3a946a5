"""Graphs from arrays."""

from collections.abc import Sequence
from os import PathLike
from typing import TypeAlias

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor

from lfds.config.budget import over_budget
from lfds.data.edges import Ints, check_edges, rows_from_edge_index
from lfds.data.errors import DataError, quoted
from lfds.data.graphset import GraphSet

Array: TypeAlias = ArrayLike | Tensor
Floats: TypeAlias = NDArray[np.float32]
_MAX_NODES = 2**31 - 1
# Pointers and the order of nodes; both ends of an edge, sorted, and their copy in the set.
_BYTES_PER_NODE, _BYTES_PER_EDGE = 40, 36
_MAX_INT = 2**63 - 1


def graphs_from_arrays(
    sizes: Array,
    edge_index: Array,
    y: Array | None = None,
    *,
    attributes: Array | None = None,
    labels: Array | None = None,
    edge_attributes: Array | None = None,
    edge_labels: Array | None = None,
    coordinates: Array | None = None,
    name: str = "graphs",
) -> GraphSet:
    """Return a set made from arrays in which all graphs are concatenated.

    Args:
        sizes: Number of nodes of each graph, ``[graphs]``.
        edge_index: ``[2, edges]``, senders above receivers, nodes numbered over the whole set.
        y: One target per graph: integers and strings are classes, floats regression targets.
            ``[graphs, targets]`` for several: two different integers are classes, other numbers
            regression targets, NaN where one is missing. ``None`` for graphs without targets.
        attributes: Real-valued node attributes, ``[nodes, a]``; also used as features ``x``.
        labels: Categorical node labels as integers, ``[nodes]`` or ``[nodes, l]``.
        edge_attributes: ``[edges, ea]``, in the order of ``edge_index``.
        edge_labels: ``[edges]`` or ``[edges, el]``, likewise.
        coordinates: Positions of nodes in space, ``[nodes, c]``; used for drawing only.
        name: Name of the set.

    >>> two = graphs_from_arrays([3, 1], [[0, 1, 1, 2], [1, 0, 2, 1]], ["path", "dot"])
    >>> two.classes, two.y.tolist(), two.edge_dst.tolist()
    (('dot', 'path'), [1, 0], [1, 0, 2, 1])
    """
    ptr = _pointers(sizes)
    num_graphs, num_nodes = len(ptr) - 1, int(ptr[-1])
    ends = _ints(edge_index, "edge_index", rows=2)
    check_size(num_nodes, ends.shape[1], "sizes")
    check_edges(ptr, ends)
    keep = edge_attributes is not None or edge_labels is not None
    rows = rows_from_edge_index(ptr, ends, keep_positions=keep)
    node_labels = _int_table(labels, "labels", num_nodes)
    node_attributes = torch.from_numpy(_float_table(attributes, "attributes", num_nodes))
    targets, classes = targets_from(
        np.zeros((num_graphs, 0), dtype=np.float32) if y is None else y, num_graphs
    )
    num_edges = ends.shape[1]
    edge_floats = _float_table(edge_attributes, "edge_attributes", num_edges)
    edge_ints = _int_table(edge_labels, "edge_labels", num_edges)
    return GraphSet(
        name=name,
        ptr=torch.from_numpy(ptr),
        x=node_attributes,
        attributes=node_attributes,
        labels=torch.from_numpy(node_labels),
        label_values=label_values(node_labels),
        edge_ptr=torch.from_numpy(rows.ptr),
        edge_dst=torch.from_numpy(rows.senders),
        edge_attributes=torch.from_numpy(rows.take(edge_floats)),
        edge_labels=torch.from_numpy(rows.take(edge_ints)),
        y=targets,
        classes=classes,
        coordinates=torch.from_numpy(_float_table(coordinates, "coordinates", num_nodes)),
        provenance={"duplicate_edges_removed": rows.duplicates},
    )


def check_size(nodes: int, edges: int, source: str | PathLike[str]) -> None:
    """Raise a DataError if graphs of this size cannot be held in the memory that may be used."""
    missing = over_budget(_BYTES_PER_NODE * nodes + _BYTES_PER_EDGE * edges)
    if missing is not None:
        raise DataError(
            f"{nodes:,} nodes and {edges:,} edges: a set of that size {missing}; use fewer graphs",
            source=source,
        )


def without_features(graphs: GraphSet) -> GraphSet:
    """Return the graphs with features ``x`` of width 0, to be encoded later."""
    return graphs.with_features(torch.zeros(graphs.num_nodes, 0))


def targets_from(y: Array | Sequence[str], num_graphs: int) -> tuple[Tensor, tuple[str | int, ...]]:
    """Return ``y`` and ``classes`` of a GraphSet; the classes are sorted."""
    values = _array(y, "y")
    if values.ndim == 0 or len(values) != num_graphs:
        raise DataError(f"needs one target for each of {num_graphs} graphs", source="y")
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    several = values.ndim == 2
    if values.dtype.kind == "f":
        if values.ndim > 2:
            raise DataError(
                f"regression needs one row per graph, not shape {list(values.shape)}", source="y"
            )
        return torch.from_numpy(_float32(values, "y", missing=several)), ()
    if values.dtype.kind not in ("iub" if several else "iubU") or values.ndim > 2:
        raise DataError(
            f"needs one integer, string or float per graph, or one row of numbers, not "
            f"{values.dtype} of shape {values.shape}",
            source="y",
        )
    if values.dtype.kind in "bu":
        values = _int64(values, "y")
    classes, indices = np.unique(values, return_inverse=True)
    if several and len(classes) != 2:  # several targets have the same two classes, or are numbers
        return torch.from_numpy(_float32(values, "y")), ()
    indices = indices.reshape(values.shape).astype(np.int64)
    return torch.from_numpy(indices), tuple(classes.tolist())


def label_values(labels: Ints) -> tuple[tuple[int, ...], ...]:
    """Return the sorted values of each column of labels."""
    return tuple(tuple(np.unique(column).tolist()) for column in labels.T)


def _pointers(sizes: Array) -> Ints:
    counts = _ints(sizes, "sizes")
    if len(counts) == 0:
        raise DataError("needs at least one graph", source="sizes")
    wrong = (counts < 0) | (counts > _MAX_NODES)
    if wrong.any():
        first = int(wrong.argmax())
        raise DataError(
            f"graph {first} has {counts[first]} nodes; it needs 0 to {_MAX_NODES}", source="sizes"
        )
    return np.concatenate([[0], counts.cumsum()])


def _array(given: Array | Sequence[str], name: str) -> NDArray[np.generic]:
    if isinstance(given, Tensor):
        return _from_tensor(given, name)
    try:
        return np.asarray(given)
    except (ValueError, TypeError) as error:
        raise DataError(
            f"needs an array with rows of equal length ({error})", source=name
        ) from error


def _from_tensor(given: Tensor, name: str) -> NDArray[np.generic]:
    try:
        plain = given.detach().cpu()
        # numpy has no floats of 8 bits, and no bfloat16.
        small = plain.is_floating_point() and plain.itemsize < 4
        return (plain.float() if small else plain).numpy()
    except (TypeError, RuntimeError) as error:
        raise DataError(
            f"needs a dense tensor of numbers, not {given.dtype} ({given.layout}, on "
            f"{given.device}); convert it",
            source=name,
        ) from error


def _ints(given: Array, name: str, rows: int = 0) -> Ints:
    """Return integers of shape ``[n]``, or ``[rows, n]``."""
    values = _array(given, name)
    if values.size == 0:
        values = values.astype(np.int64).reshape((rows, 0) if rows else (0,))
    if values.dtype.kind not in "iu":
        raise DataError(f"needs whole numbers, not {quoted(values.dtype)}", source=name)
    if values.ndim != (2 if rows else 1) or (rows and len(values) != rows):
        need = f"[{rows}, n]" if rows else "[n]"
        raise DataError(f"needs shape {need}, not {list(values.shape)}", source=name)
    return _int64(values, name)


def _int_table(given: Array | None, name: str, length: int) -> Ints:
    if given is None:
        return np.zeros((length, 0), dtype=np.int64)
    return _int64(_table(given, name, length, "iub", "whole numbers"), name)


def _float_table(given: Array | None, name: str, length: int) -> Floats:
    if given is None:
        return np.zeros((length, 0), dtype=np.float32)
    return _float32(_table(given, name, length, "iubf", "numbers"), name)


def _table(given: Array, name: str, length: int, kinds: str, need: str) -> NDArray[np.generic]:
    values = _array(given, name)
    if values.dtype.kind not in kinds:
        raise DataError(f"needs {need}, not {quoted(values.dtype)}", source=name)
    if values.ndim == 1:
        values = values[:, None]
    if values.ndim != 2 or len(values) != length:
        raise DataError(f"needs {length} rows, not shape {list(values.shape)}", source=name)
    return values


def _int64(values: NDArray[np.generic], name: str) -> Ints:
    if values.dtype.kind == "u" and values.size and int(values.max()) > _MAX_INT:
        raise DataError(
            f"needs whole numbers up to {_MAX_INT}, not {quoted(values.max())}", source=name
        )
    return values.astype(np.int64)


def _float32(values: NDArray[np.generic], name: str, *, missing: bool = False) -> Floats:
    """Return finite numbers in single precision; ``missing`` ones may be NaN."""
    # Checked after the conversion: numbers that are too large become infinite there.
    with np.errstate(over="ignore"):
        floats = values.astype(np.float32)
    valid = np.isfinite(floats) | (missing & np.isnan(floats))
    finite = valid if floats.ndim == 1 else valid.all(axis=1)
    if not finite.all():
        row = int(finite.argmin())
        raise DataError(
            f"row {row} holds {quoted(values[row].tolist())}, but needs finite numbers below "
            f"3.4e38, the largest of single precision; impute or scale the column",
            source=name,
        )
    return floats
