"""The learning rate of each epoch, from the first to the last, without memory."""

from collections.abc import Callable, Mapping
from math import cos, pi

from lfds.config.training import Decay


def learning_rate(decay: Decay, start: float, end: float, epoch: int, epochs: int) -> float:
    """Return the learning rate of ``epoch``, counted from 0, on the way from start to end.

    >>> [round(learning_rate("exponential", 0.01, 0.0001, epoch, 3), 6) for epoch in range(3)]
    [0.01, 0.001, 0.0001]
    """
    if epochs == 1:
        return start
    return _SHAPES[decay](start, end, epoch / (epochs - 1))


def _exponential(start: float, end: float, way: float) -> float:
    return float(start * (end / start) ** way)


def _cosine(start: float, end: float, way: float) -> float:
    return end + (start - end) * (1 + cos(pi * way)) / 2


def _linear(start: float, end: float, way: float) -> float:
    return start + (end - start) * way


_SHAPES: Mapping[Decay, Callable[[float, float, float], float]] = {
    "exponential": _exponential,
    "cosine": _cosine,
    "linear": _linear,
}
