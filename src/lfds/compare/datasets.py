"""Datasets of a comparison: loaded, checked, and saved for all processes to open."""

import os
import shutil
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil, floor
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from lfds.compare.given_splits import GivenSplits, has_files, has_own_folds
from lfds.config.comparison import CompareSpec
from lfds.config.encoding import EncodingSettings
from lfds.config.messages import SpecError
from lfds.data.encodings.compute import structural_features
from lfds.data.encodings.encoder import automatic_encoding
from lfds.data.errors import DataError
from lfds.data.graphset import GraphSet
from lfds.data.sources import ReadOptions, open_source, options_of
from lfds.data.splits import stratified_sample
from lfds.data.storage import content_of
from lfds.data.tasks import as_task
from lfds.seeds import seed_for
from lfds.train.checkpoint import UNUSED

_NONE_GIVEN: Mapping[str, GivenSplits] = {}


@dataclass(frozen=True)
class PreparedDataset:
    """A dataset that is ready to run.

    Attributes:
        name: Its name in records and tables.
        path: Where it is saved.
        content: The hash of its graphs.
        encoding: Which features its nodes get.
        edge_data: Whether its edges have labels or attributes.
        splits: Where its given splits are saved; None where it is split into folds.
        splits_content: The hash of its given splits.
    """

    name: str
    path: Path
    content: str
    encoding: EncodingSettings
    edge_data: bool = False
    splits: Path | None = None
    splits_content: str | None = None


def load_datasets(spec: CompareSpec, root: Path) -> list[GraphSet]:
    """Load and check all datasets of a spec; nothing is written.

    Args:
        spec: The comparison.
        root: The folder of datasets that are given by name.
    """
    datasets = [_subsample(_open(source, root, spec), spec.graphs) for source in spec.data]
    names = [graphs.name for graphs in datasets]
    if len(set(names)) < len(names):
        raise SpecError(f"data: each dataset needs a name of its own, not {', '.join(names)}")
    for source, graphs in zip(spec.data, datasets, strict=True):
        check_classes(graphs)
        if spec.groups is None and not has_own_folds(source) and not has_files(spec):
            check_folds(graphs, spec)
    return datasets


def _open(source: str, root: Path, spec: CompareSpec) -> GraphSet:
    options: ReadOptions = {"group": spec.groups}
    named = _columns(spec)
    # Among several datasets those that have columns get them; alone, one without says so.
    if named and (len(spec.data) == 1 or "target" in options_of(source, root)):
        options |= named
    try:
        if spec.task != "auto" and "task" in options_of(source, root):
            options["task"] = spec.task
        return as_task(open_source(source, root, **options), spec.task)
    except DataError as error:
        names = {**_FIELDS, "group": "splits" if spec.splits else "group_column"}
        if str(error.source) not in names:
            raise
        raise SpecError(f"{names[str(error.source)]}: {error.problem}; leave it out") from error


# Fields of a spec by the options of readers that they set.
_FIELDS = {
    "target": "target",
    "bad": "skip_bad",
    "smiles": "smiles_column",
    "fragments": "largest_fragment",
    "atom_features": "atom_features",
    "task": "task",
}


def _columns(spec: CompareSpec) -> ReadOptions:
    """Return how molecules are read, as far as the spec says so."""
    options: ReadOptions = {}
    if spec.target is not None:
        options["target"] = spec.target
    if spec.skip_bad:
        options["bad"] = "skip"
    if spec.smiles_column is not None:
        options["smiles"] = spec.smiles_column
    if spec.largest_fragment:
        options["fragments"] = "largest"
    if spec.atom_features != "full":
        options["atom_features"] = spec.atom_features
    return options


def prepare_datasets(
    spec: CompareSpec,
    datasets: Sequence[GraphSet],
    folder: Path,
    *,
    given: Mapping[str, GivenSplits] = _NONE_GIVEN,
    workers: int = 1,
) -> list[PreparedDataset]:
    """Save datasets for all processes to open, and compute their structural encodings.

    Args:
        spec: The comparison.
        datasets: Its datasets.
        folder: Where to save them, with a cache of encodings.
        given: The given splits by dataset.
        workers: Processes that compute encodings.
    """
    prepared = []
    for graphs in datasets:
        encoding = encoding_for(graphs, spec)
        cache = folder / "encodings"
        structural_features(graphs, encoding.structure, workers=workers, cache=cache)
        content = content_of(graphs)
        path = folder / "data" / content
        _save_unless_there(graphs, path, content)
        splits = given.get(graphs.name)
        prepared.append(
            PreparedDataset(
                graphs.name,
                path,
                content,
                encoding,
                edge_data=graphs.has_edge_data,
                splits=None if splits is None else splits.save(folder / "splits"),
                splits_content=None if splits is None else splits.content,
            )
        )
    return prepared


def _save_unless_there(graphs: GraphSet, path: Path, content: str) -> None:
    """Save graphs; what is there already but does not hold these graphs is moved aside."""
    if os.path.lexists(path):
        try:
            if content_of(GraphSet.load(path)) == content:
                return
        except DataError:
            pass
        aside = path.with_name(f"{path.name}{UNUSED}")
        if aside.is_dir() and not aside.is_symlink():
            shutil.rmtree(aside, ignore_errors=True)
        try:
            os.replace(path, aside)
        except OSError as error:
            raise SpecError(
                f"{path}: does not hold the graphs that it is named after, and cannot be moved "
                f"({error.strerror}); remove it"
            ) from error
        warnings.warn(
            f"{path}: was changed and does not hold the graphs of {graphs.name}; it was moved to "
            f"{aside.name} and is written anew",
            UserWarning,
            stacklevel=2,
        )
    graphs.save(path)


def encoding_for(graphs: GraphSet, spec: CompareSpec) -> EncodingSettings:
    """Return which features the nodes of a dataset get."""
    if isinstance(spec.encoding, EncodingSettings):
        return spec.encoding
    return automatic_encoding(graphs)


def check_classes(graphs: GraphSet) -> None:
    """Raise a SpecError unless a dataset has at least two classes."""
    if not graphs.has_targets:
        raise SpecError(f"{graphs.name}: the graphs have no labels; a comparison needs classes")
    if graphs.classes and graphs.y.ndim == 2:
        raise SpecError(f"{graphs.name}: has several targets; a comparison needs one")
    if not graphs.classes:
        raise SpecError(f"{graphs.name}: the targets are no classes; a comparison needs classes")
    counts = _class_counts(graphs)
    if int((counts > 0).sum()) < 2:
        only = graphs.classes[int(counts.argmax())]
        raise SpecError(
            f"{graphs.name}: all {len(graphs)} graphs are of class {only!r}; "
            f"a comparison needs at least 2 classes"
        )


def check_folds(graphs: GraphSet, spec: CompareSpec) -> None:
    """Raise a SpecError if a dataset cannot be split into the folds of a spec."""
    counts = _class_counts(graphs)
    smallest = int(counts[counts > 0].min())
    if spec.folds > smallest:
        rare = graphs.classes[int(torch.where(counts > 0, counts, len(graphs)).argmin())]
        fix = f"use folds={smallest}{' or fewer' if smallest > 2 else ''}"
        fix = fix if smallest > 1 else "add graphs of it, or leave it out"
        raise SpecError(
            f"{graphs.name}: {spec.folds} folds need as many graphs of each class, and class "
            f"{rare!r} has {smallest}; {fix}"
        )
    # The largest test part leaves the fewest graphs for validation.
    rest = len(graphs) - -(-len(graphs) // spec.folds)
    count = round(spec.validation * rest)
    if spec.protocol == "fair" and not 0 < count < rest:
        least, most = ceil(100 / rest) / 100, floor(100 * (rest - 1) / rest) / 100
        raise SpecError(
            f"{graphs.name}: validation={spec.validation} of the {rest} graphs outside of the "
            f"test part leaves none to {'validate' if count == 0 else 'train'} on; "
            f"use a share from {least} to {most}"
        )


def _class_counts(graphs: GraphSet) -> Tensor:
    return torch.bincount(graphs.y, minlength=graphs.num_classes)


def _subsample(graphs: GraphSet, count: int | None) -> GraphSet:
    """Return at most ``count`` graphs, of each class in proportion."""
    if count is None or count >= len(graphs):
        return graphs
    check_classes(graphs)
    seed = seed_for(0, graphs.name, "chosen")
    return graphs[np.sort(stratified_sample(graphs.y.numpy(), count, seed))]
