"""What the nodes of graphs are called and coloured by: elements, labels, attributes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lfds.data.graphset import GraphSet
from lfds.data.readers.atom_features import RDKIT_AROMATIC, element_symbol, features_of

Integers = NDArray[np.int64]

AROMATIC = 4
"""Stands for an aromatic bond, beside the orders 1, 2 and 3."""

MOST_CATEGORIES = 12
"""Colours of a legend; further labels are called others."""

MOST_ATTRIBUTES = 8
"""Attributes of a node that are listed."""


# What labels of sets of the TU collection mean, by their documentation.
TU_NAMES: Mapping[str, Mapping[int, str]] = {
    "MUTAG": dict(enumerate(["C", "N", "O", "F", "I", "Cl", "Br"])),
    "ENZYMES": {1: "helix", 2: "sheet", 3: "turn"},
    "PROTEINS": {0: "helix", 1: "sheet", 2: "turn"},
}
TU_BONDS: Mapping[str, Mapping[int, int]] = {"MUTAG": {0: AROMATIC, 1: 1, 2: 2, 3: 3}}


@dataclass(frozen=True)
class Naming:
    """How the nodes of a set are called.

    Attributes:
        title: What the legend is of: ``element``, ``label``, or empty without labels.
        legend: Names of the categories, frequent ones first.
        names: The name of each value of the first label.
        columns: Names of all labels, then of all attributes.
        bonds: The order of a bond by the value of the first edge label; empty if unknown.
    """

    title: str
    legend: tuple[str, ...]
    names: Mapping[int, str]
    columns: tuple[str, ...]
    bonds: Mapping[int, int]

    @property
    def molecules(self) -> bool:
        """Whether graphs are molecules."""
        return self.title == "element"


def naming_of(graphs: GraphSet) -> Naming:
    """Return how the nodes of a set are called, from what is known of the set."""
    features = features_of(graphs)
    labels, attributes = graphs.width("labels"), graphs.width("attributes")
    values = graphs.labels[:, 0].numpy() if labels else np.zeros(0, dtype=np.int64)
    if features is not None and labels:
        names = {int(v): element_symbol(int(v)) for v in np.unique(values)}
        columns = (*features.atom_labels, *features.atom_attributes)
        bonds = {1: 1, 2: 2, 3: 3, RDKIT_AROMATIC: AROMATIC}
        title = "element"
    else:
        known = TU_NAMES.get(graphs.name, {})
        names = {int(v): known.get(int(v), str(v)) for v in np.unique(values)}
        bonds = dict(TU_BONDS.get(graphs.name, {}))
        title = ("element" if bonds else "label") if labels else ""
        columns = (*_numbered("label", labels), *_numbered("attribute", attributes))
    found, counts = np.unique(values, return_counts=True)
    order = [names[int(v)] for v in found[np.argsort(-counts, kind="stable")]]
    return Naming(title, tuple(dict.fromkeys(order))[:MOST_CATEGORIES], names, columns, bonds)


def categories(graphs: GraphSet, naming: Naming) -> Integers:
    """Return the category of every node, ``[nodes]``: its place in the legend, -1 for others."""
    if not naming.legend:
        return np.full(graphs.num_nodes, -1)
    place = {name: number for number, name in enumerate(naming.legend)}
    values, where = np.unique(graphs.labels[:, 0].numpy(), return_inverse=True)
    known = np.array([place.get(naming.names.get(int(v), ""), -1) for v in values])
    found: Integers = known[where.ravel()].astype(np.int64)
    return found


def symbols(graph: GraphSet, naming: Naming) -> tuple[str, ...]:
    """Return the name of every node; empty ones if nodes have no labels."""
    if not graph.width("labels"):
        return ("",) * graph.num_nodes
    return tuple(naming.names.get(int(value), str(int(value))) for value in graph.labels[:, 0])


def details(graph: GraphSet, naming: Naming) -> tuple[str, ...]:
    """Return labels and attributes of every node as text."""
    labels, attributes = graph.labels.numpy(), graph.attributes.numpy()
    wide = attributes.shape[1] > MOST_ATTRIBUTES
    attributes = attributes[:, :MOST_ATTRIBUTES]
    texts = []
    for node in range(graph.num_nodes):
        values = [
            naming.names.get(int(v), str(v)) if n == 0 else str(v)
            for n, v in enumerate(labels[node])
        ]
        values += [f"{value:.4g}" for value in attributes[node]]
        parts = [f"{name} {value}" for name, value in zip(naming.columns, values, strict=False)]
        texts.append(", ".join(parts) + (", ..." if wide else ""))
    return tuple(texts)


def bond_orders(graph: GraphSet, edges: Integers, naming: Naming) -> Integers:
    """Return the order of the bond of every edge of ``undirected_edges``; 0 if it is unknown."""
    if not naming.bonds or not graph.width("edge_labels"):
        return np.zeros(len(edges), dtype=np.int64)
    receiver = np.repeat(np.arange(graph.num_nodes), graph.degrees.numpy())
    sender = graph.edge_dst.numpy().astype(np.int64)
    first = graph.edge_labels[:, 0].tolist()
    known = {
        (min(a, b), max(a, b)): naming.bonds.get(label, 0)
        for a, b, label in zip(sender.tolist(), receiver.tolist(), first, strict=True)
    }
    return np.array([known[a, b] for a, b in edges.tolist()], dtype=np.int64)


def molecule_positions(
    names: Sequence[str], edges: Integers, orders: Integers
) -> NDArray[np.float64] | None:
    """Return where chemists draw the atoms of a molecule, ``[atoms, 2]``; None without rdkit."""
    try:
        from rdkit import Chem, rdBase
        from rdkit.Chem import rdDepictor
    except ImportError:
        return None
    kinds = {
        1: Chem.BondType.SINGLE,
        2: Chem.BondType.DOUBLE,
        3: Chem.BondType.TRIPLE,
        AROMATIC: Chem.BondType.AROMATIC,
    }
    block = rdBase.BlockLogs()
    try:
        molecule = Chem.RWMol()
        for name in names:
            molecule.AddAtom(Chem.Atom(name))
        for (first, second), order in zip(edges.tolist(), orders.tolist(), strict=True):
            molecule.AddBond(first, second, kinds.get(order, Chem.BondType.SINGLE))
        molecule.UpdatePropertyCache(strict=False)
        Chem.FastFindRings(molecule)
        rdDepictor.SetPreferCoordGen(False)
        rdDepictor.Compute2DCoords(molecule)
        rdDepictor.StraightenDepiction(molecule)
        return np.asarray(molecule.GetConformer().GetPositions())[:, :2]
    except (RuntimeError, ValueError):  # rdkit cannot draw it: the usual layout
        return None
    finally:
        del block


def _numbered(name: str, count: int) -> list[str]:
    return [name] if count == 1 else [f"{name} {number}" for number in range(count)]
