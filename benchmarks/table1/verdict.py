"""Whether an accuracy of the paper is met, and under which rules."""

from collections.abc import Mapping
from typing import Literal

from lfds.report.paper import Published
from lfds.results.record import Rule

Side = Literal["within", "above", "below"]

# The paper's numbers have one digit after the point; a difference of just one standard deviation
# must not fail by the rounding of binary fractions.
_ROUNDING = 1e-9


def side_of(ours: float, theirs: Published) -> Side:
    """Return whether a mean in percent is within the paper's mean ± its standard deviation.

    >>> side_of(78.1, Published(74.3, 3.8)), side_of(78.2, Published(74.3, 3.8))
    ('within', 'above')
    """
    ahead = ours - theirs.mean
    if abs(ahead) <= theirs.std + _ROUNDING:
        return "within"
    return "above" if ahead > 0 else "below"


def verdict(ours: Mapping[Rule, float], theirs: Published) -> str:
    """Return what means in percent, by rule, say of an accuracy of the paper.

    >>> verdict({"last": 60.0, "fold-best": 75.0}, Published(74.3, 3.8))
    'within one standard deviation under fold-best'
    >>> verdict({"last": 60.0, "fold-best": 70.4}, Published(74.3, 3.8))
    'below under every rule'
    """
    sides: dict[Side, list[Rule]] = {}
    for rule, mean in ours.items():
        sides.setdefault(side_of(mean, theirs), []).append(rule)
    if "within" in sides:
        return f"within one standard deviation under {', '.join(sides['within'])}"
    if len(sides) == 1:
        return f"{next(iter(sides))} under every rule"
    return "; ".join(f"{side} under {', '.join(rules)}" for side, rules in sides.items())
