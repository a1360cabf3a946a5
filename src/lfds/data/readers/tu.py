"""Datasets of the TU collection: text files over all graphs, read whole and checked by line."""

from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Literal, TypeAlias, get_args

import numpy as np
import torch
from numpy.typing import NDArray

from lfds.data.errors import DataError
from lfds.data.graphset import GraphSet
from lfds.data.node_order import shuffled_within_graphs
from lfds.data.options import choice, whole_seed
from lfds.data.readers.arrays import label_values
from lfds.data.readers.edges import StrayEdgeError, Whole, check_edges, edge_rows
from lfds.data.readers.number_table import float_table, int_table
from lfds.data.readers.tu_files import RawFiles, read_raw
from lfds.data.readers.tu_names import check_values, read_names
from lfds.data.readers.tu_targets import TargetKind, read_targets

SelfLoops: TypeAlias = Literal["keep", "remove"]
Amounts: TypeAlias = NDArray[np.float32]


def read_tu(
    path: str | PathLike[str],
    *,
    seed: int | None = 0,
    self_loops: SelfLoops = "keep",
    target: TargetKind | None = None,
) -> GraphSet:
    """Read a dataset in the format of the TU collection.

    Repeated edges are counted and left out (the first stays, with its label), self loops are
    counted and stay unless asked otherwise. Graphs may be without nodes. Original labels are kept.

    Args:
        path: A folder with ``NAME_A.txt`` and so on, or a .zip or .tar(.gz) of it.
        seed: Root of the random order the nodes of each graph are put in, since in some datasets
            the order in the files gives the class away; ``None`` leaves them as they are.
        self_loops: Whether an edge from a node to itself stays.
        target: What to predict where a dataset has both ``graph_labels`` and
            ``graph_attributes``; ``None`` takes the labels if there are any.
    """
    choice(self_loops, get_args(SelfLoops), "self_loops")
    if target is not None:
        choice(target, get_args(TargetKind), "target")
    seed = None if seed is None else whole_seed(seed)
    raw = read_raw(Path(path))
    y, classes = read_targets(raw, target)
    ptr = _node_pointers(raw, len(y))
    nodes = _Nodes(
        _whole_part(raw, "node_labels", int(ptr[-1])),
        _amount_part(raw, "node_attributes", int(ptr[-1])),
    )
    edges = _read_edges(raw, ptr)
    loops = edges.ends[:, 0] == edges.ends[:, 1]
    if self_loops == "remove":
        edges = edges.only(~loops)
    values = _values(raw, nodes.labels)
    if seed is not None:
        old_at, new_of = shuffled_within_graphs(ptr, seed, raw.name)
        nodes = _Nodes(nodes.labels[old_at], nodes.attributes[old_at])
        edges = _Edges(new_of[edges.ends], edges.labels, edges.attributes)
    known = edges.labels.shape[1] + edges.attributes.shape[1] > 0
    rows = edge_rows(ptr, edges.ends[:, 0], edges.ends[:, 1], keep_positions=known)
    return GraphSet(
        name=raw.name,
        ptr=torch.from_numpy(ptr),
        x=torch.zeros(int(ptr[-1]), 0),
        attributes=torch.from_numpy(nodes.attributes),
        labels=torch.from_numpy(nodes.labels),
        label_values=values,
        edge_ptr=torch.from_numpy(rows.ptr),
        edge_dst=torch.from_numpy(rows.other),
        edge_attributes=rows.of_kept(edges.attributes),
        edge_labels=rows.of_kept(edges.labels),
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
class _Nodes:
    labels: Whole
    attributes: Amounts


@dataclass(frozen=True)
class _Edges:
    ends: Whole
    labels: Whole
    attributes: Amounts

    def only(self, chosen: NDArray[np.bool_]) -> "_Edges":
        return _Edges(self.ends[chosen], self.labels[chosen], self.attributes[chosen])


def _node_pointers(raw: RawFiles, num_graphs: int) -> Whole:
    text, place = raw.required("graph_indicator")
    graph = int_table(text, columns=1, source=place)[:, 0]
    backwards = np.flatnonzero(np.diff(graph) < 0)
    if len(backwards):
        line = int(backwards[0]) + 2
        raise DataError(
            f"goes back from graph {graph[line - 2]} to graph {graph[line - 1]}; "
            f"the nodes of a graph stand together, graphs in rising order",
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


def _values(raw: RawFiles, labels: Whole) -> tuple[tuple[int, ...], ...]:
    found, names = label_values(labels), read_names(raw)
    if names is None:
        return found
    check_values(names, found, raw.place["names"])
    return names.label_values


def _read_edges(raw: RawFiles, ptr: Whole) -> _Edges:
    text, place = raw.required("A")
    ends = int_table(text, columns=2, source=place) - 1
    try:
        check_edges(ptr, ends[:, 0], ends[:, 1], counted_from=1)
    except StrayEdgeError as error:
        raise DataError(error.problem, source=place, line=error.edge + 1) from None
    return _Edges(
        ends,
        _whole_part(raw, "edge_labels", len(ends)),
        _amount_part(raw, "edge_attributes", len(ends)),
    )


def _whole_part(raw: RawFiles, part: str, length: int) -> Whole:
    if part not in raw.content:
        return np.zeros((length, 0), dtype=np.int64)
    table = int_table(raw.content[part], columns=None, source=raw.place[part])
    _check_length(raw, part, len(table), length)
    return table


def _amount_part(raw: RawFiles, part: str, length: int) -> Amounts:
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
            f"{raw.name}_{counter}.txt; one of the two is cut short",
            source=raw.place[part],
            line=min(length, needed) + 1,
        )
