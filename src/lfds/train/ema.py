"""Exponential moving average (EMA) of the weights over the epochs."""

from collections.abc import Mapping
from copy import deepcopy
from typing import final

from torch import Tensor

from lfds.nn import GraphNetwork


@final
class EMA:
    r"""Exponential moving average of a model's weights over the epochs, as a model of its own.

    .. math::
        \mathbf{a}_t = \mathbf{a}_{t-1} + r_t (\mathbf{w}_t - \mathbf{a}_{t-1}), \qquad
        r_t = \max(1 - \rho, 1 / t)

    The first epochs are averaged with equal weights, so that the very first does not dominate.

    The validation score of single epochs is noisy: the best of many epochs on a hundred graphs is
    best by chance. That of the average varies less. Its batch-norm statistics have to be
    recalibrated (:mod:`lfds.train.batchnorm`).

    Args:
        model: The model that is trained.
        decay: How much of the average is kept in each epoch, :math:`\rho`; with 0 the average is
            the model itself.
    """

    def __init__(self, model: GraphNetwork, decay: float) -> None:
        self._trained, self._decay = model, decay
        self.model = deepcopy(model).requires_grad_(False) if decay else model
        self._updates = 0

    def update(self) -> None:
        """Move the average towards the present weights; the first time, copy them."""
        if self.model is self._trained:
            return
        self._updates += 1
        rate = max(1 - self._decay, 1 / self._updates)
        average = self.model.state_dict()
        for name, value in self._trained.state_dict().items():
            if value.is_floating_point():
                average[name].lerp_(value, rate)
            else:  # the number of batches seen has no average
                average[name].copy_(value)

    def state_dict(self) -> dict[str, Tensor]:
        """Return the averaged weights; empty before the first update or without averaging."""
        return self.model.state_dict() if self._updates else {}

    def load_state_dict(self, state: Mapping[str, Tensor], updates: int) -> None:
        """Continue from what :meth:`state_dict` returned after so many updates."""
        if state:
            self.model.load_state_dict(state)
            self._updates = updates
