"""Molecules as graphs: atoms become nodes, bonds become edges, in both directions."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from lfds.data.errors import DataError
from lfds.data.graphset import GraphSet
from lfds.data.readers.arrays import Given, graphs_from_arrays

if TYPE_CHECKING:
    from rdkit.Chem import Atom, Bond, Mol

ATOM_LABELS = ("atomic number", "hybridisation")
ATOM_ATTRIBUTES = ("formal charge", "hydrogens", "radical electrons", "aromatic", "in a ring")
BOND_LABELS = ("bond type",)
BOND_ATTRIBUTES = ("conjugated", "in a ring")


def molecule_from(text: str) -> "Mol | None":
    """Return the molecule a SMILES spells, or ``None`` where it spells none."""
    try:
        from rdkit import Chem, rdBase
    except ImportError as error:
        raise DataError("reading SMILES needs rdkit: pip install 'lfds[chem]'") from error
    # rdkit would write its own report of a bad SMILES past ours.
    silence = rdBase.BlockLogs()
    molecule = Chem.MolFromSmiles(text) if text else None
    del silence
    return molecule


def graphs_of_molecules(molecules: "Sequence[Mol]", y: Given | None, name: str) -> GraphSet:
    """Make a set of molecules.

    Node labels are ``ATOM_LABELS``, node attributes ``ATOM_ATTRIBUTES``; edge labels are
    ``BOND_LABELS``, edge attributes ``BOND_ATTRIBUTES``.
    """
    first = np.cumsum([0, *(molecule.GetNumAtoms() for molecule in molecules)])
    atoms = [atom for molecule in molecules for atom in molecule.GetAtoms()]
    bonds = [
        (bond, int(offset))
        for molecule, offset in zip(molecules, first[:-1], strict=True)
        for bond in molecule.GetBonds()
    ]
    one = [offset + bond.GetBeginAtomIdx() for bond, offset in bonds]
    two = [offset + bond.GetEndAtomIdx() for bond, offset in bonds]
    bond_labels = _table([_bond_labels(bond) for bond, _ in bonds], len(BOND_LABELS))
    bond_attributes = _table([_bond_attributes(bond) for bond, _ in bonds], len(BOND_ATTRIBUTES))
    return graphs_from_arrays(
        np.diff(first),
        np.array([one + two, two + one]),
        y,
        attributes=_table([_atom_attributes(atom) for atom in atoms], len(ATOM_ATTRIBUTES)),
        labels=_table([_atom_labels(atom) for atom in atoms], len(ATOM_LABELS)),
        edge_attributes=np.concatenate([bond_attributes, bond_attributes]),
        edge_labels=np.concatenate([bond_labels, bond_labels]),
        name=name,
    )


def _table(rows: list[list[int]], columns: int) -> NDArray[np.int64]:
    # Everything known of atoms and bonds is counted; salts and single atoms have no bonds at all.
    return np.array(rows, dtype=np.int64).reshape(-1, columns)


def _atom_labels(atom: "Atom") -> list[int]:
    return [atom.GetAtomicNum(), int(atom.GetHybridization())]


def _atom_attributes(atom: "Atom") -> list[int]:
    return [
        atom.GetFormalCharge(),
        atom.GetTotalNumHs(),
        atom.GetNumRadicalElectrons(),
        atom.GetIsAromatic(),
        atom.IsInRing(),
    ]


def _bond_labels(bond: "Bond") -> list[int]:
    return [int(bond.GetBondType())]


def _bond_attributes(bond: "Bond") -> list[int]:
    return [bond.GetIsConjugated(), bond.IsInRing()]
