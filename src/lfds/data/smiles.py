"""Molecules from a CSV file with SMILES: atoms become nodes, bonds become edges."""

import csv
from collections.abc import Iterator, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from lfds.data.arrays import Given, graphs_from_arrays, not_yet_encoded
from lfds.data.errors import DataError, quoted
from lfds.data.graphset import GraphSet
from lfds.data.node_order import with_shuffled_nodes

if TYPE_CHECKING:
    from rdkit.Chem import Atom, Bond, Mol

Bad: TypeAlias = Literal["stop", "skip"]

ATOM_LABELS = ("atomic number", "hybridisation")
ATOM_ATTRIBUTES = ("formal charge", "hydrogens", "radical electrons", "aromatic", "in a ring")
BOND_LABELS = ("bond type",)
BOND_ATTRIBUTES = ("conjugated", "in a ring")


def read_smiles(
    path: str | PathLike[str],
    *,
    smiles: str = "smiles",
    target: str | None = None,
    bad: Bad = "stop",
    seed: int | None = 0,
) -> GraphSet:
    """Read molecules from a CSV file with a header.

    Node labels are ``ATOM_LABELS``, node attributes ``ATOM_ATTRIBUTES``; edge labels are
    ``BOND_LABELS``, edge attributes ``BOND_ATTRIBUTES``. Targets that are all whole numbers, or
    that are not all numbers, are classes; other numbers are regressed.

    Args:
        path: The file.
        smiles: Header of the column with SMILES, in any case.
        target: Header of the column to predict; ``None`` takes the only other column, and no
            target at all where there is no other.
        bad: Whether a SMILES that cannot be read stops everything, or is skipped and counted.
        seed: Root of the random order of the atoms of each molecule; ``None`` leaves them.
    """
    file = Path(path)
    molecules: list[Mol] = []
    targets: list[str] = []
    skipped = 0
    for line, text, value in _rows(file, smiles, target):
        molecule = _molecule(text)
        if molecule is not None:
            molecules.append(molecule)
            targets.append(value)
        elif bad == "skip":
            skipped += 1
        else:
            raise DataError(
                f"{quoted(text)} is no valid SMILES; mend it, or skip such lines",
                source=file,
                line=line,
            )
    if not molecules:
        raise DataError("holds no molecule", source=file)
    has_target = any(value != "" for value in targets)
    graphs = _graphs(molecules, _targets(targets) if has_target else None, file.stem)
    graphs = replace(
        not_yet_encoded(graphs), provenance={**graphs.provenance, "bad_smiles_skipped": skipped}
    )
    return graphs if seed is None else with_shuffled_nodes(graphs, seed)


def _rows(file: Path, smiles: str, target: str | None) -> Iterator[tuple[int, str, str]]:
    """Yield line, SMILES and target of each row of the file."""
    try:
        with file.open(encoding="utf-8-sig", newline="") as content:
            reader = csv.reader(content, strict=True)
            header = next(reader, [])
            column, wanted = _columns(header, smiles, target, file)
            for row in reader:
                if not row:
                    continue
                if len(row) != len(header):
                    raise DataError(
                        f"has {len(row)} cells under a header of {len(header)}",
                        source=file,
                        line=reader.line_num,
                    )
                value = "" if wanted is None else row[wanted].strip()
                if wanted is not None and not value:
                    raise DataError(
                        f"lacks a value for {quoted(header[wanted])}",
                        source=file,
                        line=reader.line_num,
                    )
                yield reader.line_num, row[column].strip(), value
    except OSError as error:
        raise DataError(f"cannot be read ({error.strerror})", source=file) from error
    except (csv.Error, UnicodeDecodeError) as error:
        raise DataError(f"cannot be read as CSV in UTF-8 ({error})", source=file) from error


def _columns(
    header: Sequence[str], smiles: str, target: str | None, file: Path
) -> tuple[int, int | None]:
    names = [name.strip().lower() for name in header]
    if smiles.lower() not in names:
        raise DataError(
            f"needs a column {quoted(smiles)} in its header, which has {quoted(', '.join(header))}",
            source=file,
            line=1,
        )
    column = names.index(smiles.lower())
    if target is not None:
        if target.lower() not in names:
            raise DataError(f"has no column {quoted(target)}", source=file, line=1)
        return column, names.index(target.lower())
    others = [place for place in range(len(names)) if place != column]
    if len(others) > 1:
        raise DataError(
            f"has several columns to predict: {quoted(', '.join(header[o] for o in others))}; "
            f"name one as target",
            source=file,
            line=1,
        )
    return column, others[0] if others else None


def _molecule(text: str) -> "Mol | None":
    try:
        from rdkit import Chem, rdBase
    except ImportError as error:
        raise DataError("reading SMILES needs rdkit: pip install 'lfds[chem]'") from error
    # rdkit would write its own report of a bad SMILES past ours.
    silence = rdBase.BlockLogs()
    molecule = Chem.MolFromSmiles(text) if text else None
    del silence
    return molecule


def _targets(values: Sequence[str]) -> Given:
    for kind in (np.int64, np.float64):
        try:
            numbers = np.array([kind(value) for value in values])
        except (ValueError, OverflowError):
            continue
        return numbers
    return np.array(values)


def _graphs(molecules: "Sequence[Mol]", y: Given | None, name: str) -> GraphSet:
    first = np.cumsum([0, *(molecule.GetNumAtoms() for molecule in molecules)])
    atoms = [atom for molecule in molecules for atom in molecule.GetAtoms()]
    bonds = [
        (bond, int(offset))
        for molecule, offset in zip(molecules, first[:-1], strict=True)
        for bond in molecule.GetBonds()
    ]
    one = [offset + bond.GetBeginAtomIdx() for bond, offset in bonds]
    two = [offset + bond.GetEndAtomIdx() for bond, offset in bonds]
    bond_labels = np.array([_bond_labels(bond) for bond, _ in bonds]).reshape(-1, len(BOND_LABELS))
    known = np.array([_bond_attributes(b) for b, _ in bonds]).reshape(-1, len(BOND_ATTRIBUTES))
    return graphs_from_arrays(
        np.diff(first),
        np.array([one + two, two + one]),
        y,
        attributes=np.array([_atom_attributes(a) for a in atoms]).reshape(-1, len(ATOM_ATTRIBUTES)),
        labels=np.array([_atom_labels(a) for a in atoms]).reshape(-1, len(ATOM_LABELS)),
        edge_attributes=np.concatenate([known, known]),
        edge_labels=np.concatenate([bond_labels, bond_labels]),
        name=name,
    )


def _atom_labels(atom: "Atom") -> list[int]:
    return [atom.GetAtomicNum(), int(atom.GetHybridization())]


def _atom_attributes(atom: "Atom") -> list[float]:
    return [
        atom.GetFormalCharge(),
        atom.GetTotalNumHs(),
        atom.GetNumRadicalElectrons(),
        atom.GetIsAromatic(),
        atom.IsInRing(),
    ]


def _bond_labels(bond: "Bond") -> list[int]:
    return [int(bond.GetBondType())]


def _bond_attributes(bond: "Bond") -> list[float]:
    return [bond.GetIsConjugated(), bond.IsInRing()]
