r"""How many parts of each type an object has: the only difference between the classes.

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

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from lfds.data.datasets.parts.settings import PartsSettings, Task

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
