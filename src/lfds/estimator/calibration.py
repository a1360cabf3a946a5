"""Probabilities that mean what they say: one temperature, found on graphs not trained on."""

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax, softmax

_WIDEST = np.log(100.0)


def temperature(logits: NDArray[np.floating], y: NDArray[np.integer]) -> float:
    r"""Return the temperature under which the classes of some graphs are likeliest.

    .. math::
        \min_T \; -\sum_g \log \mathrm{softmax}(\mathbf{z}_g / T)_{y_g} + \tfrac12 (\log T)^2

    The last term is a weak belief in :math:`T = 1`: a few graphs that happen to be right must not
    make every answer a certainty.

    Args:
        logits: :math:`\mathbf{z}`, ``[graphs, classes]``, of graphs that were not trained on.
        y: The class of each.
    """
    if len(y) == 0:
        return 1.0
    exact = np.asarray(logits, dtype=np.float64)
    graph = np.arange(len(y))

    def cost(log_t: float) -> float:
        likely = log_softmax(exact / np.exp(log_t), axis=1)[graph, y]
        return float(-likely.sum() + 0.5 * log_t**2)

    found = minimize_scalar(cost, bounds=(-_WIDEST, _WIDEST), method="bounded")
    return float(np.exp(found.x))


def probabilities(logits: NDArray[np.floating], temperature: float) -> NDArray[np.float64]:
    """Return the probability of every class, rows that sum to one."""
    exact = np.asarray(logits, dtype=np.float64)
    shares: NDArray[np.float64] = softmax(exact / temperature, axis=1)
    return shares
