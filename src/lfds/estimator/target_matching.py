"""Which given targets are which targets of a model: by name, else by position."""

from collections.abc import Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from lfds.data.errors import DataError

_Number = TypeVar("_Number", np.int64, np.float64)


def target_places(
    wanted: Sequence[str], found: Sequence[str], *, some: bool = False
) -> tuple[int | None, ...]:
    """Return the place of each target of a model among given ones.

    Those of the same name belong together, exactly or in any case; the others are taken in their
    order. Names that are empty, or that occur twice, say nothing.

    Args:
        wanted: The names of the targets of a model.
        found: Those of given targets.
        some: Whether only some targets of the model may be given, by their names; the place of
            the others is ``None``.

    >>> target_places(["A", "B"], ["B", "A"]), target_places(["A", "B"], ["x", "y"])
    ((1, 0), (0, 1))
    >>> target_places(["A", "B", "C"], ["C", "A"], some=True)
    (1, None, 0)
    """
    named = _same_names(wanted, found)
    if len(found) == len(wanted):
        others = iter(sorted(set(range(len(found))) - set(named.values())))
        return tuple(named[k] if k in named else next(others) for k in range(len(wanted)))
    if not some or len(named) < len(found) or not found:
        raise DataError(
            f"has {len(found)} targets for each graph, and the model {len(wanted)}; pass one "
            "column for each, NaN where one is not known",
            source="y",
        )
    return tuple(named.get(k) for k in range(len(wanted)))


def as_in_model(
    table: NDArray[_Number], places: Sequence[int | None], missing: float
) -> NDArray[_Number]:
    """Return given targets ``[graphs, targets]`` in the order of a model.

    Args:
        table: The given targets.
        places: What :func:`target_places` returns.
        missing: What stands for a target that was not given.
    """
    arranged = np.full((len(table), len(places)), missing, dtype=table.dtype)
    for place, column in enumerate(places):
        if column is not None:
            arranged[:, place] = table[:, column]
    return arranged


def _same_names(wanted: Sequence[str], found: Sequence[str]) -> dict[int, int]:
    """Return the place in ``found`` of each name in ``wanted`` that is there."""
    pairs: dict[int, int] = {}
    for spelt in (str, str.lower):
        left = [spelt(name) if k not in pairs else "" for k, name in enumerate(wanted)]
        taken = set(pairs.values())
        there = [spelt(name) if k not in taken else "" for k, name in enumerate(found)]
        for k, name in enumerate(left):
            if name and left.count(name) == 1 and there.count(name) == 1:
                pairs[k] = there.index(name)
    return pairs
