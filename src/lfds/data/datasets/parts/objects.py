"""Objects made of parts as a GraphSet, and folds that train on small and test on large ones."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from lfds.data.datasets.parts.counts import CLASSES, Counts, draw_counts
from lfds.data.datasets.parts.settings import PartsSettings
from lfds.seeds import seed_for

if TYPE_CHECKING:
    from lfds.data.graphset import GraphSet
    from lfds.data.splits import Split

_Nodes = tuple[NDArray[np.float64], NDArray[np.int64]]


@dataclass(frozen=True, eq=False)
class PartsObject:
    """One object.

    Attributes:
        features: ``[nodes, 2 types]``; columns of left halves, then of right halves.
        edges: ``[2, edges]``, both directions.
        counts: Number of parts of each type.
        label: Index of its class.
    """

    features: NDArray[np.float64]
    edges: NDArray[np.int64]
    counts: Counts
    label: int


def draw_object(
    settings: PartsSettings, number: int, label: int | None = None, *, larger: bool = False
) -> PartsObject:
    """Generate one object, independently of the others.

    Args:
        settings: Settings of the dataset.
        number: Number of the object.
        label: Its class; ``None`` gives even numbers class 0 and odd ones class 1. The same number
            in the other class is its twin.
        larger: Whether it is one of the larger objects.
    """
    # The words below name random streams: other words would give other objects.
    scope = (settings.task, number, "larger" if larger else "trained on")
    label = number % 2 if label is None else label
    counts = draw_counts(settings, _stream(settings, "amounts", *scope), label, larger=larger)
    # Equal parts of an object have equal features, so that more of them change no maximum.
    types = settings.part_types
    noise = _stream(settings, "looks", *scope).normal(size=(2, types, types))
    left, right = np.eye(types) + settings.noise * noise
    first, second = np.divmod(np.repeat(np.arange(counts.size), counts.ravel()), types)
    order = _stream(settings, "order", *scope).permutation(len(first))
    build = _set if settings.form == "set" else _graph
    features, edges = build(left[first[order]], right[second[order]])
    return PartsObject(features, edges, counts, label)


def parts(settings: PartsSettings) -> "GraphSet":
    """Generate a dataset: objects of the size used for training, then the larger ones, if any.

    >>> few = parts(PartsSettings(task="pairs", objects=4))
    >>> few.name, few.classes, few.y.tolist()
    ('parts-pairs-graph', ('paired with its own', 'paired with the next'), [0, 1, 0, 1])
    """
    from lfds.data.graphset import GraphSet
    from lfds.data.readers.arrays import without_features

    drawn = [
        draw_object(settings, number, larger=larger)
        for larger in ((False, True) if settings.larger else (False,))
        for number in range(settings.objects)
    ]
    sizes = np.array([len(one.features) for one in drawn])
    starts = np.cumsum(sizes) - sizes
    graphs = GraphSet.from_arrays(
        sizes,
        np.concatenate([one.edges + start for one, start in zip(drawn, starts, strict=True)], 1),
        [one.label for one in drawn],
        attributes=np.concatenate([one.features for one in drawn]),
        name=settings.name,
    )
    provenance = {"format": "parts", **settings.model_dump(by_alias=True), **graphs.provenance}
    return replace(
        without_features(graphs),
        classes=CLASSES[settings.task],
        provenance={key: str(value) for key, value in provenance.items()},
    )


def train_small_test_large(
    graphs: "GraphSet", *, folds: int, seed: int, validation: float
) -> "tuple[Split, ...]":
    """Split the first half of a set; test the larger objects with the numbers of each test part.

    Training and validation parts are those of the same set without larger objects; graphs of the
    test part of the first half are not used in the fold.
    """
    from lfds.data.splits import Split, stratified_folds

    half = len(graphs) // 2
    small = stratified_folds(graphs.y[:half].numpy(), folds=folds, seed=seed, validation=validation)
    return tuple(
        Split(fold.train, fold.validation, tuple(half + graph for graph in fold.test))
        for fold in small
    )


def _set(left: NDArray[np.float64], right: NDArray[np.float64]) -> _Nodes:
    """One element per part, with both halves; no edges."""
    return np.concatenate([left, right], axis=1), np.zeros((2, 0), dtype=np.int64)


def _graph(left: NDArray[np.float64], right: NDArray[np.float64]) -> _Nodes:
    """Two nodes per part, one for each half, connected to each other only."""
    count, types = left.shape
    features = np.zeros((count, 2, 2, types))
    features[:, 0, 0], features[:, 1, 1] = left, right
    ends = np.arange(2 * count)
    return features.reshape(2 * count, 2 * types), np.stack([ends, ends ^ 1])


def _stream(settings: PartsSettings, purpose: str, *scope: str | int) -> Generator:
    return np.random.default_rng(seed_for(settings.seed, "parts", *scope, purpose))
