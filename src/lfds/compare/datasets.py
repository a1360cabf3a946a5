"""From the names in a spec to saved graphs that every process can open, proved fit to be run."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil, floor
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from lfds.compare.given_splits import GivenSplits, has_own_folds
from lfds.config.comparison import CompareSpec
from lfds.config.encoding import EncodingSettings
from lfds.config.errors import SpecError
from lfds.data.datasets.catalog import BUILT_IN, TU_DATASETS
from lfds.data.encodings.compute import structural_features
from lfds.data.encodings.encoder import automatic_encoding
from lfds.data.fingerprint import content_of
from lfds.data.graphset import GraphSet
from lfds.data.sources import load_dataset, read_any
from lfds.seeds import seed_for

_NONE_GIVEN: Mapping[str, GivenSplits] = {}


@dataclass(frozen=True)
class ReadyData:
    """A dataset that can be run.

    Attributes:
        name: What it is called in records and tables.
        path: Where it is saved.
        content: The hash of its graphs.
        encoding: What its nodes are known by.
        splits: Where its splits are saved; None where they are dealt.
        splits_content: Their hash.
    """

    name: str
    path: Path
    content: str
    encoding: EncodingSettings
    splits: Path | None = None
    splits_content: str | None = None


def load_sets(spec: CompareSpec, root: Path) -> list[GraphSet]:
    """Load and check all datasets of a spec; nothing is written.

    Args:
        spec: What is to be run.
        root: Where datasets known by name are kept.
    """
    sets = [_chosen(_load(source, root), spec.graphs) for source in spec.data]
    names = [graphs.name for graphs in sets]
    if len(set(names)) < len(names):
        raise SpecError(f"data: each set needs a name of its own, not {', '.join(names)}")
    for source, graphs in zip(spec.data, sets, strict=True):
        check_classes(graphs)
        if not spec.splits and not has_own_folds(source):
            check_dealing(graphs, spec)
    return sets


def make_ready(
    spec: CompareSpec,
    sets: Sequence[GraphSet],
    folder: Path,
    *,
    given: Mapping[str, GivenSplits] = _NONE_GIVEN,
    workers: int = 1,
) -> list[ReadyData]:
    """Save datasets for all processes to open, and compute their structural encodings.

    Args:
        spec: What is to be run.
        sets: Its datasets.
        folder: Where processes will find them, and the cache of encodings.
        given: The splits of each set, where they are not dealt.
        workers: Processes that compute encodings.
    """
    ready = []
    for graphs in sets:
        encoding = encoding_for(graphs, spec)
        cache = folder / "encodings"
        structural_features(graphs, encoding.structure, workers=workers, cache=cache)
        content = content_of(graphs)
        path = folder / "data" / content
        if not path.exists():
            graphs.save(path)
        splits = given.get(graphs.name)
        ready.append(
            ReadyData(
                graphs.name,
                path,
                content,
                encoding,
                splits=None if splits is None else splits.save(folder / "splits"),
                splits_content=None if splits is None else splits.content,
            )
        )
    return ready


def encoding_for(graphs: GraphSet, spec: CompareSpec) -> EncodingSettings:
    """Return what the nodes of a set are known by."""
    if isinstance(spec.encoding, EncodingSettings):
        return spec.encoding
    return automatic_encoding(graphs)


def check_classes(graphs: GraphSet) -> None:
    """Raise a SpecError where a set has no classes to tell apart."""
    if not graphs.has_targets:
        raise SpecError(f"{graphs.name}: the graphs carry no labels; comparing needs some")
    if not graphs.classes:
        raise SpecError(f"{graphs.name}: has no classes; comparing needs a set of several")
    counts = _class_counts(graphs)
    if int((counts > 0).sum()) < 2:
        only = graphs.classes[int(counts.argmax())]
        raise SpecError(
            f"{graphs.name}: all {len(graphs)} graphs are of class {only!r}; "
            f"comparing needs at least 2 classes"
        )


def check_dealing(graphs: GraphSet, spec: CompareSpec) -> None:
    """Raise a SpecError where a set cannot be dealt into as many folds as asked for."""
    counts = _class_counts(graphs)
    there = counts[counts > 0]
    if spec.folds > int(there.min()):
        rare = graphs.classes[int(torch.where(counts > 0, counts, len(graphs)).argmin())]
        raise SpecError(
            f"{graphs.name}: {spec.folds} folds need as many graphs of each class, and "
            f"{rare!r} has {int(there.min())}; use --folds {max(2, int(there.min()))} or fewer"
        )
    # The largest test part leaves the least for validation.
    rest = len(graphs) - -(-len(graphs) // spec.folds)
    count = round(spec.validation * rest)
    if spec.protocol == "fair" and not 0 < count < rest:
        least, most = ceil(100 / rest) / 100, floor(100 * (rest - 1) / rest) / 100
        raise SpecError(
            f"{graphs.name}: --validation {spec.validation} of the {rest} graphs that are not "
            f"tested leaves none to {'choose' if count == 0 else 'train'} on; "
            f"use a share from {least} to {most}"
        )


def _class_counts(graphs: GraphSet) -> Tensor:
    return torch.bincount(graphs.y, minlength=graphs.num_classes)


def _load(source: str, root: Path) -> GraphSet:
    by_name = source in BUILT_IN or source in TU_DATASETS
    if not by_name and Path(source).exists():
        return read_any(source)
    return load_dataset(source, root)


def _chosen(graphs: GraphSet, count: int | None) -> GraphSet:
    """Take at most ``count`` graphs, of each class in proportion."""
    if count is None or count >= len(graphs):
        return graphs
    check_classes(graphs)
    rng = np.random.default_rng(seed_for(0, graphs.name, "chosen"))
    shuffled = rng.permutation(len(graphs))
    by_class = shuffled[np.argsort(graphs.y.numpy()[shuffled], kind="stable")]
    # Evenly spaced among graphs sorted by class: each class gives in proportion.
    places = (np.arange(count) + 0.5) * (len(graphs) / count)
    return graphs[np.sort(by_class[places.astype(int)])]
