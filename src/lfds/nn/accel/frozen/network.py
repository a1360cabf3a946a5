"""The network of the comparison once nothing is learned any more."""

from collections.abc import Sequence
from typing import final

import torch
from jaxtyping import Float
from torch import Tensor

from lfds.nn.accel.dispatch import has_kernels_for
from lfds.nn.accel.frozen.graphs import Graphs
from lfds.nn.accel.frozen.head import FrozenHead
from lfds.nn.accel.frozen.latent import FrozenPool
from lfds.nn.accel.frozen.layer import FrozenLayer
from lfds.nn.accel.fused import can_fuse
from lfds.nn.models.backbone import GraphLayer
from lfds.nn.models.lfds_pooling import LFDSPooling
from lfds.nn.models.network import GraphNetwork
from lfds.nn.ops.ragged import runs_of_nodes
from lfds.nn.ops.segment import ragged_max
from lfds.nn.structures.spatial import SpatialLayer

# Nodes and slots through the network at once: enough to forget what a call costs, few enough for
# all that is known of them to stay in the cache.
AT_ONCE = 2048


def can_freeze(network: GraphNetwork, graphs: Graphs) -> bool:
    """Whether a network may be frozen to read these graphs: where it pools on latent structures.

    Native kernels are needed.
    """
    if network.training or graphs.num_graphs == 0 or not isinstance(network.pool, LFDSPooling):
        return False
    layers = [
        *network.base.layers,
        *(layer for pool in network.pool.pools for layer in pool.layers),
    ]
    products = [
        layer.transforms for layer in layers if isinstance(layer, GraphLayer | SpatialLayer)
    ]
    if network.pool.uses_all_layers:
        products.append(network.pool.pools[0].input_map)
    return (
        has_kernels_for(graphs.x)
        and can_fuse(graphs.x, *products, *list(network.head.layers)[::3])
        and all(product.weight.dtype == graphs.x.dtype for product in products)
    )


@final
class FrozenNetwork:
    """A :class:`GraphNetwork` that pools on latent structures, for graphs of moderate size.

    Larger graphs, which do not fit into the cache anyway, go through the network as it is: it adds
    up long sums block by block, which loses fewer digits, and shares work out among threads.

    Args:
        network: What was learned. It is not to be changed as long as this is used.
    """

    def __init__(self, network: GraphNetwork) -> None:
        assert isinstance(network.pool, LFDSPooling)
        self.network = network
        pools = network.pool.pools
        self.slots = max(pool.structure.num_slots for pool in pools)
        self.layers = [
            FrozenLayer(layer.transforms.weight, layer.activation.norm)
            for layer in network.base.layers
        ]
        most = max(1, AT_ONCE // self.slots)
        self.pools = [FrozenPool(pool, most) for pool in pools]
        mix = network.pool.pools[0].input_map
        self.mix = None if mix is None else mix.weight.detach().t().chunk(len(self.layers))
        self.blends = any(pool.blend is not None for pool in pools)
        self.head = FrozenHead(network.head)

    def __call__(self, graphs: Graphs) -> Float[Tensor, "graphs outputs"]:
        """Return what the network says of each graph."""
        parts = runs_of_nodes(graphs.ptr, AT_ONCE, each=self.slots)
        with torch.inference_mode():
            vectors = torch.cat([self._represent(graphs.run(part)) for part in parts])
            outputs = self.head(vectors)
        return outputs.clone()  # made outside, it is a tensor as any other

    def _represent(self, graphs: Graphs) -> Tensor:
        if graphs.x.shape[0] > AT_ONCE:
            return self.network.represent(graphs.x, *graphs.assembled())
        vectors, outputs = [], []
        for layer in self.layers:
            x, largest = layer(graphs)
            graphs = graphs._replace(x=x)
            vectors.append(largest)
            outputs.append(x)
        if self.mix is not None:
            graphs = graphs._replace(x=_mixed(outputs, self.mix))
            if self.blends:
                largest = ragged_max(graphs.x, graphs.ptr - graphs.ptr[0])
        vectors += [pool(graphs, largest) for pool in self.pools]
        return torch.cat(vectors, dim=1)


def _mixed(layers: Sequence[Tensor], weights: Sequence[Tensor]) -> Tensor:
    """The sum over all layers, each by weights of its own."""
    x = torch.mm(layers[0], weights[0])
    for layer, weight in zip(layers[1:], weights[1:], strict=True):
        x.addmm_(layer, weight)
    return x
