"""Molecules from a CSV file with SMILES: atoms become nodes, bonds become edges."""

import csv
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

from lfds.data.errors import DataError, quoted, reading
from lfds.data.graphset import GraphSet
from lfds.data.node_order import with_shuffled_nodes
from lfds.data.options import choice
from lfds.data.readers.arrays import not_yet_encoded
from lfds.data.readers.csv_targets import Cell, column_targets
from lfds.data.readers.molecules import graphs_of_molecules, molecule_from

if TYPE_CHECKING:
    from rdkit.Chem import Mol

Bad: TypeAlias = Literal["stop", "skip"]


def read_smiles(
    path: str | PathLike[str],
    *,
    smiles: str = "smiles",
    target: str | None = None,
    bad: Bad = "stop",
    seed: int | None = 0,
) -> GraphSet:
    """Read molecules from a CSV file with a header.

    What is known of atoms and bonds is listed in :mod:`lfds.data.readers.molecules`. Targets that
    are all whole numbers, or all names, are classes; other numbers are regressed.

    Args:
        path: The file.
        smiles: Header of the column with SMILES, in any case.
        target: Header of the column to predict; ``None`` takes the only other column, and no
            target at all where there is no other.
        bad: Whether a SMILES that cannot be read stops everything, or is skipped and counted.
        seed: Root of the random order of the atoms of each molecule; ``None`` leaves them.
    """
    choice(bad, get_args(Bad), "bad")
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
        raise DataError("holds no molecule", source=file)
    # A column to predict has no empty cells: they are empty only where there is no such column.
    y = column_targets(targets, file) if targets[0][1] else None
    graphs = graphs_of_molecules(molecules, y, file.stem)
    graphs = replace(
        not_yet_encoded(graphs), provenance={**graphs.provenance, "bad_smiles_skipped": skipped}
    )
    return graphs if seed is None else with_shuffled_nodes(graphs, seed)


def stream_smiles(
    path: str | PathLike[str], *, most: int, smiles: str = "smiles", bad: Bad = "stop"
) -> Iterator[tuple[list[int], GraphSet]]:
    """Read some molecules at a time, without targets, each piece with the lines it is from.

    Other columns, as many as there are, are passed over.

    Args:
        path: A CSV file with a header.
        most: Molecules of a piece, at most.
        smiles: Header of the column with SMILES, in any case.
        bad: Whether a SMILES that cannot be read stops everything, or is skipped.
    """
    choice(bad, get_args(Bad), "bad")
    file = Path(path)
    read = _molecules(file, smiles, None, bad, targets=False)
    sound = ((line, molecule) for line, molecule, _ in read if molecule is not None)
    empty = True
    while piece := list(islice(sound, most)):
        empty = False
        graphs = graphs_of_molecules([molecule for _, molecule in piece], None, file.stem)
        yield [line for line, _ in piece], not_yet_encoded(graphs)
    if empty:
        raise DataError("holds no molecule", source=file)


def _molecules(
    file: Path, smiles: str, target: str | None, bad: Bad, *, targets: bool = True
) -> "Iterator[tuple[int, Mol | None, str]]":
    """Yield line, molecule and target of each row; no molecule where a bad one is skipped."""
    for line, text, value in _rows(file, smiles, target, targets):
        molecule = molecule_from(text)
        if molecule is None and bad == "stop":
            raise DataError(
                f"{quoted(text)} is no valid SMILES; mend it, or skip such lines",
                source=file,
                line=line,
            )
        yield line, molecule, value


def _rows(
    file: Path, smiles: str, target: str | None, targets: bool
) -> Iterator[tuple[int, str, str]]:
    """Yield line, SMILES and target of each row of the file."""
    try:
        with reading(file), file.open(encoding="utf-8-sig", newline="") as content:
            reader = csv.reader(content, strict=True)
            header = next(reader, [])
            column, wanted = _columns(header, smiles, target, file, targets)
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
            f"name one as target",
            source=file,
            line=1,
        )
    return column, others[0] if others else None
