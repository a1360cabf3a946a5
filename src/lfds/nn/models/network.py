"""The network of the comparison: base, pooling, head."""

from typing import final

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from lfds.config.network import NetworkSettings
from lfds.config.registry import BASELINES, BASES, entry_of
from lfds.nn.baselines.base import GraphPooling
from lfds.nn.input_checks import (
    check_count,
    check_edge_features,
    check_features,
    check_precision,
    check_ptr,
)
from lfds.nn.models.backbone import Backbone
from lfds.nn.models.head import Head
from lfds.nn.normalization import ChannelNorm
from lfds.nn.ops.edges import Edges


@final
class GraphNetwork(nn.Module):
    r"""Classify graphs, or regress values of them.

    Layers of the base :math:`\mathbf{X}_1, \mathbf{X}_2, \ldots`, a pooling of the last of them or
    of all, and a perceptron on

    .. math::
        [\mathrm{flat}(\mathbf{X}_1, \mathbf{X}_2, \ldots), \mathrm{pool}(\mathbf{X})].

    The flat readout of all layers is their maximum over the nodes, as in the paper, or the
    statistics of the pooling ``stats``. With a pooling that replaces it, the vector of the pooling
    is all that the perceptron sees. With ``vector_norm`` the vector is normalized in the same way
    for every pooling, so that a comparison of poolings is not one of their scales.

    Args:
        in_channels: Width of the nodes.
        out_channels: Number of classes, or of values.
        settings: Everything else.
        edge_channels: Number of features of an edge, ``features`` of :class:`Edges`; 0 if they have
            none.

    Attributes:
        vector_channels: Length of the vector that the head sees.
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        settings: NetworkSettings,
        *,
        edge_channels: int = 0,
    ) -> None:
        super().__init__()
        check_widths(in_channels, out_channels)
        check_count("edge_channels", edge_channels, least=0)
        self.in_channels, self.out_channels, self.settings = in_channels, out_channels, settings
        self.edge_channels = edge_channels
        if edge_channels and not BASES[settings.base].uses_edges:
            raise ValueError(
                f"the base {settings.base!r} does not use features of edges, got "
                f"edge_channels={edge_channels}; use edge_channels=0 or another base"
            )
        self.base = Backbone(in_channels, settings, edge_channels)
        all_channels = settings.layers * settings.width
        self.pool: GraphPooling = entry_of(settings.pool).load().from_settings(settings)
        # Latent structures have a map of their own, see LFDSPool.
        maps = settings.baseline_layers == "all" and settings.layers > 1
        self.layer_map: nn.Linear | None = None
        if maps and not settings.structures and not self.pool.uses_all_layers:
            self.layer_map = nn.Linear(all_channels, settings.width, bias=False)
        self.vector_channels = self.pool.out_channels
        if not self.pool.replaces_readout:
            self.flat: GraphPooling = BASELINES[settings.flat_readout].load()(all_channels)
            self.vector_channels += self.flat.out_channels
        self.vector_norm = ChannelNorm(self.vector_channels) if settings.vector_norm else None
        self.head = Head(
            self.vector_channels,
            settings.head_width,
            out_channels,
            dropout=settings.head_dropout,
            norm=settings.head_norm,
        )

    def forward(
        self, x: Float[Tensor, "nodes in_channels"], ptr: Int[Tensor, "boundaries"], edges: Edges
    ) -> Float[Tensor, "boundaries-1 out_channels"]:
        outputs: Tensor = self.head(self.represent(x, ptr, edges))
        return outputs

    def represent(
        self, x: Float[Tensor, "nodes in_channels"], ptr: Int[Tensor, "boundaries"], edges: Edges
    ) -> Float[Tensor, "boundaries-1 vector_channels"]:
        """The vector of every graph that the head sees."""
        check_features(x, self.in_channels)
        check_precision(x, self.base.first_weight)
        check_ptr(ptr, x.shape[0])
        check_edge_features(edges.features, self.edge_channels, x)
        everything, last = self.base(x, edges, ptr)
        return self.pooled(everything, last, ptr, edges)

    def pooled(
        self,
        everything: Float[Tensor, "nodes all_channels"],
        last: Float[Tensor, "nodes width"],
        ptr: Int[Tensor, "boundaries"],
        edges: Edges | None,
    ) -> Float[Tensor, "boundaries-1 vector_channels"]:
        """The vector of every graph, from the outputs of all layers of the base and of the last.

        Latent structures and flat poolings need no edges.
        """
        nodes = last
        if self.pool.uses_all_layers:
            nodes = everything
        elif self.layer_map is not None:
            nodes = self.layer_map(everything)
        vectors: Tensor = self.pool(nodes, ptr, edges)
        if not self.pool.replaces_readout:
            vectors = torch.cat([self.flat(everything, ptr, edges), vectors], dim=1)
        return vectors if self.vector_norm is None else self.vector_norm(vectors)

    def set_degrees(self, degrees: Int[Tensor, "nodes"]) -> None:
        """Take the degree of every training node; the base ``pna`` scales by their mean."""
        from lfds.nn.models.pyg_layers import set_degrees

        set_degrees(self.base, degrees)

    def penalty(self) -> Float[Tensor, ""]:
        """What to add to the loss of the batch of the last call; zero for most poolings."""
        return self.pool.penalty()


def check_widths(in_channels: int, out_channels: int) -> None:
    """There is something to see, and something to predict."""
    if in_channels < 1:
        raise ValueError(
            f"in_channels must be at least 1, got {in_channels}; nodes without features need an "
            "encoding: their degree, or random-walk return probabilities"
        )
    if out_channels < 1:
        raise ValueError(f"out_channels must be at least 1, got {out_channels}")
