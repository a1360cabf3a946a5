"""Datasets of the TU collection: text files over all graphs, checked line by line."""

from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Literal, TypeAlias, get_args

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from lfds.data.edges import Ints, InvalidEdgeError, check_edges, rows_from_edge_index
from lfds.data.errors import DataError, check_choice, check_seed, quoted
from lfds.data.graphset import GraphSet
from lfds.data.node_order import node_permutation
from lfds.data.readers.arrays import Floats, label_values, targets_from
from lfds.data.readers.tables import float_table, int_table
from lfds.data.readers.tu_files import RawFiles, read_names, read_raw

SelfLoops: TypeAlias = Literal["keep", "remove"]
Target: TypeAlias = Literal["labels", "attributes"]


def read_tu(
    path: str | PathLike[str],
    *,
    seed: int | None = 0,
    self_loops: SelfLoops = "keep",
    target: Target | None = None,
) -> GraphSet:
    """Read a dataset in the format of the TU collection.

    Repeated edges are counted and dropped (the first is kept, with its label); self loops are
    counted and kept by default. Graphs may have no nodes. Labels keep their original values.

    Args:
        path: A folder with ``NAME_A.txt`` and so on, or a .zip or .tar(.gz) of it.
        seed: Seed of the random order of the nodes of each graph, since in some datasets the
            order in the files reveals the class; ``None`` keeps the order of the files.
        self_loops: Whether edges from a node to itself are kept.
        target: Which targets to use if a dataset has both ``graph_labels`` and
            ``graph_attributes``; ``None`` prefers the labels.
    """
    check_choice(self_loops, get_args(SelfLoops), "self_loops")
    if target is not None:
        check_choice(target, get_args(Target), "target")
    seed = None if seed is None else check_seed(seed)
    raw = read_raw(Path(path))
    y, classes = _read_targets(raw, target)
    ptr = _read_pointers(raw, len(y))
    num_nodes = int(ptr[-1])
    labels = _read_ints(raw, "node_labels", num_nodes)
    attributes = _read_floats(raw, "node_attributes", num_nodes)
    edges = _read_edges(raw, ptr)
    loops = edges.index[0] == edges.index[1]
    if self_loops == "remove":
        edges = edges.only(~loops)
    values = _label_values(raw, labels)
    index = edges.index
    if seed is not None:
        old_of_new, new_of_old = node_permutation(ptr, seed, raw.name)
        labels, attributes, index = labels[old_of_new], attributes[old_of_new], new_of_old[index]
    keep = edges.labels.shape[1] + edges.attributes.shape[1] > 0
    rows = rows_from_edge_index(ptr, index, keep_positions=keep)
    return GraphSet(
        name=raw.name,
        ptr=torch.from_numpy(ptr),
        x=torch.zeros(num_nodes, 0),
        attributes=torch.from_numpy(attributes),
        labels=torch.from_numpy(labels),
        label_values=values,
        edge_ptr=torch.from_numpy(rows.ptr),
        edge_dst=torch.from_numpy(rows.senders),
        edge_attributes=torch.from_numpy(rows.take(edges.attributes)),
        edge_labels=torch.from_numpy(rows.take(edges.labels)),
        y=y,
        classes=classes,
        provenance={
            "format": "TU",
            "sha256": raw.fingerprint(),
            "node_order_seed": "file order" if seed is None else seed,
            "duplicate_edges_removed": rows.duplicates,
            f"self_loops_{'kept' if self_loops == 'keep' else 'removed'}": int(loops.sum()),
        },
    )


@dataclass(frozen=True)
class _Edges:
    index: Ints
    labels: Ints
    attributes: Floats

    def only(self, mask: NDArray[np.bool_]) -> "_Edges":
        return _Edges(self.index[:, mask], self.labels[mask], self.attributes[mask])


def _read_targets(raw: RawFiles, target: Target | None) -> tuple[Tensor, tuple[str | int, ...]]:
    if target is None:
        target = "attributes" if "graph_labels" not in raw.content else "labels"
        if target == "attributes" and "graph_attributes" not in raw.content:
            raise DataError(
                f"has no targets; it needs {raw.name}_graph_labels.txt or "
                f"{raw.name}_graph_attributes.txt",
                source=raw.home,
            )
    text, place = raw.required(f"graph_{target}")
    values: Ints | NDArray[np.float64]
    if target == "labels":
        values = int_table(text, columns=1, source=place)[:, 0]
    else:
        values = float_table(text, columns=None, source=place)
    if len(values) == 0:
        raise DataError("is empty; it needs one line for each graph", source=place)
    names = read_names(raw) if target == "labels" else None
    if names is None:
        return targets_from(values, len(values))
    outside = (values < 0) | (values >= len(names.classes))
    if outside.any():
        line = int(outside.argmax()) + 1
        raise DataError(
            f"names class {values[line - 1]}, but {raw.name}_names.json lists 0 to "
            f"{len(names.classes) - 1}",
            source=place,
            line=line,
        )
    return torch.from_numpy(values), names.classes


def _read_pointers(raw: RawFiles, num_graphs: int) -> Ints:
    text, place = raw.required("graph_indicator")
    graph = int_table(text, columns=1, source=place)[:, 0]
    decreasing = np.flatnonzero(np.diff(graph) < 0)
    if len(decreasing):
        line = int(decreasing[0]) + 2
        raise DataError(
            f"goes back from graph {graph[line - 2]} to graph {graph[line - 1]}; "
            f"nodes must be sorted by graph",
            source=place,
            line=line,
        )
    outside = (graph < 1) | (graph > num_graphs)
    if outside.any():
        line = int(outside.argmax()) + 1
        raise DataError(
            f"names graph {graph[line - 1]}, but there are targets for graphs 1 to {num_graphs}",
            source=place,
            line=line,
        )
    return np.concatenate([[0], np.bincount(graph - 1, minlength=num_graphs).cumsum()])


def _label_values(raw: RawFiles, labels: Ints) -> tuple[tuple[int, ...], ...]:
    """Return the values of each column of node labels; all that ``NAME_names.json`` lists."""
    found, names = label_values(labels), read_names(raw)
    if names is None:
        return found
    place = raw.place["names"]
    if len(names.label_values) != len(found):
        raise DataError(
            f"needs values for {len(found)} column(s) of node labels, "
            f"not {len(names.label_values)}",
            source=place,
        )
    for column, (listed, seen) in enumerate(zip(names.label_values, found, strict=True)):
        unlisted = sorted(set(seen) - set(listed))
        if unlisted:
            raise DataError(
                f"column {column} of the node labels holds {quoted(unlisted[0])}, not listed here",
                source=place,
            )
    return names.label_values


def _read_edges(raw: RawFiles, ptr: Ints) -> _Edges:
    text, place = raw.required("A")
    index = int_table(text, columns=2, source=place).T - 1
    try:
        check_edges(ptr, index, first=1)
    except InvalidEdgeError as error:
        raise DataError(error.problem, source=place, line=error.edge + 1) from None
    count = index.shape[1]
    return _Edges(
        index, _read_ints(raw, "edge_labels", count), _read_floats(raw, "edge_attributes", count)
    )


def _read_ints(raw: RawFiles, part: str, length: int) -> Ints:
    if part not in raw.content:
        return np.zeros((length, 0), dtype=np.int64)
    table = int_table(raw.content[part], columns=None, source=raw.place[part])
    _check_length(raw, part, len(table), length)
    return table


def _read_floats(raw: RawFiles, part: str, length: int) -> Floats:
    if part not in raw.content:
        return np.zeros((length, 0), dtype=np.float32)
    table = float_table(raw.content[part], columns=None, source=raw.place[part])
    _check_length(raw, part, len(table), length)
    return table.astype(np.float32)


def _check_length(raw: RawFiles, part: str, length: int, needed: int) -> None:
    if length != needed:
        counter = "graph_indicator" if part.startswith("node") else "A"
        raise DataError(
            f"has {length} lines where {needed} are needed, one for each line of "
            f"{raw.name}_{counter}.txt; one of the two is truncated",
            source=raw.place[part],
            line=min(length, needed) + 1,
        )
