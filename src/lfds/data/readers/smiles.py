"""Molecules from a CSV file with SMILES: atoms become nodes, bonds become edges."""

import csv
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from lfds.data.edges import both_directions
from lfds.data.errors import DataError, check_choice, quoted, reading
from lfds.data.graphset import GraphSet
from lfds.data.node_order import shuffle_nodes
from lfds.data.readers.arrays import Array, graphs_from_arrays, without_features
from lfds.data.readers.tables import Cell, targets_of_column

if TYPE_CHECKING:
    from rdkit.Chem import Atom, Bond, Mol

Bad: TypeAlias = Literal["stop", "skip"]
"""What an invalid SMILES does: raise an error, or leave out its line."""

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

    Targets that are all integers, or all names, are classes; other numbers are regression targets.

    Args:
        path: The file.
        smiles: Header of the column with SMILES; upper and lower case are the same.
        target: Header of the column to predict; ``None`` takes the only other column, if any.
        bad: Whether an invalid SMILES raises an error (``"stop"``), or is skipped and counted.
        seed: Seed of the random order of the atoms of each molecule; ``None`` keeps their order.
    """
    check_choice(bad, get_args(Bad), "bad")
    file = Path(path)
    molecules: list[Mol] = []
    targets: list[Cell] = []
    skipped = 0
    for line, molecule, value in _molecules(file, smiles, target, bad):
        if molecule is None:
            skipped += 1
        else:
            molecules.append(molecule)
            targets.append((line, value))
    if not molecules:
        raise DataError("has no molecules", source=file)
    # A target column has no empty cells: they are empty only if there is no such column.
    y = targets_of_column(targets, file) if targets[0][1] else None
    graphs = without_features(graphs_of_molecules(molecules, y, file.stem))
    graphs = replace(graphs, provenance={**graphs.provenance, "bad_smiles_skipped": skipped})
    return graphs if seed is None else shuffle_nodes(graphs, seed)


def stream_smiles(
    path: str | PathLike[str], *, size: int, smiles: str = "smiles", bad: Bad = "stop"
) -> Iterator[tuple[list[int], GraphSet]]:
    """Yield molecules in chunks, without targets, each chunk with its line numbers.

    Args:
        path: A CSV file with a header; columns other than SMILES are ignored.
        size: Most molecules of a chunk.
        smiles: Header of the column with SMILES; upper and lower case are the same.
        bad: Whether an invalid SMILES raises an error (``"stop"``) or is skipped.
    """
    check_choice(bad, get_args(Bad), "bad")
    file = Path(path)
    rows = _molecules(file, smiles, None, bad, targets=False)
    valid = ((line, molecule) for line, molecule, _ in rows if molecule is not None)
    empty = True
    while chunk := list(islice(valid, size)):
        empty = False
        graphs = graphs_of_molecules([molecule for _, molecule in chunk], None, file.stem)
        yield [line for line, _ in chunk], without_features(graphs)
    if empty:
        raise DataError("has no molecules", source=file)


def molecule_from(text: str) -> "Mol | None":
    """Return the molecule of a SMILES, or ``None`` if it is invalid."""
    try:
        from rdkit import Chem, rdBase
    except ImportError as error:
        raise DataError("reading SMILES needs rdkit: pip install 'lfds[chem]'") from error
    # rdkit would print its own report of an invalid SMILES.
    block = rdBase.BlockLogs()
    molecule = Chem.MolFromSmiles(text) if text else None
    del block
    return molecule


def graphs_of_molecules(molecules: "Sequence[Mol]", y: Array | None, name: str) -> GraphSet:
    """Return a set of molecules.

    Node labels are ``ATOM_LABELS``, node attributes ``ATOM_ATTRIBUTES``; edge labels are
    ``BOND_LABELS``, edge attributes ``BOND_ATTRIBUTES``. A bond is an edge in both directions.
    """
    first = np.cumsum([0, *(molecule.GetNumAtoms() for molecule in molecules)])
    atoms = [atom for molecule in molecules for atom in molecule.GetAtoms()]
    bonds = [bond for molecule in molecules for bond in molecule.GetBonds()]
    pairs = _table([[bond.GetBeginAtomIdx(), bond.GetEndAtomIdx()] for bond in bonds], 2)
    pairs += np.repeat(first[:-1], [molecule.GetNumBonds() for molecule in molecules])[:, None]
    bond_labels = _table([_bond_labels(bond) for bond in bonds], len(BOND_LABELS))
    bond_attributes = _table([_bond_attributes(bond) for bond in bonds], len(BOND_ATTRIBUTES))
    return graphs_from_arrays(
        np.diff(first),
        both_directions(pairs),
        y,
        attributes=_table([_atom_attributes(atom) for atom in atoms], len(ATOM_ATTRIBUTES)),
        labels=_table([_atom_labels(atom) for atom in atoms], len(ATOM_LABELS)),
        edge_attributes=np.concatenate([bond_attributes, bond_attributes]),
        edge_labels=np.concatenate([bond_labels, bond_labels]),
        name=name,
    )


def _table(rows: list[list[int]], columns: int) -> NDArray[np.int64]:
    # All columns are integers or booleans; salts and single atoms have no bonds at all.
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


def _molecules(
    file: Path, smiles: str, target: str | None, bad: Bad, *, targets: bool = True
) -> "Iterator[tuple[int, Mol | None, str]]":
    """Yield line, molecule and target of each row; ``None`` for a SMILES that is skipped."""
    for line, text, value in _rows(file, smiles, target, targets):
        molecule = molecule_from(text)
        if molecule is None and bad == "stop":
            raise DataError(
                f"invalid SMILES {quoted(text)}; correct it, or skip such lines",
                source=file,
                line=line,
            )
        yield line, molecule, value


def _rows(
    file: Path, smiles: str, target: str | None, targets: bool
) -> Iterator[tuple[int, str, str]]:
    """Yield line, SMILES and target of each row."""
    try:
        with reading(file), file.open(encoding="utf-8-sig", newline="") as content:
            reader = csv.reader(content, strict=True)
            header = next(reader, [])
            column, target_column = _columns(header, smiles, target, file, targets)
            for row in reader:
                if not row:
                    continue
                if len(row) != len(header):
                    raise DataError(
                        f"has {len(row)} cells, but the header has {len(header)}",
                        source=file,
                        line=reader.line_num,
                    )
                value = "" if target_column is None else row[target_column].strip()
                if target_column is not None and not value:
                    raise DataError(
                        f"lacks a value for {quoted(header[target_column])}",
                        source=file,
                        line=reader.line_num,
                    )
                yield reader.line_num, row[column].strip(), value
    except (csv.Error, UnicodeDecodeError) as error:
        raise DataError(f"cannot be read as CSV in UTF-8 ({error})", source=file) from error


def _columns(
    header: Sequence[str], smiles: str, target: str | None, file: Path, targets: bool
) -> tuple[int, int | None]:
    names = [name.strip().lower() for name in header]
    if smiles.lower() not in names:
        raise DataError(
            f"needs a column {quoted(smiles)} in its header, which has {quoted(', '.join(header))}",
            source=file,
            line=1,
        )
    column = names.index(smiles.lower())
    if not targets:
        return column, None
    if target is not None:
        if target.lower() not in names:
            raise DataError(f"has no column {quoted(target)}", source=file, line=1)
        return column, names.index(target.lower())
    others = [place for place in range(len(names)) if place != column]
    if len(others) > 1:
        raise DataError(
            f"has several columns to predict: {quoted(', '.join(header[o] for o in others))}; "
            f"choose one as target",
            source=file,
            line=1,
        )
    return column, others[0] if others else None
