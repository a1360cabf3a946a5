r"""Statistics of accuracies over folds: mean, spread, confidence interval, paired comparison.

Folds share most of their training graphs, so that their accuracies are not independent and the
usual standard error is too small. Following Nadeau and Bengio, the variance of the mean of
:math:`J` accuracies is taken as

.. math::
    \left( \frac{1}{J} + \frac{n_\text{test}}{n_\text{train}} \right) s^2,
    \qquad \frac{n_\text{test}}{n_\text{train}} = \frac{1}{\text{folds} - 1}.

If all :math:`J` differences of a comparison are equal, :math:`s = 0` and :math:`t` would be
infinite. The p value is then that of the sign test,

.. math::
    p = 2 \cdot 2^{-J} = 2^{1 - J},

or 1 if the difference is 0. Folds of several seeds test the same graphs again, so :math:`J` counts
the folds of one seed.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import copysign, inf, sqrt

import numpy as np
from scipy import stats

from lfds.results.record import IncompleteRunError, Rule
from lfds.results.rules import Scores

_ROUNDING = 1e-12


@dataclass(frozen=True)
class Summary:
    """Accuracy of one pooling on one dataset.

    Attributes:
        rule: How epochs were chosen.
        mean: Mean over all folds of all seeds.
        std: Standard deviation over the same folds.
        low: Lower end of the confidence interval of the mean.
        high: Upper end.
        folds: Number of folds per seed.
        seeds: Number of seeds.
    """

    rule: Rule
    mean: float
    std: float
    low: float
    high: float
    folds: int
    seeds: int

    def __str__(self) -> str:
        return f"{100 * self.mean:.1f} ± {100 * self.std:.1f}"


@dataclass(frozen=True)
class Comparison:
    """The paired comparison of two poolings over folds.

    Attributes:
        rule: How epochs were chosen.
        difference: Mean of first minus second.
        low: Lower end of its confidence interval.
        high: Upper end.
        t: The corrected t statistic; infinite if the difference is the same on all folds.
        p: Two-sided p value.
    """

    rule: Rule
    difference: float
    low: float
    high: float
    t: float
    p: float


def summarise(scores: Scores, rule: Rule, *, confidence: float = 0.95) -> Summary:
    """Return mean, standard deviation and confidence interval of accuracies ``[seeds, folds]``.

    The interval is clipped to 0 and 1.
    """
    seeds, folds = _checked(scores)
    mean, error = float(scores.mean()), _error_of_mean(scores)
    reach = _quantile(confidence, scores.size) * error
    std = float(scores.std(ddof=1))
    low, high = max(0.0, mean - reach), min(1.0, mean + reach)
    return Summary(rule, mean, std, low, high, folds, seeds)


def compare(first: Scores, second: Scores, rule: Rule, *, confidence: float = 0.95) -> Comparison:
    """Compare two poolings on the same folds of the same seeds, ``[seeds, folds]`` each."""
    if first.shape != second.shape:
        raise IncompleteRunError(
            f"a paired comparison needs the same folds, not {first.shape} and {second.shape}"
        )
    _checked(first)
    differences = first - second
    mean, error = float(differences.mean()), _error_of_mean(differences)
    reach = _quantile(confidence, differences.size) * error
    t = mean / error if error else (copysign(inf, mean) if abs(mean) > _ROUNDING else 0.0)
    p = float(2 * stats.t.sf(abs(t), differences.size - 1)) if error else _sign_test(differences)
    return Comparison(rule, mean, mean - reach, mean + reach, t, p)


def holm(p_values: Sequence[float]) -> tuple[float, ...]:
    """Return p values corrected for multiple comparisons (Holm), in the order given.

    >>> holm([0.01, 0.04, 0.03])
    (0.03, 0.06, 0.06)
    """
    corrected = [0.0] * len(p_values)
    so_far = 0.0
    for place, which in enumerate(np.argsort(p_values, kind="stable").tolist()):
        so_far = max(so_far, min(1.0, (len(p_values) - place) * p_values[which]))
        corrected[which] = so_far
    return tuple(corrected)


def _checked(scores: Scores) -> tuple[int, int]:
    seeds, folds = scores.shape
    if folds < 2:
        raise IncompleteRunError(f"statistics over folds need at least 2 of them, not {folds}")
    if not np.isfinite(scores).all():
        raise IncompleteRunError("an accuracy is not a number, so there is no mean")
    return seeds, folds


def _sign_test(equal: Scores) -> float:
    """Return the p value of differences that are all equal."""
    return 1.0 if abs(equal.mean()) <= _ROUNDING else 2.0 ** (1 - equal.shape[1])


def _error_of_mean(values: Scores) -> float:
    spread = float(values.std(ddof=1))
    # Rounding errors of equal values are no spread.
    if np.ptp(values) <= _ROUNDING:
        return 0.0
    return sqrt(1 / values.size + 1 / (values.shape[1] - 1)) * spread


def _quantile(confidence: float, count: int) -> float:
    return float(stats.t.ppf((1 + confidence) / 2, count - 1))
