"""Checks that the tensors of a GraphSet are valid: dtypes, shapes and bounds."""

from collections.abc import Sequence
from itertools import pairwise
from os import PathLike
from typing import TypeAlias

import torch
from torch import Tensor

from lfds.data.errors import DataError
from lfds.data.graphset import GraphSet

_Source: TypeAlias = str | PathLike[str]


def check_valid(graphs: GraphSet, *, source: _Source, chunk_size: int = 1 << 22) -> None:
    """Raise a DataError for the first invalid tensor of ``graphs``.

    Args:
        graphs: The set.
        source: Where it was read from, for messages.
        chunk_size: Number of edges that are checked at a time, about.
    """
    _check_dtypes(graphs, source)
    _check_pointer("ptr", graphs.ptr, graphs.num_nodes, source)
    _check_pointer("edge_ptr", graphs.edge_ptr, graphs.num_edges, source)
    _check_lengths(graphs, source)
    _check_edges(graphs, source, chunk_size)
    _check_targets(graphs, source)
    check_names(graphs.classes, graphs.label_values, source=source)


def check_finite(graphs: GraphSet, *, source: _Source) -> None:
    """Raise a DataError if a number is not finite; this reads all of a mapped set."""
    for name in ("x", "attributes", "edge_attributes", "edge_x", "coordinates"):
        finite = getattr(graphs, name).isfinite().all(dim=1)
        if not bool(finite.all()):
            row = int((~finite).nonzero()[0])
            raise DataError(f"{name} is not finite in row {row}", source=source)


def check_names(
    classes: Sequence[str | int], label_values: Sequence[Sequence[int]], *, source: _Source
) -> None:
    """Raise a DataError if two classes have one name, or values of labels are not sorted."""
    if len(set(classes)) != len(classes):
        raise DataError("classes need different names, but two are equal", source=source)
    for column, values in enumerate(label_values):
        integers = all(type(value) is int for value in values)
        if not integers or any(low >= high for low, high in pairwise(values)):
            raise DataError(
                f"label_values needs increasing whole numbers for column {column}", source=source
            )


def _check_dtypes(graphs: GraphSet, source: _Source) -> None:
    wanted = {
        "ptr": (torch.int64, 1),
        "x": (torch.float32, 2),
        "attributes": (torch.float32, 2),
        "labels": (torch.int64, 2),
        "edge_ptr": (torch.int64, 1),
        "edge_dst": (torch.int32, 1),
        "edge_attributes": (torch.float32, 2),
        "edge_labels": (torch.int64, 2),
        "edge_x": (torch.float32, 2),
        "coordinates": (torch.float32, 2),
        "groups": (torch.int64, 2),
    }
    for name, (dtype, ndim) in wanted.items():
        tensor: Tensor = getattr(graphs, name)
        if tensor.dtype != dtype or tensor.ndim != ndim:
            raise DataError(
                f"{name} needs {dtype} of {ndim} dimension(s), not {tensor.dtype} of {tensor.ndim}",
                source=source,
            )


def _check_pointer(name: str, pointer: Tensor, total: int, source: _Source) -> None:
    if len(pointer) == 0 or int(pointer[0]) != 0 or int(pointer[-1]) != total:
        raise DataError(f"{name} needs to run from 0 to {total}", source=source)
    if bool((pointer[1:] < pointer[:-1]).any()):
        raise DataError(f"{name} must not decrease", source=source)


def _check_lengths(graphs: GraphSet, source: _Source) -> None:
    wanted = {
        "x": graphs.num_nodes,
        "attributes": graphs.num_nodes,
        "labels": graphs.num_nodes,
        "coordinates": graphs.num_nodes,
        "edge_attributes": graphs.num_edges,
        "edge_labels": graphs.num_edges,
        "edge_x": graphs.num_edges,
        "y": len(graphs),
        "groups": len(graphs),
    }
    for name, length in wanted.items():
        tensor: Tensor = getattr(graphs, name)
        if len(tensor) != length:
            raise DataError(f"{name} needs {length} rows, not {len(tensor)}", source=source)
    if len(graphs.label_values) != graphs.labels.shape[1]:
        raise DataError("label_values needs one entry for each column of labels", source=source)


def _check_edges(graphs: GraphSet, source: _Source, chunk_size: int) -> None:
    edge_ptr = graphs.edge_ptr[graphs.ptr]
    # Some graphs at a time: a mapped set may be larger than memory.
    step = max(1, len(graphs) * chunk_size // max(graphs.num_edges, 1))
    for start in range(0, len(graphs), step):
        stop = min(start + step, len(graphs))
        counts = edge_ptr[start : stop + 1].diff()
        sizes = graphs.ptr[start : stop + 1].diff()
        edges = graphs.edge_dst[int(edge_ptr[start]) : int(edge_ptr[stop])]
        outside = (edges < 0) | (edges >= sizes.repeat_interleave(counts))
        if bool(outside.any()):
            edge = int(outside.nonzero()[0])
            graph = int(torch.searchsorted(counts.cumsum(0), edge, right=True))
            raise DataError(
                f"edge {int(edge_ptr[start]) + edge} names node {int(edges[edge])} of graph "
                f"{start + graph}, which has {int(sizes[graph])} nodes numbered from 0",
                source=source,
            )


def _check_targets(graphs: GraphSet, source: _Source) -> None:
    y = graphs.y
    if not graphs.classes:
        if y.dtype != torch.float32 or y.ndim > 2:
            raise DataError(
                "y needs float32 of one or two dimensions for regression", source=source
            )
        # One of several targets may be missing.
        if not bool((y.isfinite() | y.isnan() if y.ndim == 2 else y.isfinite()).all()):
            raise DataError("targets need finite numbers", source=source)
    elif y.dtype != torch.int64 or y.ndim > 2 or (y.ndim == 2 and graphs.num_classes != 2):
        raise DataError(
            "y needs int64 of one dimension for classes, or of two for several targets with the "
            "same two classes",
            source=source,
        )
    elif y.numel() and (int(y.min()) < 1 - y.ndim or int(y.max()) >= graphs.num_classes):
        raise DataError(
            f"y needs indices of classes from 0 to {graphs.num_classes - 1}", source=source
        )
    targets = 1 if y.ndim == 1 else y.shape[1]
    if graphs.target_names and len(graphs.target_names) != targets:
        raise DataError(f"target_names needs one name for each of {targets} targets", source=source)
