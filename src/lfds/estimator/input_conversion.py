"""From the graphs that users pass to a GraphSet with the features that a model was fitted on."""

import sys
import warnings
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from lfds.data.concat import concat
from lfds.data.encodings.encoder import Encoder, LabelColumns
from lfds.data.errors import DataError, quoted
from lfds.data.graphset import GraphSet
from lfds.data.readers.adjacency import graphs_from_adjacency, is_pair
from lfds.data.readers.arrays import graphs_from_arrays
from lfds.data.readers.atom_features import (
    MoleculeOptions,
    feature_words,
    graphs_of_molecules,
)
from lfds.data.readers.networkx import category_names, graphs_from_networkx
from lfds.data.readers.rdkit_molecules import invalid_reason, molecule_from

Graphs = GraphSet | Iterable[Any]
_LABELS_SHOWN = 5
_DEFAULT_MOLECULES = MoleculeOptions()


class UnseenLabelsWarning(UserWarning):
    """Some nodes have labels that no training graph had; their label columns are zero."""


class UnseenEdgeLabelsWarning(UnseenLabelsWarning):
    """The same of edges."""


_LABELS_OF = {
    "nodes": ("labels", UnseenLabelsWarning),
    "edges": ("edge_labels", UnseenEdgeLabelsWarning),
}


def as_graphs(
    given: Graphs,
    *,
    node_attributes: Sequence[str] = (),
    node_label: str | None = None,
    edge_attributes: Sequence[str] = (),
    edge_label: str | None = None,
    targets: bool = True,
    molecules: MoleculeOptions = _DEFAULT_MOLECULES,
) -> GraphSet:
    """Return graphs of any supported form as one GraphSet.

    Args:
        given: A :class:`GraphSet`, or a list of GraphSets, of PyG's ``Data``, of NetworkX graphs,
            of SMILES, of arrays ``[n, d]``, which are sets of n points without edges, or of pairs
            of features and adjacency; see :mod:`lfds.data.readers.adjacency`.
        node_attributes: Names of numeric node data of NetworkX graphs.
        node_label: Name of categorical node data of NetworkX graphs.
        edge_attributes: Names of numeric edge data of NetworkX graphs.
        edge_label: Name of categorical edge data of NetworkX graphs.
        targets: Whether to read the targets that the graphs carry.
        molecules: How SMILES are read.
    """
    if isinstance(given, GraphSet):
        return _from_sets([given])
    items = _as_list(given)
    if not items:
        raise DataError("needs at least one graph, and the list is empty", source="graphs")
    if isinstance(items[0], GraphSet):
        return _from_sets(items)
    if _is_pyg(items[0]):
        from lfds.data.readers.pyg import graphs_from_pyg  # PyG takes two seconds to import

        return graphs_from_pyg(items, targets=targets)
    if isinstance(items[0], str):
        return _from_smiles(items, molecules)
    if _is_networkx(items[0]):
        # Given targets keep the reader from looking for any.
        y = None if targets else np.zeros(len(items), dtype=np.int64)
        return graphs_from_networkx(
            items,
            y,
            attributes=list(node_attributes),
            label=node_label,
            edge_attributes=list(edge_attributes),
            edge_label=edge_label,
        )
    if is_pair(items[0]):
        return graphs_from_adjacency(items)
    return _from_points(items)


def check_features(
    graphs: GraphSet,
    encoder: Encoder,
    *,
    stacklevel: int,
    known: AbstractSet[type[Warning]] = frozenset(),
) -> set[type[Warning]]:
    """Raise unless nodes and edges have what a model was fitted on; warn of unseen labels.

    Return the warnings that were given.

    Args:
        graphs: What the model is applied to.
        encoder: The encoder of the model.
        stacklevel: Of the warning, counted from the caller.
        known: Warnings that were given before: a model that is applied a thousand times warns once.
    """
    used = encoder.settings
    means, _ = encoder.attribute_scales
    for name, wanted, found in (
        ("attributes", len(means), graphs.width("attributes") * used.attributes),
        ("labels", len(encoder.label_values), graphs.width("labels") * used.labels),
    ):
        _check_columns("node", name, wanted, found)
    labels = LabelColumns(values=encoder.label_values, hashed=encoder.hashed_labels)
    given = _warn_of_unseen("nodes", graphs, labels, stacklevel + 1, known)
    edges = encoder.edge_columns
    if edges is None or graphs.num_edges == 0:
        return given
    for name, wanted in (
        ("attributes", len(edges.attributes.means)),
        ("labels", len(edges.labels.values)),
    ):
        _check_columns("edge", name, wanted, graphs.width(f"edge_{name}"))
    return given | _warn_of_unseen("edges", graphs, edges.labels, stacklevel + 1, known)


def _check_columns(owner: str, name: str, wanted: int, found: int) -> None:
    if wanted != found:
        raise DataError(
            f"the model was fitted on {wanted} for each {owner}, these graphs have {found}; "
            f"pass graphs with the same {owner} data",
            source=f"{owner} {name}",
        )


def _warn_of_unseen(
    owners: str,
    graphs: GraphSet,
    columns: LabelColumns,
    stacklevel: int,
    known: AbstractSet[type[Warning]],
) -> set[type[Warning]]:
    """Warn of labels of nodes or edges that training had not."""
    table, category = _LABELS_OF[owners]
    if category in known:
        return set()
    # Of hashed columns, new values have a place, too.
    seen = {k: values for k, values in enumerate(columns.values) if k not in columns.hashed}
    count, found = _unseen(graphs, table, seen) if seen else (0, {})
    if not count:
        return set()
    words = feature_words(graphs, owners)
    names = category_names(graphs)
    parts = []
    for column, values in found.items():
        title, meaning = words[column] if column < len(words) else (f"column {column}", {})
        first = [meaning.get(v, names.get(v, str(v))) for v in values[:_LABELS_SHOWN]]
        more = ", ..." if len(values) > _LABELS_SHOWN else ""
        parts.append(f"{title}: {', '.join(first)}{more}")
    warnings.warn(
        f"{_counted(count, owners)} a label that was never seen in training "
        f"({'; '.join(parts)}), which counts as no label",
        category,
        stacklevel=stacklevel + 1,
    )
    return {category}


def _counted(count: int, owners: str) -> str:
    """Return a number of nodes or edges, and the verb that follows it.

    >>> _counted(1, "nodes"), _counted(2, "edges")
    ('1 node has', '2 edges have')
    """
    return f"1 {owners.removesuffix('s')} has" if count == 1 else f"{count} {owners} have"


def _unseen(
    graphs: GraphSet, table: str, seen: Mapping[int, Sequence[int]]
) -> tuple[int, dict[int, list[int]]]:
    """Return how many nodes or edges have a new label, and the sorted new values by column.

    Args:
        graphs: What the model is applied to.
        table: Name of the labels.
        seen: The values that training had, by column.
    """
    count, values = 0, {column: set[int]() for column in seen}
    for piece in graphs.pieces():
        labels: Tensor = getattr(piece, table)
        new = torch.zeros(len(labels), dtype=torch.bool)
        for column, known in seen.items():
            here = ~torch.isin(labels[:, column], torch.tensor(known, dtype=labels.dtype))
            values[column].update(labels[here, column].unique().tolist())
            new |= here
        count += int(new.sum())
    return count, {column: sorted(new) for column, new in values.items() if new}


def _as_list(given: Iterable[Any]) -> list[Any]:
    if isinstance(given, str | bytes) or hasattr(given, "__fspath__"):
        raise DataError(
            f"needs graphs, not the path {quoted(given)}; read it with lfds.data.read_any",
            source="graphs",
        )
    if _is_pyg(given) or _is_networkx(given):
        raise DataError("needs a list of graphs; put a single one in [ ]", source="graphs")
    try:
        return list(given)
    except TypeError:
        raise DataError(
            f"needs a GraphSet or a list of graphs, not {type(given).__name__}", source="graphs"
        ) from None


def _is_pyg(item: object) -> bool:
    data = sys.modules.get("torch_geometric.data")  # where it is not imported there is no Data
    return data is not None and isinstance(item, data.Data)


def _is_networkx(item: object) -> bool:
    return hasattr(item, "nodes") and hasattr(item, "edges") and hasattr(item, "is_directed")


def _from_sets(sets: Sequence[Any]) -> GraphSet:
    for position, item in enumerate(sets):
        if not isinstance(item, GraphSet):
            raise DataError(
                f"needs a GraphSet, not {type(item).__name__}", source=f"set {position}"
            )
    graphs: GraphSet = sets[0] if len(sets) == 1 else concat([one.in_memory() for one in sets])
    if len(graphs) == 0:
        raise DataError("needs at least one graph, and the set is empty", source="graphs")
    # Features made by the user replace attributes and labels.
    return graphs.features_as_attributes()


def _from_smiles(items: Sequence[Any], options: MoleculeOptions) -> GraphSet:
    molecules = []
    for position, item in enumerate(items):
        text = item if isinstance(item, str) else ""
        molecule = molecule_from(text, options.fragments)
        if molecule is None:
            reason = invalid_reason(text) if isinstance(item, str) else "it is no text"
            raise DataError(
                f"invalid SMILES {quoted(item)}: {reason}; correct it or leave it out",
                source=f"graph {position}",
            )
        molecules.append(molecule)
    graphs = graphs_of_molecules(molecules, None, "molecules", options.atom_features)
    return replace(graphs, provenance={**graphs.provenance, **options.model_dump()})


def _from_points(items: Sequence[Any]) -> GraphSet:
    rows = [_points(item, position) for position, item in enumerate(items)]
    for position, points in enumerate(rows):
        if points.shape[1] != rows[0].shape[1]:
            raise DataError(
                f"needs {rows[0].shape[1]} columns as set 0 has, not {points.shape[1]}",
                source=f"set {position}",
            )
    sizes = [len(points) for points in rows]
    points = np.concatenate(rows)
    # Points in two or three dimensions are drawn where they are.
    coordinates = points if points.shape[1] in (2, 3) else None
    no_edges = torch.zeros(2, 0).long()
    return graphs_from_arrays(sizes, no_edges, attributes=points, coordinates=coordinates)


def _points(item: Any, position: int) -> NDArray[Any]:
    try:
        points = np.asarray(item.detach().cpu() if isinstance(item, Tensor) else item)
    except (ValueError, TypeError):
        points = np.empty(0, dtype=object)
    if points.ndim != 2 or points.dtype.kind not in "iubf":
        raise DataError(
            "needs a PyG or NetworkX graph, a SMILES, an array [n, d] of numbers, or a pair (X, "
            f"adjacency), not {type(item).__name__} of shape {list(points.shape)}",
            source=f"graph {position}",
        )
    return points
