"""Several sets of graphs laid end to end as one."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from lfds.data.errors import DataError
from lfds.data.graphset import GraphSet

_TABLES = ("x", "attributes", "labels", "edge_attributes", "edge_labels")


def join(sets: Sequence[GraphSet]) -> GraphSet:
    """Return all graphs of ``sets`` in their order; name and provenance are those of the first.

    >>> two = GraphSet.from_arrays([2, 1], [[0], [1]], ["bar", "dot"])
    >>> join([two[1], two[0]]).y.tolist()
    [1, 0]
    """
    if not sets:
        raise DataError("needs at least one set of graphs", source="sets")
    first = sets[0]
    for position, graphs in enumerate(sets):
        _check_alike(first, graphs, position)
    attributes = torch.cat([graphs.attributes for graphs in sets])
    alike = all(graphs.x is graphs.attributes for graphs in sets)
    return replace(
        first,
        ptr=_laid_out([graphs.ptr for graphs in sets]),
        x=attributes if alike else torch.cat([graphs.x for graphs in sets]),
        attributes=attributes,
        labels=torch.cat([graphs.labels for graphs in sets]),
        label_values=_values(sets),
        edge_ptr=_laid_out([graphs.edge_ptr for graphs in sets]),
        edge_dst=torch.cat([graphs.edge_dst for graphs in sets]),
        edge_attributes=torch.cat([graphs.edge_attributes for graphs in sets]),
        edge_labels=torch.cat([graphs.edge_labels for graphs in sets]),
        y=torch.cat([graphs.y for graphs in sets]),
        coordinates=_coordinates(sets),
    )


def _coordinates(sets: Sequence[GraphSet]) -> Tensor:
    """Coordinates are kept where all sets have some, in as many dimensions."""
    widths = {graphs.coordinates.shape[1] for graphs in sets}
    if len(widths) > 1:
        return torch.empty(sum(graphs.num_nodes for graphs in sets), 0)
    return torch.cat([graphs.coordinates for graphs in sets])


def _check_alike(first: GraphSet, graphs: GraphSet, position: int) -> None:
    for name in _TABLES:
        wanted, found = getattr(first, name).shape[1], getattr(graphs, name).shape[1]
        if wanted != found:
            raise DataError(
                f"{name} needs {wanted} columns as in the first, not {found}",
                source=f"set {position}",
            )
    if graphs.classes != first.classes or graphs.y.shape[1:] != first.y.shape[1:]:
        raise DataError("needs the targets of the first, and has others", source=f"set {position}")


def _laid_out(pointers: Sequence[Tensor]) -> Tensor:
    counts = np.concatenate([np.diff(pointer.numpy()) for pointer in pointers])
    return torch.from_numpy(np.concatenate([[0], counts.cumsum()]).astype(np.int64))


def _values(sets: Sequence[GraphSet]) -> tuple[tuple[int, ...], ...]:
    # Parts of one set, as they mostly are, share the very same tuple.
    distinct = {id(graphs.label_values): graphs.label_values for graphs in sets}.values()
    columns = zip(*distinct, strict=True)
    return tuple(tuple(sorted(set().union(*values))) for values in columns)
