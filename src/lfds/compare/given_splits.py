"""Splits from files, or of datasets that define their own, instead of stratified folds."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass
from functools import lru_cache
from pathlib import Path

from lfds.config.comparison import CompareSpec
from lfds.config.messages import SpecError, choose_from
from lfds.config.training import Protocol
from lfds.data.datasets.catalog import BUILT_IN
from lfds.data.errors import DataError
from lfds.data.graphset import GraphSet
from lfds.data.splits import Split, grouped_folds, read_splits, save_splits

SAME_GRAPHS: Mapping[str, str] = {"PROTEINS": "PROTEINS_full", "PROTEINS_full": "PROTEINS"}
"""Datasets with the same graphs in the same order, but different attributes."""


@dataclass(frozen=True)
class GivenSplits:
    """The given folds of one dataset.

    Attributes:
        splits: One for each fold.
    """

    splits: tuple[Split, ...]

    @property
    def content(self) -> str:
        """The hash of which graph is in which part, whatever the file is called."""
        return hashlib.sha256(json.dumps([*map(astuple, self.splits)]).encode()).hexdigest()[:24]

    def save(self, folder: Path) -> Path:
        """Write them for all processes to read, and return the file."""
        path = folder / f"{self.content}.json"
        try:
            saved_splits(path, self.content)
        except DataError:  # missing or changed
            save_splits(self.splits, path)
        return path


def find_splits(spec: CompareSpec, datasets: Sequence[GraphSet]) -> dict[str, GivenSplits]:
    """Return the given splits by the names of datasets; none for those split into folds here.

    Args:
        spec: Names folders, which hold ``NAME_splits.json``, or files, as ``NAME=FILE`` or, of a
            single dataset, as ``FILE``.
        datasets: All datasets of the spec; where any splits are given, each needs its own.
    """
    if spec.groups is not None:
        return {graphs.name: _grouped(graphs, spec) for graphs in datasets}
    if not has_files(spec):
        return {
            graphs.name: _own_folds(source, graphs, spec)
            for source, graphs in zip(spec.data, datasets, strict=True)
            if has_own_folds(source)
        }
    names = [graphs.name for graphs in datasets]
    files, folders = _files_and_folders(spec.splits, names)
    for name in files:
        if name not in names:
            raise SpecError(f"splits: unknown dataset {name!r}; {choose_from(name, names)}")
    return {
        graphs.name: _read(graphs, _file_for(graphs.name, files, folders), spec.protocol)
        for graphs in datasets
    }


def has_files(spec: CompareSpec) -> bool:
    """Whether the splits of a spec are in files."""
    return bool(spec.splits) and spec.splits not in (("random",), ("scaffold",))


def _grouped(graphs: GraphSet, spec: CompareSpec) -> GivenSplits:
    try:
        folds = grouped_folds(
            graphs.groups[:, 0].numpy(),
            folds=spec.folds,
            seed=spec.seed,
            validation=spec.validation,
        )
    except DataError as error:
        raise SpecError(f"folds: {graphs.name} {error.problem}") from error
    # The same folds for all seeds, as with splits from files.
    return GivenSplits(folds)


def with_given_folds(spec: CompareSpec, given: Mapping[str, GivenSplits]) -> CompareSpec:
    """Return the spec with the number of folds of the given splits, which must be the same."""
    numbers = {name: len(entry.splits) for name, entry in given.items()}
    if not numbers:
        return spec
    if len(set(numbers.values())) > 1:
        listed = ", ".join(f"{name} {number}" for name, number in numbers.items())
        raise SpecError(f"splits: all datasets need the same number of folds, not {listed}")
    (folds,) = set(numbers.values())
    if "folds" in spec.model_fields_set and spec.folds != folds:
        raise SpecError(f"folds: the given splits have {folds}, not {spec.folds}; leave it out")
    return spec.model_copy(update={"folds": folds})


def has_own_folds(source: str) -> bool:
    """Whether ``source`` is a built-in dataset that defines its own folds."""
    return source in BUILT_IN and BUILT_IN[source].folds is not None


@lru_cache(maxsize=1)
def saved_splits(path: Path, content: str) -> tuple[Split, ...]:
    """Return what :meth:`GivenSplits.save` wrote, of the splits with this hash."""
    splits = read_splits(path, check=False)
    if GivenSplits(splits).content != content:
        raise DataError(
            "does not hold the splits that it is named after; run the same command again, which "
            "writes them anew",
            source=path,
        )
    return splits


def _own_folds(source: str, graphs: GraphSet, spec: CompareSpec) -> GivenSplits:
    folds = BUILT_IN[source].folds
    assert folds is not None
    if spec.graphs is not None:
        raise SpecError(f"graphs: the folds of {source} need all of its graphs; leave it out")
    # The same folds for all seeds, as with splits from files.
    return GivenSplits(folds(graphs, spec.folds, spec.seed, spec.validation))


def _file_for(name: str, files: Mapping[str, Path], folders: Sequence[Path]) -> Path:
    """Return the file of a dataset: the one given for it, else the first in a folder."""
    if name in files:
        return files[name]
    wanted = [f"{called}_splits.json" for called in (name, SAME_GRAPHS.get(name)) if called]
    for folder in folders:
        for file in wanted:
            if (folder / file).is_file():
                return folder / file
    where = f"{wanted[0]} is not in {', '.join(map(str, folders))}" if folders else "no file"
    raise SpecError(f"splits: {where} for {name}; add {name}=FILE")


def _files_and_folders(
    entries: Sequence[str], datasets: Sequence[str]
) -> tuple[dict[str, Path], list[Path]]:
    files: dict[str, Path] = {}
    folders = []
    for entry in entries:
        name, equals, file = entry.partition("=")
        if Path(entry).is_dir():
            folders.append(Path(entry))
            continue
        if Path(entry).is_file():
            if len(datasets) > 1:
                raise SpecError(
                    f"splits: {entry} needs the name of its dataset; write {datasets[0]}={entry}"
                )
            name, file = datasets[0], entry
        elif not (equals and name and file):
            raise SpecError(
                "splits: must be random, scaffold, or a folder, a file or NAME=FILE that exists, "
                f"not {entry!r}"
            )
        if name in files:
            raise SpecError(f"splits: {name} has two files, {files[name]} and {file}; name one")
        files[name] = Path(file)
    return files, folders


def _read(graphs: GraphSet, file: Path, protocol: Protocol) -> GivenSplits:
    splits = read_splits(file, len(graphs))
    if len(splits) < 2:
        raise SpecError(f"{file}: a comparison needs at least 2 folds, not {len(splits)}")
    for fold, split in enumerate(splits):
        parts = {"test": split.test, "training": split.train}
        if protocol == "fair":
            parts["validation"] = split.validation
        for part, members in parts.items():
            if not members:
                raise SpecError(f"{file}: fold {fold} has no {part} graphs; {protocol} needs some")
    return GivenSplits(splits)
