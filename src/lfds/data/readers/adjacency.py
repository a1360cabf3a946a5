"""Graphs from pairs of node features and an adjacency matrix, dense or sparse."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lfds.data.errors import DataError
from lfds.data.graphset import GraphSet
from lfds.data.readers.arrays import Array, graphs_from_arrays


def is_pair(item: object) -> bool:
    """Whether an object is a pair of features, or None, and a matrix."""
    return isinstance(item, tuple) and len(item) == 2 and hasattr(item[1], "shape")


def graphs_from_adjacency(
    pairs: Sequence[Any], y: Array | None = None, *, name: str = "graphs"
) -> GraphSet:
    """Return a set of graphs ``(X, A)``.

    ``X`` are the attributes of the nodes, ``[n, d]``, or None for nodes without any. ``A`` is
    ``[n, n]``: an array, a tensor, or a sparse matrix of scipy or torch. An entry other than zero
    in row i and column j is an edge from i to j; if not all of them are 1, they are attributes of
    the edges.

    Args:
        pairs: The graphs.
        y: One target per graph, or None.
        name: Name of the set.
    """
    read = [_read(pair, position) for position, pair in enumerate(pairs)]
    with_features = [features is not None for features, _, _, _ in read]
    if any(with_features) and not all(with_features):
        raise DataError(
            "has no features, and others have", source=f"graph {with_features.index(False)}"
        )
    widths = [features.shape[1] for features, _, _, _ in read if features is not None]
    for position, width in enumerate(widths):
        if width != widths[0]:
            raise DataError(
                f"needs {widths[0]} columns of features as graph 0 has, not {width}",
                source=f"graph {position}",
            )
    sizes = [size for _, size, _, _ in read]
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64)
    edges = [pair + start for (_, _, pair, _), start in zip(read, starts, strict=True)]
    weights = np.concatenate([weight for *_, weight in read])
    features = [one for one, *_ in read if one is not None]
    return graphs_from_arrays(
        sizes,
        np.concatenate(edges, axis=1),
        y,
        attributes=np.concatenate(features) if features else None,
        edge_attributes=weights[:, None] if (weights != 1).any() else None,
        name=name,
    )


def _read(
    pair: Any, position: int
) -> tuple[NDArray[Any] | None, int, NDArray[np.int64], NDArray[np.float64]]:
    """Return features, number of nodes, edges ``[2, edges]`` and their weights."""
    where = f"graph {position}"
    if not is_pair(pair):
        raise DataError(f"needs a pair (X, adjacency), not {type(pair).__name__}", source=where)
    matrix = _entries(pair[1], where)
    features = None if pair[0] is None else _plain(pair[0])
    if features is not None and not _are_rows(features, matrix[0]):
        raise DataError(
            f"needs one row of numbers for each of {matrix[0]} nodes, not {features.dtype} of "
            f"shape {list(features.shape)}",
            source=where,
        )
    return features, *matrix


def _are_rows(features: NDArray[Any], count: int) -> bool:
    return features.ndim == 2 and features.dtype.kind in "iubf" and len(features) == count


def _entries(matrix: Any, where: str) -> tuple[int, NDArray[np.int64], NDArray[np.float64]]:
    shape = tuple(matrix.shape)
    if len(shape) != 2 or shape[0] != shape[1]:
        raise DataError(f"needs a square adjacency, not shape {list(shape)}", source=where)
    if hasattr(matrix, "tocoo"):  # scipy
        found = matrix.tocoo()
        rows, columns, values = found.row, found.col, np.asarray(found.data)
    elif getattr(matrix, "is_sparse", False) or str(getattr(matrix, "layout", "")).startswith(
        "torch.sparse"
    ):
        found = matrix.detach().cpu().to_sparse_coo().coalesce()
        (rows, columns), values = found.indices().numpy(), found.values().numpy()
    else:
        dense = _plain(matrix)
        rows, columns = np.nonzero(dense)
        values = dense[rows, columns]
    if values.dtype.kind not in "iubf" or not np.isfinite(values).all():
        raise DataError("needs finite numbers in its adjacency", source=where)
    kept = values != 0
    edges = np.stack([rows[kept], columns[kept]]).astype(np.int64)
    return shape[0], edges, values[kept].astype(np.float64)


def _plain(values: Any) -> NDArray[Any]:
    return np.asarray(values.detach().cpu() if hasattr(values, "detach") else values)
