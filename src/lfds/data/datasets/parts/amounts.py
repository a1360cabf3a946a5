r"""How many parts of each kind an object has: the only thing in which its class shows.

An object is a multiset of parts; a part is a pair (a, b) of a left and a right half, and
:math:`m_{ab}` says how often it occurs. What a network computes of a part before it pools,
:math:`\varphi(a, b)`, cannot depend on the other parts: elements of a set do not talk, and parts
of a graph are not joined. So whatever :math:`\varphi` is,

- the **maximum** :math:`\max_{m_{ab} > 0} \varphi(a, b)` depends on which parts occur, no more;
- the **mean** :math:`\sum m_{ab} \varphi(a, b) / \sum m_{ab}` depends on their proportions, no
  more; so does every mean with weights that are normed over the object, such as attention;
- sums of the bare features, :math:`\sum m_{ab} (u_a, v_b)`, depend on the row and column sums
  of m, no more.

Each object has a *twin*: drawn from the same streams, of the other class. Twins have by
construction

- ``count``: the same parts in the same proportions: neither maximum nor mean tells them apart;
- ``share``: the same parts, equally many in all: the maximum does not tell them apart;
- ``pairs``: the same parts, equally many, each half as often: neither the maximum nor sums and
  means of bare features tell them apart.

As twins are equally likely, what is the same for both has the same distribution in both classes,
and no classifier that sees nothing else is right more than half of the time.
"""

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from lfds.data.datasets.parts.settings import PartsSettings
from lfds.data.datasets.parts.tasks import Task

Amounts = NDArray[np.int64]
"""``[kinds, kinds]``: parts with each left and right half."""

CLASSES: Mapping[Task, tuple[str, str]] = {
    "count": ("few", "many"),
    "share": ("more of the first", "more of the second"),
    "pairs": ("paired with its own", "paired with the next"),
}
"""The two classes of each task, in the order of their numbers."""


def amounts(
    settings: PartsSettings, rng: np.random.Generator, which: int, *, larger: bool = False
) -> Amounts:
    """Return how many parts of each kind an object of class ``which`` has.

    Twins are what comes of generators in the same state.
    """
    return _TASKS[settings.task](settings, rng, which, settings.times if larger else 1)


def told(settings: PartsSettings, found: Amounts) -> int:
    """Return the class of an object from its amounts: the rule that is always right."""
    if settings.task == "count":
        return int(found.sum() >= 2 * settings.parts)
    if settings.task == "share":
        return int(found[1, 1] > found[0, 0])
    own, following = np.trace(found), np.trace(np.roll(found, -1, axis=1))
    return int(following > own)


def _count(settings: PartsSettings, rng: np.random.Generator, which: int, times: int) -> Amounts:
    """Few have from n to (2 - gap) n parts; many have every part twice, or 2 ``times`` as often."""
    most = int((2 - settings.gap) * settings.parts)
    total = int(rng.integers(settings.parts, max(most, settings.parts) + 1))
    once = np.diag(_spread(rng, total, settings.kinds))
    return once * (2 * times if which else 1)


def _share(settings: PartsSettings, rng: np.random.Generator, which: int, times: int) -> Amounts:
    """Two kinds contest half of the parts, in the ratio 1 + gap : 1 - gap."""
    total = times * int(rng.integers(settings.parts, 2 * settings.parts + 1))
    contested = max(3, total // 2)
    winner = min(contested - 1, max(contested // 2 + 1, round(contested * (1 + settings.gap) / 2)))
    two = [winner, contested - winner]
    others = _spread(rng, total - contested, settings.kinds - 2)
    return np.diag(np.concatenate([two[::-1] if which else two, others]))


def _pairs(settings: PartsSettings, rng: np.random.Generator, which: int, times: int) -> Amounts:
    """Every pair occurs, and each left half more often with its own, or with the next, right half.

    Both m = r + e I and m = r + e (I moved by one column) have all row and column sums k r + e.
    """
    kinds = settings.kinds
    each = times * int(rng.integers(1, 3))
    extra = max(1, round(kinds * settings.gap * each))
    return each + extra * np.roll(np.eye(kinds, dtype=np.int64), which, axis=1)


def _spread(rng: np.random.Generator, total: int, kinds: int) -> Amounts:
    """Share a total out over kinds at random, at least one each."""
    if kinds == 0:
        return np.zeros(0, dtype=np.int64)
    return 1 + rng.multinomial(total - kinds, np.full(kinds, 1 / kinds)).astype(np.int64)


_TASKS: Mapping[Task, Callable[[PartsSettings, np.random.Generator, int, int], Amounts]] = {
    "count": _count,
    "share": _share,
    "pairs": _pairs,
}
