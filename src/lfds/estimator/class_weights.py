"""How often a graph of each class counts in training."""

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor

from lfds.estimator.targets import Labels, positions


def class_weights(
    asked: Literal["balanced"] | Mapping[Any, float] | None, classes: Labels, y: Tensor
) -> Tensor | None:
    r"""Return how often a graph of each class counts.

    .. math::
        w_c = \frac{n}{k \, n_c}

    for ``"balanced"``, with n graphs of k classes: every class counts the same in total.

    Args:
        asked: ``None``, ``"balanced"``, or a weight for each label; labels left out count once.
        classes: The labels, rising.
        y: Their places, of every graph.
    """
    if asked is None:
        return None
    if isinstance(asked, str):
        counts = torch.bincount(y, minlength=len(classes)).clamp(min=1)
        return (len(y) / (len(classes) * counts)).float()
    weights = torch.ones(len(classes))
    for label, weight in asked.items():
        weights[positions(np.array([label]), classes, source="class_weight")] = weight
    return weights
