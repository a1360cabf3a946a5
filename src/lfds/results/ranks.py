r"""Mean ranks of poolings over datasets, and their critical difference (Friedman, Nemenyi).

With :math:`k` poolings on :math:`N` datasets, two mean ranks differ significantly if they are at
least the critical difference apart:

.. math::
    CD = \frac{q_\alpha}{\sqrt{2}} \sqrt{\frac{k (k + 1)}{6 N}},

:math:`q_\alpha` being the studentised range of :math:`k` means with infinite degrees of freedom.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import sqrt

import numpy as np
from scipy import stats

from lfds.results.record import IncompleteRunError, Rule


@dataclass(frozen=True)
class Ranking:
    """Mean ranks over datasets; 1 is best.

    Attributes:
        rule: How epochs were chosen.
        ranks: Mean rank of each pooling, best first.
        critical_difference: Smallest significant difference of two mean ranks.
        friedman_p: p value of Friedman's test.
        datasets: Number of datasets.
        groups: Largest sets of adjacent poolings that do not differ significantly.
    """

    rule: Rule
    ranks: Mapping[str, float]
    critical_difference: float
    friedman_p: float
    datasets: int
    groups: tuple[tuple[str, ...], ...]


def rank(means: Mapping[str, Mapping[str, float]], rule: Rule, *, alpha: float = 0.05) -> Ranking:
    """Rank poolings by their mean accuracies, given as ``means[pool][dataset]``.

    Tied poolings get the mean of their ranks.
    """
    pools = list(means)
    datasets = list(next(iter(means.values()), {}))
    if len(pools) < 2 or len(datasets) < 2:
        raise IncompleteRunError(
            f"ranks need at least 2 poolings on 2 datasets, not {len(pools)} on {len(datasets)}"
        )
    for pool, row in means.items():
        if set(row) != set(datasets):
            raise IncompleteRunError(f"ranks need every pooling on every dataset; {pool} is not")
    accuracy = np.array([[means[pool][dataset] for pool in pools] for dataset in datasets])
    places = stats.rankdata(-accuracy, axis=1)
    mean_ranks = dict(zip(pools, places.mean(axis=0).tolist(), strict=True))
    ordered = {pool: mean_ranks[pool] for pool in sorted(pools, key=lambda pool: mean_ranks[pool])}
    distance = critical_difference(len(pools), len(datasets), alpha)
    friedman = _friedman(places)
    return Ranking(rule, ordered, distance, friedman, len(datasets), _groups(ordered, distance))


def critical_difference(pools: int, datasets: int, alpha: float = 0.05) -> float:
    """Return the smallest significant difference of two mean ranks.

    >>> round(critical_difference(4, 14), 2)
    1.25
    """
    q = float(stats.studentized_range.ppf(1 - alpha, pools, np.inf)) / sqrt(2)
    return q * sqrt(pools * (pools + 1) / (6 * datasets))


def _friedman(places: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> float:
    r"""Return the p value of Friedman's test, corrected for ties.

    .. math::
        \chi^2 = \frac{N \sum_j (\bar r_j - \bar r)^2}
                      {\sum_{ij} (r_{ij} - \bar r)^2 \,/\, N (k - 1)}
    """
    datasets, pools = places.shape
    centre = (pools + 1) / 2
    within = float(((places - centre) ** 2).sum()) / (datasets * (pools - 1))
    if within == 0:
        return 1.0  # all poolings tie everywhere
    between = datasets * float(((places.mean(axis=0) - centre) ** 2).sum())
    return float(stats.chi2.sf(between / within, pools - 1))


def _groups(ranks: Mapping[str, float], distance: float) -> tuple[tuple[str, ...], ...]:
    pools = list(ranks)
    found: list[tuple[str, ...]] = []
    for first, pool in enumerate(pools):
        near = tuple(other for other in pools[first:] if ranks[other] - ranks[pool] < distance)
        if len(near) > 1 and not (found and set(near) <= set(found[-1])):
            found.append(near)
    return tuple(found)
