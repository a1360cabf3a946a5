"""Splits that are given instead of dealt: found, proved against their graphs, named by content."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass
from functools import lru_cache
from pathlib import Path

from lfds.config.comparison import CompareSpec
from lfds.config.errors import SpecError
from lfds.config.training import Protocol
from lfds.data.datasets.catalog import BUILT_IN
from lfds.data.graphset import GraphSet
from lfds.data.splits import Split, read_splits, save_splits

SAME_GRAPHS: Mapping[str, str] = {"PROTEINS": "PROTEINS_full", "PROTEINS_full": "PROTEINS"}
"""Sets of the same graphs in the same order, which differ in their attributes alone."""


@dataclass(frozen=True)
class GivenSplits:
    """The folds of one dataset, as somebody laid them out.

    Attributes:
        splits: One for each fold.
    """

    splits: tuple[Split, ...]

    @property
    def content(self) -> str:
        """The hash of which graph is where; the name of the file plays no part."""
        return hashlib.sha256(json.dumps([*map(astuple, self.splits)]).encode()).hexdigest()[:24]

    def save(self, folder: Path) -> Path:
        """Write them where every process finds them, and return the file."""
        path = folder / f"{self.content}.json"
        if not path.exists():
            folder.mkdir(parents=True, exist_ok=True)
            save_splits(self.splits, path)
        return path


def find_splits(spec: CompareSpec, sets: Sequence[GraphSet]) -> dict[str, GivenSplits]:
    """Return the splits by the names of datasets, of those that are not dealt like any other.

    Args:
        spec: Names folders, which hold ``NAME_splits.json``, or files, as ``NAME=FILE``.
        sets: All datasets of the spec; where splits are given, each needs its own.
    """
    if not spec.splits:
        return {
            graphs.name: _laid_out(source, graphs, spec)
            for source, graphs in zip(spec.data, sets, strict=True)
            if has_own_folds(source)
        }
    files = {graphs.name: _file_for(graphs.name, spec.splits) for graphs in sets}
    _check_all_used(spec.splits, files)
    return {graphs.name: _read(graphs, files[graphs.name], spec.protocol) for graphs in sets}


def follow_folds(spec: CompareSpec, given: Mapping[str, GivenSplits]) -> CompareSpec:
    """Return the spec with as many folds as the splits have; one table needs one number."""
    numbers = {name: len(entry.splits) for name, entry in given.items()}
    if not numbers:
        return spec
    if len(set(numbers.values())) > 1:
        said = ", ".join(f"{name} {number}" for name, number in numbers.items())
        raise SpecError(f"splits: all sets of a comparison need equally many folds, not {said}")
    (folds,) = set(numbers.values())
    if "folds" in spec.model_fields_set and spec.folds != folds:
        raise SpecError(f"folds: the splits that are given have {folds}, not {spec.folds}; drop it")
    return spec.model_copy(update={"folds": folds})


def has_own_folds(source: str) -> bool:
    """Whether what is called ``source`` is a built-in set that says itself how it is dealt."""
    return source in BUILT_IN and BUILT_IN[source].folds is not None


@lru_cache(maxsize=1)
def saved_splits(path: Path) -> tuple[Split, ...]:
    """Return what :meth:`GivenSplits.save` wrote."""
    return read_splits(path, check=False)


def _laid_out(source: str, graphs: GraphSet, spec: CompareSpec) -> GivenSplits:
    folds = BUILT_IN[source].folds
    assert folds is not None
    if spec.graphs is not None:
        raise SpecError(f"{source}: its folds need all of its graphs; drop --graphs")
    # One layout for all seeds, as with splits from files.
    return GivenSplits(folds(graphs, spec.folds, spec.seed, spec.validation))


def _file_for(name: str, entries: Sequence[str]) -> Path:
    """Return the file of a dataset: the one that names it, else the first of a folder."""
    named, folders = _sorted_out(entries)
    if name in named:
        return named[name]
    wanted = [f"{called}_splits.json" for called in (name, SAME_GRAPHS.get(name)) if called]
    for folder in folders:
        for file in wanted:
            if (folder / file).is_file():
                return folder / file
    where = f"{wanted[0]} is not in {', '.join(map(str, folders))}" if folders else "no file is"
    raise SpecError(f"splits: {where} for {name}; name one with --splits {name}=FILE")


def _sorted_out(entries: Sequence[str]) -> tuple[dict[str, Path], list[Path]]:
    named: dict[str, Path] = {}
    folders = []
    for entry in entries:
        name, equals, file = entry.partition("=")
        if Path(entry).is_dir():
            folders.append(Path(entry))
        elif equals and name and file:
            named[name] = Path(file)
        else:
            raise SpecError(f"splits: needs a folder, or NAME=FILE, not {entry!r}")
    return named, folders


def _check_all_used(entries: Sequence[str], names: Mapping[str, Path]) -> None:
    for name in _sorted_out(entries)[0]:
        if name not in names:
            raise SpecError(f"splits: no set is called {name!r}; there are {', '.join(names)}")


def _read(graphs: GraphSet, file: Path, protocol: Protocol) -> GivenSplits:
    splits = read_splits(file, len(graphs))
    if len(splits) < 2:
        raise SpecError(f"{file}: comparing needs at least 2 folds, not {len(splits)}")
    for fold, split in enumerate(splits):
        parts = {"test": split.test, "training": split.train}
        if protocol == "fair":
            parts["validation"] = split.validation
        for part, members in parts.items():
            if not members:
                raise SpecError(f"{file}: fold {fold} has no {part} graphs; {protocol} needs some")
    return GivenSplits(splits)
