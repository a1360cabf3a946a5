r"""Generated objects made of parts, on which maximum and mean pooling must fail.

An object is a multiset of parts; a part is a pair (a, b) of a left and a right half, and
:math:`m_{ab}` is its multiplicity. The features :math:`\varphi(a, b)` that a network computes of a
part before pooling cannot depend on the other parts: elements of a set are independent, and parts
of a graph are not connected. So for every :math:`\varphi`,

- the **maximum** :math:`\max_{m_{ab} > 0} \varphi(a, b)` depends only on which parts occur;
- the **mean** :math:`\sum m_{ab} \varphi(a, b) / \sum m_{ab}` depends only on their proportions;
  so does every mean with weights normalized over the object, such as attention;
- sums of the input features, :math:`\sum m_{ab} (u_a, v_b)`, depend only on the row and column
  sums of m.

Each object has a *twin* of the other class, drawn from the same random streams. Twins have by
construction

- ``count``: the same parts in the same proportions: maximum and mean are equal;
- ``share``: the same parts, equally many in total: the maximum is equal;
- ``pairs``: the same parts, equally many, each half equally often: the maximum, and sums and means
  of input features, are equal.

Twins are equally likely, so whatever is equal for both has the same distribution in both classes,
and no classifier that sees nothing else is right more than half of the time.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, Self

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, NonNegativeFloat, PositiveInt, model_validator

from lfds.seeds import seed_for

if TYPE_CHECKING:
    from lfds.data.graphset import GraphSet
    from lfds.data.splits import Split


Task = Literal["count", "share", "pairs"]
Form = Literal["graph", "set"]


class PartsSettings(BaseModel):
    """Which objects are generated, and how hard they are to classify.

    Attributes:
        task: What distinguishes the two classes: ``count``, the number of parts; ``share``, their
            proportion; ``pairs``, which halves of parts occur together.
        form: A part is two connected nodes of a ``graph``, or one element of a ``set``.
        objects: Number of objects of the size used for training.
        larger: Whether as many larger objects follow.
        times: How many times larger those are.
        part_types: Number of types of left halves, and of right halves; more are harder.
        parts: Least number of parts of an object.
        gap: How far apart the classes are, from almost 0 to 1; less is harder.
        noise: Standard deviation of what every object adds to the features of each part type;
            more is harder.
        seed: Random seed.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)
    task: Task
    form: Form = "graph"
    objects: PositiveInt = 200
    larger: bool = False
    times: int = Field(default=4, ge=2)
    # Provenance of earlier versions calls it kinds.
    part_types: int = Field(default=4, ge=2, serialization_alias="kinds")
    parts: PositiveInt = 16
    gap: float = Field(default=0.5, gt=0.0, le=1.0)
    noise: NonNegativeFloat = 0.1
    seed: int = 0

    @model_validator(mode="after")
    def _enough_parts(self) -> Self:
        if self.parts < 2 * self.part_types:
            raise ValueError(
                f"every type occurs in every object: part_types={self.part_types} needs at least "
                f"{2 * self.part_types} parts, not {self.parts}"
            )
        return self

    @property
    def name(self) -> str:
        """Name of the dataset."""
        return f"parts-{self.task}-{self.form}{'-larger' if self.larger else ''}"


Counts = NDArray[np.int64]
"""``[types, types]``: number of parts with each left and right half."""

CLASSES: Mapping[Task, tuple[str, str]] = {
    "count": ("few", "many"),
    "share": ("more of the first", "more of the second"),
    "pairs": ("paired with its own", "paired with the next"),
}
"""The two classes of each task, in the order of their indices."""


def draw_counts(
    settings: PartsSettings, rng: Generator, label: int, *, larger: bool = False
) -> Counts:
    """Return the number of parts of each type of an object of class ``label``.

    Generators in the same state give twins.
    """
    return _TASKS[settings.task](settings, rng, label, settings.times if larger else 1)


def _count(settings: PartsSettings, rng: Generator, label: int, times: int) -> Counts:
    """Few: from n to (2 - gap) n parts; many: each part twice, or 2 ``times`` as often."""
    most = int((2 - settings.gap) * settings.parts)
    total = int(rng.integers(settings.parts, max(most, settings.parts) + 1))
    once = np.diag(_partition(rng, total, settings.part_types))
    return once * (2 * times if label else 1)


def _share(settings: PartsSettings, rng: Generator, label: int, times: int) -> Counts:
    """Two types divide half of the parts in the ratio 1 + gap : 1 - gap."""
    total = times * int(rng.integers(settings.parts, 2 * settings.parts + 1))
    divided = max(3, total // 2)
    larger = min(divided - 1, max(divided // 2 + 1, round(divided * (1 + settings.gap) / 2)))
    two = [larger, divided - larger]
    others = _partition(rng, total - divided, settings.part_types - 2)
    return np.diag(np.concatenate([two[::-1] if label else two, others]))


def _pairs(settings: PartsSettings, rng: Generator, label: int, times: int) -> Counts:
    """Every pair occurs; each left half more often with its own, or with the next, right half.

    Both m = r + e I and m = r + e (I shifted by one column) have row and column sums k r + e.
    """
    types = settings.part_types
    each = times * int(rng.integers(1, 3))
    extra = max(1, round(types * settings.gap * each))
    return each + extra * np.roll(np.eye(types, dtype=np.int64), label, axis=1)


def _partition(rng: Generator, total: int, types: int) -> Counts:
    """Split a total at random into ``types`` counts of at least one."""
    if types == 0:
        return np.zeros(0, dtype=np.int64)
    return 1 + rng.multinomial(total - types, np.full(types, 1 / types)).astype(np.int64)


_TASKS: Mapping[Task, Callable[[PartsSettings, Generator, int, int], Counts]] = {
    "count": _count,
    "share": _share,
    "pairs": _pairs,
}


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
