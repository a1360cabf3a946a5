"""Graphs from and to PyG ``Data`` objects."""

from collections.abc import Iterable, Sequence

import torch
from torch import Tensor
from torch_geometric.data import Data

from lfds.data.errors import DataError, quoted
from lfds.data.graphset import GraphSet
from lfds.data.readers.arrays import graphs_from_arrays

_WHOLE = (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8)


def graphs_from_pyg(
    graphs: Iterable[Data], *, name: str = "graphs", targets: bool = True
) -> GraphSet:
    """Return a set of PyG graphs.

    ``x`` becomes attributes and features, ``edge_attr`` edge attributes, ``pos`` coordinates for
    drawing, ``y`` one target per graph, or several as ``[1, targets]``, NaN where one is missing;
    ``labels`` and ``edge_labels`` are read as written by :func:`graphs_to_pyg`. Repeated edges are
    dropped and counted.

    Args:
        graphs: A list of ``Data``, or a PyG dataset.
        name: Name of the set.
        targets: Whether ``y`` is read.
    """
    items = list(graphs)
    if not items:
        raise DataError("needs at least one graph", source="graphs")
    sizes = [_num_nodes(item, position) for position, item in enumerate(items)]
    first, edges = 0, []
    for position, (item, size) in enumerate(zip(items, sizes, strict=True)):
        edges.append(_edge_index(item, size, position) + first)
        first += size
    links = [one.shape[1] for one in edges]
    return graphs_from_arrays(
        sizes,
        torch.cat(edges, dim=1),
        _stacked(items, "y") if targets else None,
        attributes=_table(items, "x", sizes, "node"),
        labels=_table(items, "labels", sizes, "node"),
        edge_attributes=_table(items, "edge_attr", links, "edge"),
        edge_labels=_table(items, "edge_labels", links, "edge"),
        coordinates=_table(items, "pos", sizes, "node"),
        name=name,
    )


def graphs_to_pyg(graphs: GraphSet) -> list[Data]:
    """Return the graphs as PyG ``Data``.

    Without features the attributes become ``x``, and those of edges ``edge_attr``. Targets are
    indices of classes; if some of several are missing, floats with NaN there. Tensors that a set
    does not have are left out.
    """
    features = graphs.x if graphs.x.shape[1] else graphs.attributes
    edge_features = graphs.edge_x if graphs.edge_x.shape[1] else graphs.edge_attributes
    sizes = graphs.sizes.tolist()
    edges = graphs.edge_ptr[graphs.ptr].diff()
    edge_index = graphs.edge_index - graphs.ptr[:-1].repeat_interleave(edges)
    edge_counts = edges.tolist()
    columns: dict[str, Sequence[Tensor]] = {
        "edge_index": torch.split(edge_index, edge_counts, dim=1),
    }
    if graphs.has_targets:
        known = graphs.known_targets.reshape(graphs.y.shape)
        lacking = bool(graphs.classes) and not bool(known.all())
        y = graphs.y.float().where(known, torch.nan) if lacking else graphs.y
        columns["y"] = torch.split(y, 1)
    for name, table, counts in (
        ("x", features, sizes),
        ("labels", graphs.labels, sizes),
        ("pos", graphs.coordinates, sizes),
        ("edge_attr", edge_features, edge_counts),
        ("edge_labels", graphs.edge_labels, edge_counts),
    ):
        if table.shape[1]:
            columns[name] = torch.split(table, counts)
    return [
        Data(num_nodes=size, **{name: parts[position] for name, parts in columns.items()})
        for position, size in enumerate(sizes)
    ]


def _num_nodes(item: Data, position: int) -> int:
    if not isinstance(item, Data):
        raise DataError(
            f"needs torch_geometric.data.Data, not {type(item).__name__}",
            source=f"graph {position}",
        )
    if item.num_nodes is None:
        raise DataError(
            "has an unknown number of nodes; set x or num_nodes", source=f"graph {position}"
        )
    return int(item.num_nodes)


def _edge_index(item: Data, size: int, position: int) -> Tensor:
    given = item.edge_index
    if given is None:
        return torch.zeros(2, 0, dtype=torch.int64)
    edges = _tensor(given, "edge_index", position)
    if edges.ndim != 2 or len(edges) != 2:
        raise DataError(
            f"edge_index needs shape [2, edges], not {list(edges.shape)}",
            source=f"graph {position}",
        )
    if edges.numel() and edges.dtype not in _WHOLE:
        raise DataError(
            f"edge_index needs whole numbers, not {edges.dtype}", source=f"graph {position}"
        )
    if edges.numel() and not 0 <= int(edges.min()) <= int(edges.max()) < size:
        wrong = int(edges.min()) if int(edges.min()) < 0 else int(edges.max())
        raise DataError(
            f"edge_index names node {wrong}, but the nodes are 0 to {size - 1}",
            source=f"graph {position}",
        )
    return edges.long()


def _table(items: Sequence[Data], key: str, counts: Sequence[int], owner: str) -> Tensor | None:
    """Return ``key`` of all graphs: finite numbers, a row for each node or edge.

    Args:
        items: The graphs.
        key: Name of the tensor.
        counts: Number of nodes or edges of each graph.
        owner: What a row is for, ``"node"`` or ``"edge"``.
    """
    table = _stacked(items, key, counts, owner)
    if table is None or not table.is_floating_point():
        return table
    # The GraphSet has single precision, in which large numbers are infinite.
    wrong = ~table.float().isfinite()
    if bool(wrong.any()):
        wrong = wrong if wrong.ndim == 1 else wrong.flatten(start_dim=1).any(dim=1)
        place = int(wrong.int().argmax())
        position = int(torch.searchsorted(torch.tensor(counts).cumsum(0), place, right=True))
        raise DataError(
            f"row {place - sum(counts[:position])} of {key} holds "
            f"{quoted(table[place].tolist())}, but needs finite numbers below 3.4e38; impute or "
            "scale the column",
            source=f"graph {position}",
        )
    return table


def _stacked(
    items: Sequence[Data], key: str, counts: Sequence[int] | None = None, owner: str = ""
) -> Tensor | None:
    """Return ``key`` of all graphs as one tensor, or ``None`` if no graph has it."""
    parts = [item.get(key) for item in items]
    if all(part is None for part in parts):
        return None
    rows: list[Tensor] = []
    for position, part in enumerate(parts):
        if part is None:
            raise DataError(f"lacks {key}, which other graphs have", source=f"graph {position}")
        rows.append(_as_rows(_tensor(part, key, position), key))
        if key == "y" and len(rows[-1]) != 1:
            raise DataError(
                f"y needs one target for the graph, not shape {list(rows[-1].shape)}; "
                f"node-level targets are not supported",
                source=f"graph {position}",
            )
        if counts is not None and len(rows[-1]) != counts[position]:
            raise DataError(
                f"{key} needs one row for each of {counts[position]} {owner}s, not shape "
                f"{list(rows[-1].shape)}",
                source=f"graph {position}",
            )
        if rows[-1].shape[1:] != rows[0].shape[1:]:
            raise DataError(
                f"{key} needs shape [n, {', '.join(map(str, rows[0].shape[1:]))}] as in graph 0, "
                f"not {list(rows[-1].shape)}",
                source=f"graph {position}",
            )
    try:
        return torch.cat(rows)
    except RuntimeError as error:  # for example, uint64 beside int64
        types = ", ".join(sorted({str(part.dtype) for part in rows}))
        raise DataError(
            f"needs one type of numbers, not {types}; convert them", source=key
        ) from error


def _tensor(part: object, key: str, position: int) -> Tensor:
    try:
        tensor = torch.as_tensor(part).detach().cpu()
    except (TypeError, ValueError, RuntimeError) as error:
        raise DataError(
            f"{key} needs a tensor or numbers, not {quoted(part)}", source=f"graph {position}"
        ) from error
    if tensor.layout != torch.strided or tensor.is_quantized:
        raise DataError(
            f"{key} needs a dense tensor, not {tensor.layout} of {tensor.dtype}; convert it",
            source=f"graph {position}",
        )
    # torch does not join floats of 8 bits with others.
    return tensor.float() if tensor.is_floating_point() and tensor.itemsize == 1 else tensor


def _as_rows(part: Tensor, key: str) -> Tensor:
    if part.ndim == 0:
        return part[None]
    # PyG stores one target as [1], several as [1, targets]; a node column may be flat.
    return part[:, None] if part.ndim == 1 and key != "y" else part
