"""The structure of a whole set of graphs as node features."""

import os
from collections.abc import Sequence
from itertools import pairwise

import torch
from scipy.sparse import csr_array
from torch import Tensor

from lfds.data.encodings.adjacency import adjacency
from lfds.data.encodings.base import StructuralEncoding
from lfds.data.encodings.compute import encode_graphs
from lfds.data.graphset import GraphSet


def adjacencies(graphs: GraphSet) -> list[csr_array]:
    """Return the undirected simple adjacency of each graph."""
    edge_ptr, edge_dst = graphs.edge_ptr.numpy(), graphs.edge_dst.numpy()
    found = []
    for low, high in pairwise(graphs.ptr.tolist()):
        rows = edge_ptr[low : high + 1]
        found.append(adjacency(rows - rows[0], edge_dst[rows[0] : rows[-1]]))
    return found


def structural_features(
    graphs: GraphSet,
    encodings: Sequence[StructuralEncoding],
    *,
    workers: int = 1,
    cache: str | os.PathLike[str] | None = None,
    progress: bool = False,
) -> Tensor:
    """Return ``[nodes, features]``, the encodings side by side.

    Nothing is learned from the set: the rows of a graph do not depend on the other graphs.

    Args:
        graphs: The set.
        encodings: What to compute, none or several.
        workers: Processes. With more than one, a script needs ``if __name__ == "__main__":``.
        cache: A folder to keep the encodings in; none are kept when it is left out.
        progress: Whether to show a bar on standard error.
    """
    columns = [torch.empty(graphs.num_nodes, 0)]
    parts = adjacencies(graphs) if encodings else []
    for encoding in encodings:
        rows = encode_graphs(parts, encoding, workers=workers, cache=cache, progress=progress)
        columns.append(torch.cat([torch.empty(0, encoding.width), *map(torch.from_numpy, rows)]))
    return torch.cat(columns, dim=1)
