"""Several networks as one: their predictions are averaged, not their outputs."""

import math
from collections.abc import Sequence
from typing import Literal, final

import torch
from torch import Tensor, nn
from torch.nn.functional import logsigmoid

from lfds.nn.models.network import GraphNetwork

Meaning = Literal["classes", "labels", "amounts"]
"""What outputs are: logits of classes, logits of several targets with two classes, or values."""


def average_outputs(outputs: Tensor, meaning: Meaning) -> Tensor:
    r"""Return the outputs of an ensemble, which mean what the outputs of one network mean.

    .. math::
        \text{classes:} \quad z_c &= \log \frac1K \sum_k \mathrm{softmax}(\mathbf{z}_k)_c \\
        \text{labels:} \quad z &= \log \frac{\sum_k \sigma(z_k)}{\sum_k \sigma(-z_k)} \\
        \text{amounts:} \quad z &= \frac1K \sum_k z_k

    so that probabilities are averaged: ``softmax`` and ``sigmoid`` of the result are their means.
    The outputs of a single network are returned unchanged.

    Args:
        outputs: :math:`z_k` of K members, ``[members, graphs, outputs]``.
        meaning: What they are.
    """
    if len(outputs) == 1:
        return outputs[0]
    if meaning == "amounts":
        return outputs.mean(dim=0)
    if meaning == "classes":
        return outputs.log_softmax(dim=2).logsumexp(dim=0) - math.log(len(outputs))
    return logsigmoid(outputs).logsumexp(dim=0) - logsigmoid(-outputs).logsumexp(dim=0)


@final
class Ensemble(nn.Module):
    """Networks whose predictions are averaged.

    Args:
        members: Networks with the same inputs and outputs.
        meaning: What the outputs are.
    """

    def __init__(self, members: Sequence[GraphNetwork], meaning: Meaning = "classes") -> None:
        super().__init__()
        self.members = nn.ModuleList(members)
        self.meaning = meaning

    def forward(self, *inputs: object) -> Tensor:
        """Return the averaged outputs for a batch, in the arguments of one network."""
        outputs = torch.stack([member(*inputs) for member in self.members])
        return average_outputs(outputs, self.meaning)
