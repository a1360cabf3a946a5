"""Some graphs set apart before training, to choose the epoch and the temperature on."""

import numpy as np
from numpy.typing import NDArray

from lfds.seeds import seed_for

Places = NDArray[np.int64]


def inner_parts(kinds: NDArray[np.integer], share: float, seed: int) -> tuple[Places, Places]:
    """Return the graphs to train on and those to watch, each class in proportion.

    One graph of each class, at least, is trained on; the watched part may be empty.

    Args:
        kinds: The class of each graph; the same number everywhere for quantities.
        share: Of the graphs that are watched, from 0 to below 1.
        seed: Root of the random stream.

    >>> train, watched = inner_parts(np.array([0, 1] * 10), 0.2, seed=0)
    >>> len(train), sorted((watched % 2).tolist())
    (16, [0, 0, 1, 1])
    """
    shuffled = np.random.default_rng(seed_for(seed, "estimator", "validation")).permutation(
        len(kinds)
    )
    by_class = shuffled[np.argsort(kinds[shuffled], kind="stable")]
    first = np.diff(kinds[by_class], prepend=-1) != 0
    free = by_class[~first]
    count = min(round(share * len(kinds)), len(free))
    # Evenly spaced among graphs sorted by class: each class gives in proportion.
    places = (np.arange(count) + 0.5) * (len(free) / max(count, 1))
    watched = np.zeros(len(kinds), dtype=bool)
    watched[free[places.astype(int)]] = True
    return np.flatnonzero(~watched), np.flatnonzero(watched)
