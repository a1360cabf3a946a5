"""The network of the comparison: base, pooling, head."""

from typing import final

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from lfds.config.network import NetworkSettings
from lfds.nn.input_checks import check_features, check_precision, check_ptr
from lfds.nn.models.backbone import Backbone
from lfds.nn.models.head import Head
from lfds.nn.models.poolings import make_pooling
from lfds.nn.ops.edges import Edges
from lfds.nn.ops.segment import ragged_max


@final
class GraphNetwork(nn.Module):
    r"""Classify graphs.

    Spatial layers :math:`\mathbf{X}_1, \mathbf{X}_2, \ldots`, a pooling of the last of them or of
    all, and a perceptron on

    .. math::
        [\max_i (\mathbf{x}_{1,i}, \mathbf{x}_{2,i}, \ldots), \mathrm{pool}(\mathbf{X})].

    A pooling that stands alone is all that the perceptron sees.

    Args:
        features: Width of the nodes.
        classes: Number of classes.
        settings: Everything else.
    """

    def __init__(self, features: int, classes: int, settings: NetworkSettings) -> None:
        super().__init__()
        check_counts(features, classes)
        self.features, self.classes, self.settings = features, classes, settings
        all_layers = settings.layers * settings.width
        self.base = Backbone(features, settings.width, settings.layers, settings.node_dropout)
        self.pool = make_pooling(settings)
        self.out_channels = self.pool.out_channels
        if not self.pool.replaces_readout:
            self.out_channels += all_layers
        self.head = Head(
            self.out_channels,
            settings.head_width,
            classes,
            dropout=settings.head_dropout,
            norm=settings.head_norm,
        )

    def forward(
        self, x: Float[Tensor, "nodes features"], ptr: Int[Tensor, "boundaries"], edges: Edges
    ) -> Float[Tensor, "boundaries-1 classes"]:
        logits: Tensor = self.head(self.represent(x, ptr, edges))
        return logits

    def represent(
        self, x: Float[Tensor, "nodes features"], ptr: Int[Tensor, "boundaries"], edges: Edges
    ) -> Float[Tensor, "boundaries-1 out_channels"]:
        """The vector of every graph that the head decides by."""
        check_features(x, self.features)
        check_precision(x, self.base.layers[0].transforms.weight)
        check_ptr(ptr, x.shape[0])
        everything, last = self.base(x, edges)
        pooled: Tensor = self.pool(everything if self.pool.uses_all_layers else last, ptr, edges)
        if self.pool.replaces_readout:
            return pooled
        return torch.cat([ragged_max(everything, ptr), pooled], dim=1)

    def penalty(self) -> Float[Tensor, ""]:
        """What to add to the loss of the batch of the last call; zero for most poolings."""
        return self.pool.penalty()


def check_counts(features: int, classes: int) -> None:
    """There is something to see, and something to tell apart."""
    if features < 1:
        raise ValueError(
            f"features must be at least 1, got {features}; nodes without features need an "
            "encoding: their degree, or random-walk return probabilities"
        )
    if classes < 1:
        raise ValueError(f"classes must be at least 1, got {classes}")
