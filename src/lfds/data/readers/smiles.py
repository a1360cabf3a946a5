"""Molecules from a CSV file with SMILES: atoms become nodes, bonds become edges."""

import hashlib
import warnings
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

import torch
from torch import Tensor

from lfds.config.messages import counted
from lfds.data.chunk import Chunk, SkippedRow
from lfds.data.errors import DataError, check_choice, quoted
from lfds.data.graphset import GraphSet
from lfds.data.node_order import shuffle_nodes
from lfds.data.readers.arrays import without_features
from lfds.data.readers.atom_features import SMILES_COLUMN, AtomFeatures, graphs_of_molecules
from lfds.data.readers.csv_table import Table, open_table
from lfds.data.readers.rdkit_molecules import (
    Fragments,
    canonical_smiles,
    invalid_reason,
    molecule_from,
    scaffold_of,
)
from lfds.data.readers.tables import Task
from lfds.data.readers.target_columns import (
    Missing,
    Targets,
    is_missing,
    is_numeric,
    no_values,
    targets_of_columns,
)
from lfds.data.readers.target_plan import TargetPlan, plan_targets

if TYPE_CHECKING:
    from rdkit.Chem import Mol

Bad: TypeAlias = Literal["stop", "skip"]
"""What a row without a valid SMILES or target does: raise an error, or be left out."""

_SCAFFOLD = "scaffold"
# Before the line of a row without a group; no cell begins with it.
_NO_GROUP = "\0"
_REASONS_SHOWN = 3
# What skipped rows are, in the order of their counts.
_LACKING = ("with an invalid SMILES", "without a target")


class SkippedRowsWarning(UserWarning):
    """Some rows of a file were skipped."""


class DuplicateMoleculesWarning(UserWarning):
    """Some molecules are in a file more than once."""


class MissingGroupsWarning(UserWarning):
    """Some rows of a file have no group."""


@dataclass(frozen=True)
class _Row:
    """A row with a valid molecule, the text of its targets (or of kept columns) and its group."""

    line: int
    molecule: "Mol"
    text: str
    targets: tuple[str, ...]
    group: str


def read_smiles(
    path: str | PathLike[str],
    *,
    smiles: str = SMILES_COLUMN,
    target: str | Sequence[str] | None = None,
    task: Task = "auto",
    bad: Bad = "stop",
    atom_features: AtomFeatures = "full",
    fragments: Fragments = "all",
    group: str | None = None,
    missing: Missing = "auto",
    seed: int | None = 0,
) -> GraphSet:
    """Read molecules from a CSV file with a header; :func:`read_smiles_rows` returns their lines.

    Columns are found by their exact name, or by their name in any case if there is only one such.
    Molecules that are in the file more than once are kept and reported in a warning.

    Args:
        path: The file.
        smiles: Header of the column with SMILES.
        target: Header of the column to predict, or of several, whose cells may be empty; ``None``
            takes the only other column, if any.
        task: What the targets are. ``"auto"`` takes names for classes, and numbers if they are
            whole and there are few different ones; see
            :func:`lfds.data.readers.tables.targets_of_column`.
        bad: Whether a row with an invalid SMILES or without target raises an error (``"stop"``),
            or is skipped, counted and reported. Rows without any of several targets are skipped in
            any case.
        atom_features: Which features atoms and bonds get.
        fragments: Whether all parts of a salt or mixture are kept, or the largest alone.
        group: Header of a column whose equal cells stay together in splits, or ``"scaffold"`` for
            the Bemis-Murcko scaffold of each molecule; all without a ring have the same one.
        missing: Whether rows need a target (``"auto"``), or are kept without (``"keep"``), as a
            model with several targets is evaluated on some of them: then a column may be empty, and
            ``y`` is ``[graphs, targets]`` for a single one, too.
        seed: Seed of the random order of the atoms of each molecule; ``None`` keeps their order.
    """
    return read_smiles_rows(
        path,
        smiles=smiles,
        target=target,
        task=task,
        bad=bad,
        atom_features=atom_features,
        fragments=fragments,
        group=group,
        missing=missing,
        seed=seed,
    ).graphs


def read_smiles_rows(
    path: str | PathLike[str],
    *,
    smiles: str = "smiles",
    target: str | Sequence[str] | None = None,
    task: Task = "auto",
    bad: Bad = "stop",
    atom_features: AtomFeatures = "full",
    fragments: Fragments = "all",
    group: str | None = None,
    missing: Missing = "auto",
    seed: int | None = 0,
) -> Chunk:
    """Return all molecules of a CSV file with their lines, and the rows that were skipped.

    The arguments are those of :func:`read_smiles`.
    """
    for name, value, allowed in (
        ("bad", bad, Bad),
        ("task", task, Task),
        ("atom_features", atom_features, AtomFeatures),
        ("fragments", fragments, Fragments),
        ("missing", missing, Missing),
    ):
        check_choice(value, get_args(allowed), name)
    file = Path(path)
    rows: list[_Row] = []
    skipped: list[SkippedRow] = []
    with open_table(file) as table:
        column = _smiles_column(table, smiles)
        grouping = None if group in (None, _SCAFFOLD) else table.column(str(group))
        places = _target_columns(table, column, grouping, target)
        for row in _rows(table, column, places, grouping, bad, fragments):
            (skipped if isinstance(row, SkippedRow) else rows).append(row)  # type: ignore[arg-type]
        names = [table.header[place] for place in places]
    if missing == "auto":
        rows = _with_targets(rows, names, file, bad, skipped)
    if not rows:
        raise DataError("has no molecules; needs a row for each below its header", source=file)
    warn_of_skipped(skipped, file)
    _warn_of_duplicates(rows, file)
    graphs = graphs_of_molecules([row.molecule for row in rows], None, file.stem, atom_features)
    if names:
        found = _targets(rows, names, file, task, missing)
        graphs = replace(graphs, y=found.y, classes=found.classes, target_names=found.names)
    if group is not None:
        groups = [scaffold_of(row.molecule) if grouping is None else row.group for row in rows]
        _warn_of_missing_groups(_lacking_group(groups), group, file)
        graphs = replace(graphs, groups=_numbered(groups))
    facts = {**_skipped_counts(skipped), "fragments": fragments, "smiles_column": smiles}
    graphs = replace(without_features(graphs), provenance={**graphs.provenance, **facts})
    graphs = graphs if seed is None else shuffle_nodes(graphs, seed)
    ordered = sorted(skipped, key=lambda row: row.position)
    return Chunk(graphs, [row.line for row in rows], "line", skipped=tuple(ordered))


def stream_smiles(
    path: str | PathLike[str],
    *,
    size: int,
    smiles: str = SMILES_COLUMN,
    bad: Bad = "stop",
    atom_features: AtomFeatures = "full",
    fragments: Fragments = "all",
    keep: Sequence[str] = (),
) -> Iterator[Chunk]:
    """Yield molecules in chunks, without targets.

    Args:
        path: A CSV file with a header.
        size: Most molecules of a chunk.
        smiles: Header of the column with SMILES.
        bad: Whether an invalid SMILES raises an error (``"stop"``) or is skipped.
        atom_features: Which features atoms and bonds get.
        fragments: Whether all parts of a salt or mixture are kept, or the largest alone.
        keep: Headers of other columns whose cells the chunks have, as an id; the rest is ignored.
    """
    check_choice(bad, get_args(Bad), "bad")
    file = Path(path)

    def chunk(rows: list[_Row], skipped: list[SkippedRow]) -> Chunk:
        molecules = [row.molecule for row in rows]
        graphs = graphs_of_molecules(molecules, None, file.stem, atom_features)
        lines, texts = [row.line for row in rows], tuple(row.text for row in rows)
        kept = tuple(row.targets for row in rows)
        return Chunk(without_features(graphs), lines, "line", texts, tuple(skipped), names, kept)

    rows: list[_Row] = []
    skipped: list[SkippedRow] = []
    with open_table(file) as table:
        column = _smiles_column(table, smiles)
        places = _kept_columns(table, column, keep)
        names = tuple(table.header[place] for place in places)
        for row in _rows(table, column, places, None, bad, fragments):
            if isinstance(row, SkippedRow):
                skipped.append(row)
                continue
            if len(rows) == size:  # only now: rows skipped at the end belong to the last chunk
                yield chunk(rows, skipped)
                rows, skipped = [], []
            rows.append(row)
    if not rows:
        raise DataError("has no molecules; needs a row for each below its header", source=file)
    yield chunk(rows, skipped)


def convert_smiles(
    path: str | PathLike[str],
    *,
    size: int,
    after: int | None = None,
    smiles: str = SMILES_COLUMN,
    target: str | Sequence[str] | None = None,
    task: Task = "auto",
    bad: Bad = "stop",
    atom_features: AtomFeatures = "full",
    fragments: Fragments = "all",
    group: str | None = None,
) -> Iterator[Chunk]:
    """Yield molecules in chunks with their targets, in the memory of one chunk.

    The target columns are gone through once before, to decide what they are. Molecules that occur
    more than once are not looked for. A group has the hash of its text for a number.

    Args:
        path: A CSV file, as for :func:`read_smiles`, which explains the other arguments.
        size: Most molecules of a chunk.
        after: The last line that is left out; ``None`` to begin at the first.
        smiles: Header of the column with SMILES.
        target: Header of the column to predict, or of several.
        task: What the targets are.
        bad: Whether a row that cannot be used raises an error, or is skipped.
        atom_features: Which features atoms and bonds get.
        fragments: Whether all parts of a salt or mixture are kept, or the largest alone.
        group: Header of a column whose equal cells stay together, or ``"scaffold"``.
    """
    check_choice(bad, get_args(Bad), "bad")
    check_choice(task, get_args(Task), "task")
    file, first = Path(path), after or 0
    with open_table(file) as table:
        column = _smiles_column(table, smiles)
        grouping = None if group in (None, _SCAFFOLD) else table.column(str(group))
        places = _target_columns(table, column, grouping, target)
        names = [table.header[place] for place in places]
        cells = ((line, tuple(row[place] for place in places)) for line, row in table)
        plan = plan_targets(cells, names, file, task) if names else None
    count = ungrouped = 0
    with open_table(file) as table:
        later = Table(file, table.header, ((line, row) for line, row in table if line > first))
        rows = _rows(later, column, places, grouping, bad, fragments)
        for kept, skipped in _chunks_of(rows, plan, bad, size):
            count += len(kept)
            molecules = [row.molecule for row in kept]
            graphs = without_features(
                graphs_of_molecules(molecules, None, file.stem, atom_features)
            )
            lines = [row.line for row in kept]
            if plan is not None:
                found = plan.targets(lines, [row.targets for row in kept])
                graphs = replace(graphs, y=found.y, classes=found.classes, target_names=found.names)
            if group is not None:
                texts = [scaffold_of(r.molecule) if grouping is None else r.group for r in kept]
                ungrouped += _lacking_group(texts)
                graphs = replace(graphs, groups=_hashed(texts))
            facts = {**_skipped_counts(skipped), "fragments": fragments, "smiles_column": smiles}
            graphs = replace(graphs, provenance={**graphs.provenance, **facts})
            yield Chunk(graphs, lines, "line", skipped=tuple(skipped))
    if count == 0 and after is None:
        raise DataError("has no molecules; needs a row for each below its header", source=file)
    _warn_of_missing_groups(ungrouped, str(group), file)


def _chunks_of(
    rows: Iterator[_Row | SkippedRow], plan: TargetPlan | None, bad: Bad, size: int
) -> Iterator[tuple[list[_Row], list[SkippedRow]]]:
    """Yield rows that have a molecule and a target, some at a time, and those between them."""
    kept: list[_Row] = []
    skipped: list[SkippedRow] = []
    for row in rows:
        if isinstance(row, SkippedRow):
            skipped.append(row)
            continue
        reason = None if plan is None else plan.lacking(row.targets, skipping=bad == "skip")
        if reason is not None:
            if bad == "stop" and plan is not None and len(plan.names) == 1:
                fix = "fill it in, or skip such lines with bad='skip'"
                raise DataError(f"{reason}; {fix}", source=plan.source, line=row.line)
            skipped.append(SkippedRow(row.line, row.text, reason, lacks="target"))
            continue
        if len(kept) == size:
            yield kept, skipped
            kept, skipped = [], []
        kept.append(row)
    if kept:
        yield kept, skipped


def _hashed(groups: Sequence[str]) -> Tensor:
    """Return a number for each group, the same in every chunk, without a list of all groups."""
    digests = (hashlib.blake2b(one.encode(), digest_size=8).digest() for one in groups)
    numbers = [[int.from_bytes(digest, "little") >> 1] for digest in digests]
    return torch.tensor(numbers, dtype=torch.int64)


def _rows(
    table: Table,
    column: int,
    places: Sequence[int],
    grouping: int | None,
    bad: Bad,
    fragments: Fragments,
) -> Iterator[_Row | SkippedRow]:
    """Yield every row of a table, as a molecule or skipped."""
    for line, cells in table:
        text = cells[column]
        molecule = molecule_from(text, fragments)
        targets = tuple(cells[place] for place in places)
        if molecule is not None:
            # Rows without a group have nothing in common: each is a group of its own.
            group = "" if grouping is None else cells[grouping] or f"{_NO_GROUP}{line}"
            yield _Row(line, molecule, text, targets, group)
            continue
        reason = f"invalid SMILES {quoted(text)}: {invalid_reason(text)}"
        if bad == "stop":
            fix = "correct it, or skip such lines with bad='skip'"
            raise DataError(f"{reason}; {fix}", source=table.file, line=line)
        yield SkippedRow(line, text, reason, targets)


def _kept_columns(table: Table, smiles: int, names: Sequence[str]) -> list[int]:
    places = [table.column(name) for name in names]
    for name, place in zip(names, places, strict=True):
        problem = "is named twice; once is enough" if places.count(place) > 1 else ""
        if place == smiles:
            problem = "is the column with SMILES, which is kept anyway; leave it out"
        if problem:
            raise DataError(f"{quoted(name)} {problem}", source="keep")
    return places


def _smiles_column(table: Table, smiles: str) -> int:
    if smiles.lower() not in (name.lower() for name in table.header):
        has = f"has {quoted(', '.join(table.header))}" if any(table.header) else "is empty"
        raise DataError(
            f"needs a column {quoted(smiles)} in its header, which {has}; name the column with "
            "smiles=NAME",
            source=table.file,
            line=1,
        )
    return table.column(smiles)


def _target_columns(
    table: Table, smiles: int, grouping: int | None, target: str | Sequence[str] | None
) -> tuple[int, ...]:
    if target is not None:
        names = [target] if isinstance(target, str) else list(target)
        places = [table.column(name) for name in names]
        for name, place in zip(names, places, strict=True):
            if place in (smiles, grouping):
                what = "with SMILES" if place == smiles else "of groups"
                raise DataError(
                    f"{quoted(name)} is the column {what} and cannot be predicted; "
                    f"name another column as target",
                    source=table.file,
                    line=1,
                )
            if places.count(place) > 1:
                problem = f"{quoted(name)} is named twice as target; once is enough"
                raise DataError(problem, source=table.file, line=1)
        return tuple(places)
    others = [place for place in range(len(table.header)) if place not in (smiles, grouping)]
    if len(others) > 1:
        shown = ", ".join(table.header[place] for place in others)
        raise DataError(
            f"has several columns to predict: {quoted(shown)}; choose one or several with "
            "target=NAME",
            source=table.file,
            line=1,
        )
    return tuple(others)


def _with_targets(
    rows: list[_Row], names: Sequence[str], file: Path, bad: Bad, skipped: list[SkippedRow]
) -> list[_Row]:
    """Return the rows that have a target; the others are skipped, or are an error."""
    if not names or not rows:
        return rows
    columns = list(zip(*(row.targets for row in rows), strict=True))
    numeric = [is_numeric(column) for column in columns]
    for name, column, numbers in zip(names, columns, numeric, strict=True):
        if all(is_missing(text, numeric=numbers) for text in column):
            raise no_values(name, len(names), file)
    kept = []
    for row in rows:
        pairs = zip(row.targets, numeric, strict=True)
        # An empty cell is missing in any case; words such as NA only where rows may be skipped.
        words = bad == "skip" or len(names) > 1
        if not all(is_missing(text, numeric=numbers and words) for text, numbers in pairs):
            kept.append(row)
            continue
        reason = f"lacks a value for {quoted(', '.join(names))}"
        # Of several targets some are expected to be missing, and for some rows all of them.
        if bad == "stop" and len(names) == 1:
            fix = "fill it in, or skip such lines with bad='skip'"
            raise DataError(f"{reason}; {fix}", source=file, line=row.line)
        skipped.append(SkippedRow(row.line, row.text, reason, lacks="target"))
    return kept


def _targets(
    rows: Sequence[_Row], names: Sequence[str], file: Path, task: Task, missing: Missing
) -> Targets:
    columns = {
        name: [(row.line, row.targets[place]) for row in rows] for place, name in enumerate(names)
    }
    return targets_of_columns(columns, file, task, missing)


def _numbered(groups: Sequence[str]) -> Tensor:
    numbers: dict[str, int] = {}
    return torch.tensor([[numbers.setdefault(one, len(numbers))] for one in groups])


def warn_of_skipped(skipped: Sequence[SkippedRow], file: Path) -> None:
    """Warn of rows that were skipped, with the reasons of the first."""
    if not skipped:
        return
    # A target may be missing on purpose; an invalid SMILES is a mistake, and is shown first.
    ordered = sorted(skipped, key=lambda row: (row.lacks, row.position))[:_REASONS_SHOWN]
    shown = ", ".join(f"line {row.position} ({row.reason})" for row in ordered)
    more = ", ..." if len(skipped) > _REASONS_SHOWN else ""
    kinds = zip(_skipped_counts(skipped).values(), _LACKING, strict=True)
    counts = ", ".join(f"{count:,} {lacking}" for count, lacking in kinds if count)
    warnings.warn(
        f"{file}: skipped {counted(len(skipped), 'row')}: {counts}; {shown}{more}",
        SkippedRowsWarning,
        stacklevel=4,
    )


def _skipped_counts(skipped: Sequence[SkippedRow]) -> dict[str, int]:
    """Return how many rows lack a molecule, and how many a target only, as provenance has it."""
    invalid = sum(row.lacks == "molecule" for row in skipped)
    return {"bad_smiles_skipped": invalid, "without_target_skipped": len(skipped) - invalid}


def _lacking_group(groups: Sequence[str]) -> int:
    return sum(one.startswith(_NO_GROUP) for one in groups)


def _warn_of_missing_groups(empty: int, column: str, file: Path) -> None:
    if empty:
        verb = "has" if empty == 1 else "have"
        warnings.warn(
            f"{file}: {counted(empty, 'row')} {verb} no {quoted(column)}, and each is a group of "
            f"its own",
            MissingGroupsWarning,
            stacklevel=4,
        )


def _warn_of_duplicates(rows: Sequence[_Row], file: Path) -> None:
    same = defaultdict(list)
    for row in rows:
        same[canonical_smiles(row.molecule)].append(row)
    repeated = [found for found in same.values() if len(found) > 1]
    if not repeated:
        return
    lines = " and ".join(str(row.line) for row in repeated[0][:2])
    differing = sum(len({row.targets for row in found}) > 1 for found in repeated)
    which = "" if len(repeated) == 1 else f"{differing} of them "
    targets = f", {which}with different targets" if differing else ""
    verb = "occurs" if len(repeated) == 1 else "occur"
    warnings.warn(
        f"{file}: {counted(len(repeated), 'molecule')} {verb} more than once{targets}, as "
        f"{quoted(repeated[0][0].text)} in lines {lines}; in different parts of a split they make "
        f"a test too easy",
        DuplicateMoleculesWarning,
        stacklevel=4,
    )
