"""Objects made of parts as a GraphSet: what each part looks like, and where its nodes are."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from lfds.data.datasets.parts.amounts import CLASSES, Amounts, amounts
from lfds.data.datasets.parts.settings import PartsSettings
from lfds.seeds import seed_for

if TYPE_CHECKING:
    from lfds.data.graphset import GraphSet


@dataclass(frozen=True, eq=False)
class PartsObject:
    """One object.

    Attributes:
        features: ``[nodes, 2 kinds]``; columns of left halves, then of right halves.
        edges: ``[2, edges]``, both directions.
        amounts: How many parts of each kind there are.
        which: The number of its class.
    """

    features: NDArray[np.float64]
    edges: NDArray[np.int64]
    amounts: Amounts
    which: int


def draw_object(
    settings: PartsSettings, number: int, which: int | None = None, *, larger: bool = False
) -> PartsObject:
    """Draw an object, whatever else is drawn.

    Args:
        settings: How.
        number: Which one.
        which: Its class; even numbers are of class 0 when left out. The same number in the other
            class is its twin.
        larger: Whether it is one of the larger ones.
    """
    scope = (settings.task, number, "larger" if larger else "trained on")
    which = number % 2 if which is None else which
    found = amounts(settings, _stream(settings, "amounts", *scope), which, larger=larger)
    # One look of each kind for the whole object: equal parts are equal to the last bit, and more
    # of them show in no maximum.
    noise = _stream(settings, "looks", *scope).normal(size=(2, settings.kinds, settings.kinds))
    left, right = np.eye(settings.kinds) + settings.noise * noise
    first, second = np.divmod(np.repeat(np.arange(found.size), found.ravel()), settings.kinds)
    order = _stream(settings, "order", *scope).permutation(len(first))
    halves = left[first[order]], right[second[order]]
    features, edges = (_set if settings.form == "set" else _graph)(*halves)
    return PartsObject(features, edges, found, which)


def parts(settings: PartsSettings) -> "GraphSet":
    """Draw a set of objects: those of the size that is trained on, then the larger ones, if any.

    >>> few = parts(PartsSettings(task="pairs", objects=4))
    >>> few.name, few.classes, few.y.tolist()
    ('parts-pairs-graph', ('paired with its own', 'paired with the next'), [0, 1, 0, 1])
    """
    sizes = (False, True) if settings.larger else (False,)
    drawn = [
        draw_object(settings, number, larger=larger)
        for larger in sizes
        for number in range(settings.objects)
    ]
    return _as_graphs(drawn, settings)


def _as_graphs(drawn: Sequence[PartsObject], settings: PartsSettings) -> "GraphSet":
    from lfds.data.graphset import GraphSet
    from lfds.data.readers.arrays import not_yet_encoded

    sizes = np.array([len(one.features) for one in drawn])
    starts = np.cumsum(sizes) - sizes
    graphs = GraphSet.from_arrays(
        sizes,
        np.concatenate([one.edges + start for one, start in zip(drawn, starts, strict=True)], 1),
        [one.which for one in drawn],
        attributes=np.concatenate([one.features for one in drawn]),
        name=settings.name,
    )
    provenance = {"format": "parts", **settings.model_dump(), **graphs.provenance}
    return replace(
        not_yet_encoded(graphs),
        classes=CLASSES[settings.task],
        provenance={key: str(value) for key, value in provenance.items()},
    )


def _set(
    left: NDArray[np.float64], right: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """One element a part, with both halves; nothing is joined."""
    return np.concatenate([left, right], axis=1), np.zeros((2, 0), dtype=np.int64)


def _graph(
    left: NDArray[np.float64], right: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Two nodes a part, one for each half, joined to each other and to nobody else."""
    count, kinds = left.shape
    features = np.zeros((count, 2, 2, kinds))
    features[:, 0, 0], features[:, 1, 1] = left, right
    ends = np.arange(2 * count)
    return features.reshape(2 * count, 2 * kinds), np.stack([ends, ends ^ 1])


def _stream(settings: PartsSettings, purpose: str, *scope: str | int) -> np.random.Generator:
    return np.random.default_rng(seed_for(settings.seed, "parts", *scope, purpose))
