"""The learning rate of each epoch, a pure function of the epoch."""

from collections.abc import Callable, Mapping
from math import cos, pi

from lfds.config.training import Decay


def learning_rate(decay: Decay, start: float, end: float, epoch: int, epochs: int) -> float:
    """Return the learning rate of ``epoch``, counted from 0; the last of ``epochs`` has ``end``.

    >>> [round(learning_rate("exponential", 0.01, 0.0001, epoch, 3), 6) for epoch in range(3)]
    [0.01, 0.001, 0.0001]
    """
    if epochs == 1:
        return start
    return _SCHEDULES[decay](start, end, epoch / (epochs - 1))


def _exponential(start: float, end: float, fraction: float) -> float:
    return float(start * (end / start) ** fraction)


def _cosine(start: float, end: float, fraction: float) -> float:
    return end + (start - end) * (1 + cos(pi * fraction)) / 2


def _linear(start: float, end: float, fraction: float) -> float:
    return start + (end - start) * fraction


_SCHEDULES: Mapping[Decay, Callable[[float, float, float], float]] = {
    "exponential": _exponential,
    "cosine": _cosine,
    "linear": _linear,
}
