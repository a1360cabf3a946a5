"""Graphs given as plain arrays, checked and made a GraphSet."""

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor

from lfds.data.errors import DataError, quoted
from lfds.data.graphset import GraphSet
from lfds.data.readers.edges import Whole, check_edges, edge_rows

Given: TypeAlias = ArrayLike | Tensor
_MOST_NODES = 2**31 - 1
_LARGEST_WHOLE = 2**63 - 1


def graphs_from_arrays(
    sizes: Given,
    edge_index: Given,
    y: Given | None = None,
    *,
    attributes: Given | None = None,
    labels: Given | None = None,
    edge_attributes: Given | None = None,
    edge_labels: Given | None = None,
    coordinates: Given | None = None,
    name: str = "graphs",
) -> GraphSet:
    """Make a set from arrays over all its graphs, laid end to end.

    Args:
        sizes: Nodes of each graph, ``[graphs]``.
        edge_index: ``[2, edges]``, senders above receivers, nodes numbered over the whole set.
        y: One target per graph: whole numbers or names are classes, floats are regressed.
            Left out, the set has no targets: its graphs are yet to be predicted.
        attributes: Quantities, ``[nodes, a]``; they are also the features ``x``.
        labels: Kinds as whole numbers, ``[nodes]`` or ``[nodes, l]``.
        edge_attributes: ``[edges, ea]``, in the order of ``edge_index``.
        edge_labels: ``[edges]`` or ``[edges, el]``, likewise.
        coordinates: Where nodes are in space, ``[nodes, c]``; for drawing, not for learning.
        name: What the set is called.

    >>> two = graphs_from_arrays([3, 1], [[0, 1, 1, 2], [1, 0, 2, 1]], ["path", "dot"])
    >>> two.classes, two.y.tolist(), two.edge_dst.tolist()
    (('dot', 'path'), [1, 0], [1, 0, 2, 1])
    """
    ptr = _pointers(sizes)
    num_nodes = int(ptr[-1])
    ends = _whole(edge_index, "edge_index", columns=2, transposed=True)
    known = edge_attributes is not None or edge_labels is not None
    check_edges(ptr, ends[0], ends[1])
    rows = edge_rows(ptr, ends[0], ends[1], keep_positions=known)
    kinds = _whole_table(labels, "labels", num_nodes)
    amounts = torch.from_numpy(_amounts(attributes, "attributes", num_nodes))
    targets, classes = targets_from(
        np.zeros((len(ptr) - 1, 0), dtype=np.float32) if y is None else y, len(ptr) - 1
    )
    num_edges = ends.shape[1]
    return GraphSet(
        name=name,
        ptr=torch.from_numpy(ptr),
        x=amounts,
        attributes=amounts,
        labels=torch.from_numpy(kinds),
        label_values=label_values(kinds),
        edge_ptr=torch.from_numpy(rows.ptr),
        edge_dst=torch.from_numpy(rows.other),
        edge_attributes=rows.of_kept(_amounts(edge_attributes, "edge_attributes", num_edges)),
        edge_labels=rows.of_kept(_whole_table(edge_labels, "edge_labels", num_edges)),
        y=targets,
        classes=classes,
        coordinates=torch.from_numpy(_amounts(coordinates, "coordinates", num_nodes)),
        provenance={"duplicate_edges_removed": rows.duplicates},
    )


def not_yet_encoded(graphs: GraphSet) -> GraphSet:
    """Return the graphs without features: what a file holds is encoded before a network sees it."""
    return graphs.with_features(torch.zeros(graphs.num_nodes, 0))


def targets_from(y: Given | Sequence[str], num_graphs: int) -> tuple[Tensor, tuple[str | int, ...]]:
    """Return targets as a GraphSet holds them, and the names of the classes, rising."""
    values = _array(y, "y")
    if values.ndim == 0 or len(values) != num_graphs:
        raise DataError(f"needs one target for each of {num_graphs} graphs", source="y")
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.dtype.kind == "f":
        if values.ndim > 2:
            raise DataError(
                f"regression needs one row per graph, not shape {list(values.shape)}", source="y"
            )
        return torch.from_numpy(_single(values, "y")), ()
    if values.dtype.kind not in "iubU" or values.ndim != 1:
        raise DataError(
            f"needs one whole number, name or float per graph, not {values.dtype} "
            f"of shape {values.shape}",
            source="y",
        )
    if values.dtype.kind in "bu":
        values = _signed(values, "y")
    names, positions = np.unique(values, return_inverse=True)
    return torch.from_numpy(positions.astype(np.int64)), tuple(names.tolist())


def label_values(labels: Whole) -> tuple[tuple[int, ...], ...]:
    """Return the values of each column of labels, rising."""
    return tuple(tuple(np.unique(column).tolist()) for column in labels.T)


def _pointers(sizes: Given) -> Whole:
    counts = _whole(sizes, "sizes")
    if len(counts) == 0:
        raise DataError("needs at least one graph", source="sizes")
    if (counts < 0).any() or (counts > _MOST_NODES).any():
        wrong = int(((counts < 0) | (counts > _MOST_NODES)).argmax())
        raise DataError(f"graph {wrong} has {counts[wrong]} nodes; 0 is the least", source="sizes")
    return np.concatenate([[0], counts.cumsum()])


def _array(given: Given | Sequence[str], name: str) -> NDArray[np.generic]:
    """Return what was given as an array of numpy, whatever it was before."""
    if isinstance(given, Tensor):
        plain = given.detach().cpu()
        # numpy does not know this one.
        return (plain.float() if plain.dtype == torch.bfloat16 else plain).numpy()
    try:
        return np.asarray(given)
    except (ValueError, TypeError) as error:
        raise DataError(
            f"needs an array, with rows of the same length throughout ({error})", source=name
        ) from error


def _whole(given: Given, name: str, columns: int = 0, transposed: bool = False) -> Whole:
    values = _array(given, name)
    if values.size == 0:
        values = values.astype(np.int64).reshape((columns, 0) if transposed else (0,))
    if values.dtype.kind not in "iu":
        raise DataError(f"needs whole numbers, not {quoted(values.dtype)}", source=name)
    wanted = 2 if transposed else 1
    if values.ndim != wanted or (transposed and len(values) != columns):
        need = f"[{columns}, n]" if transposed else "[n]"
        raise DataError(f"needs shape {need}, not {list(values.shape)}", source=name)
    return _signed(values, name)


def _whole_table(given: Given | None, name: str, length: int) -> Whole:
    if given is None:
        return np.zeros((length, 0), dtype=np.int64)
    values = _array(given, name)
    if values.dtype.kind not in "iub":
        raise DataError(f"needs whole numbers, not {quoted(values.dtype)}", source=name)
    return _signed(_table(values, name, length), name)


def _amounts(given: Given | None, name: str, length: int) -> NDArray[np.float32]:
    if given is None:
        return np.zeros((length, 0), dtype=np.float32)
    values = _array(given, name)
    if values.dtype.kind not in "iubf":
        raise DataError(f"needs numbers, not {quoted(values.dtype)}", source=name)
    return _single(_table(values, name, length), name)


def _signed(values: NDArray[np.generic], name: str) -> Whole:
    """Return whole numbers as int64, in which the largest unsigned ones have no place."""
    if values.dtype.kind == "u" and values.size and int(values.max()) > _LARGEST_WHOLE:
        raise DataError(
            f"needs whole numbers up to {_LARGEST_WHOLE}, not {quoted(values.max())}",
            source=name,
        )
    return values.astype(np.int64)


def _single(values: NDArray[np.generic], name: str) -> NDArray[np.float32]:
    """Return numbers in single precision; judged there, as what is too large becomes inf."""
    with np.errstate(over="ignore"):
        amounts = values.astype(np.float32)
    fits = np.isfinite(amounts) if amounts.ndim == 1 else np.isfinite(amounts).all(axis=1)
    if not fits.all():
        row = int(fits.argmin())
        raise DataError(
            f"row {row} holds {quoted(values[row].tolist())}, but needs finite numbers below "
            f"3.4e38, the largest of single precision; fill it in, or scale the column",
            source=name,
        )
    return amounts


def _table(values: NDArray[np.generic], name: str, length: int) -> NDArray[np.generic]:
    if values.ndim == 1:
        values = values[:, None]
    if values.ndim != 2 or len(values) != length:
        raise DataError(f"needs {length} rows, not shape {list(values.shape)}", source=name)
    return values
