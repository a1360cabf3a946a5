"""The weights of an epoch blended with those of the epochs before, which judges and keeps best."""

from collections.abc import Mapping
from copy import deepcopy
from typing import final

from torch import Tensor

from lfds.nn import GraphClassifier


@final
class Averaged:
    r"""A moving mean of a model's weights over the epochs, as a model of its own.

    .. math::
        \mathbf{a}_1 = \mathbf{w}_1, \qquad
        \mathbf{a}_t = \rho \, \mathbf{a}_{t-1} + (1 - \rho) \, \mathbf{w}_t

    Single epochs jump about by more than their differences mean: on a hundred validation graphs the
    best of them is chosen for its luck. The mean does not jump. Its batch norms have to be told the
    statistics that go with it (:mod:`lfds.experiment.norm_statistics`).

    Args:
        model: The model that is trained.
        kept: How much is kept of the mean so far, :math:`\rho`; with 0 the mean is the model.
    """

    def __init__(self, model: GraphClassifier, kept: float) -> None:
        self._trained, self._kept = model, kept
        self.model = deepcopy(model).requires_grad_(False) if kept else model
        self._begun = False

    def take_in(self) -> None:
        """Move towards the weights that the model has now; the first time, take them over."""
        if self.model is self._trained:
            return
        mean, now = self.model.state_dict(), self._trained.state_dict()
        for name, value in now.items():
            if self._begun and value.is_floating_point():
                mean[name].lerp_(value, 1 - self._kept)
            else:  # the number of batches seen has no mean
                mean[name].copy_(value)
        self._begun = True

    def state(self) -> dict[str, Tensor]:
        """The mean so far; nothing before the first epoch, or where the mean is the model."""
        return self.model.state_dict() if self._begun else {}

    def restore(self, state: Mapping[str, Tensor]) -> None:
        """Go on from what :meth:`state` was."""
        if state:
            self.model.load_state_dict(state)
            self._begun = True
