"""A moving mean of the weights over the epochs, which is judged and kept in their place."""

from collections.abc import Mapping
from copy import deepcopy
from typing import final

from torch import Tensor

from lfds.nn import GraphNetwork


@final
class Averaged:
    r"""A moving mean of a model's weights over the epochs, as a model of its own.

    .. math::
        \mathbf{a}_t = \mathbf{a}_{t-1} + r_t (\mathbf{w}_t - \mathbf{a}_{t-1}), \qquad
        r_t = \max(1 - \rho, 1 / t)

    It is the plain mean at first, so that the first epoch does not weigh more than others.

    Single epochs jump about by more than their differences mean: on a hundred validation graphs the
    best of them is chosen for its luck. The mean does not jump. Its batch norms have to be told the
    statistics that go with it (:mod:`lfds.train.batchnorm`).

    Args:
        model: The model that is trained.
        kept: How much is kept of the mean so far, :math:`\rho`; with 0 the mean is the model.
    """

    def __init__(self, model: GraphNetwork, kept: float) -> None:
        self._trained, self._kept = model, kept
        self.model = deepcopy(model).requires_grad_(False) if kept else model
        self._taken = 0

    def take_in(self) -> None:
        """Move towards the weights that the model has now; the first time, take them over."""
        if self.model is self._trained:
            return
        self._taken += 1
        pace = max(1 - self._kept, 1 / self._taken)
        mean, now = self.model.state_dict(), self._trained.state_dict()
        for name, value in now.items():
            if value.is_floating_point():
                mean[name].lerp_(value, pace)
            else:  # the number of batches seen has no mean
                mean[name].copy_(value)

    def state(self) -> dict[str, Tensor]:
        """The mean so far; nothing before the first epoch, or where the mean is the model."""
        return self.model.state_dict() if self._taken else {}

    def restore(self, state: Mapping[str, Tensor], epochs: int) -> None:
        """Go on from what :meth:`state` was after so many epochs."""
        if state:
            self.model.load_state_dict(state)
            self._taken = epochs
