"""Concatenation of several sets of graphs."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from lfds.data.errors import DataError
from lfds.data.graphset import GraphSet

_TABLES = ("x", "attributes", "labels", "edge_attributes", "edge_labels", "edge_x")


def concat(sets: Sequence[GraphSet]) -> GraphSet:
    """Return all graphs of ``sets`` in order; name and provenance are those of the first set.

    >>> two = GraphSet.from_arrays([2, 1], [[0], [1]], ["bar", "dot"])
    >>> concat([two[1], two[0]]).y.tolist()
    [1, 0]
    """
    if not sets:
        raise DataError("needs at least one set of graphs", source="sets")
    first = sets[0]
    for position, graphs in enumerate(sets):
        _check_compatible(first, graphs, position)
    attributes = torch.cat([graphs.attributes for graphs in sets])
    shared = all(graphs.x is graphs.attributes for graphs in sets)
    return replace(
        first,
        ptr=_pointers([graphs.ptr for graphs in sets]),
        x=attributes if shared else torch.cat([graphs.x for graphs in sets]),
        attributes=attributes,
        labels=torch.cat([graphs.labels for graphs in sets]),
        label_values=_label_values(sets),
        edge_ptr=_pointers([graphs.edge_ptr for graphs in sets]),
        edge_dst=torch.cat([graphs.edge_dst for graphs in sets]),
        edge_attributes=torch.cat([graphs.edge_attributes for graphs in sets]),
        edge_labels=torch.cat([graphs.edge_labels for graphs in sets]),
        y=torch.cat([graphs.y for graphs in sets]),
        coordinates=_coordinates(sets),
        groups=_groups(sets),
        edge_x=torch.cat([graphs.edge_x for graphs in sets]),
    )


def _groups(sets: Sequence[GraphSet]) -> Tensor:
    """Return the groups, which have the same numbers in all sets; none unless all have them."""
    if not all(graphs.groups.shape[1] for graphs in sets):
        return torch.empty(sum(map(len, sets)), 0, dtype=torch.int64)
    return torch.cat([graphs.groups for graphs in sets])


def _coordinates(sets: Sequence[GraphSet]) -> Tensor:
    """Return the coordinates; none if the sets differ in their dimensions."""
    widths = {graphs.coordinates.shape[1] for graphs in sets}
    if len(widths) > 1:
        return torch.empty(sum(graphs.num_nodes for graphs in sets), 0)
    return torch.cat([graphs.coordinates for graphs in sets])


def _check_compatible(first: GraphSet, graphs: GraphSet, position: int) -> None:
    for name in _TABLES:
        need, found = getattr(first, name).shape[1], getattr(graphs, name).shape[1]
        if need != found:
            raise DataError(
                f"{name} needs {need} columns as in the first set, not {found}",
                source=f"set {position}",
            )
    if graphs.classes != first.classes or graphs.y.shape[1:] != first.y.shape[1:]:
        raise DataError("needs the same targets as the first set", source=f"set {position}")


def _pointers(pointers: Sequence[Tensor]) -> Tensor:
    counts = np.concatenate([np.diff(pointer.numpy()) for pointer in pointers])
    return torch.from_numpy(np.concatenate([[0], counts.cumsum()]).astype(np.int64))


def _label_values(sets: Sequence[GraphSet]) -> tuple[tuple[int, ...], ...]:
    # Parts of one set share the same tuple: skip repeated ones.
    distinct = {id(graphs.label_values): graphs.label_values for graphs in sets}.values()
    columns = zip(*distinct, strict=True)
    return tuple(tuple(sorted(set().union(*values))) for values in columns)
