"""The pooling layer as an aggregation of PyG, under the name that users import."""

from typing import final

from torch_geometric.nn import aggr

from lfds.nn.pool import LatentPool


@final
class LFDSPool(LatentPool, aggr.Aggregation):
    """The layer in PyG; its documentation is that of :class:`LatentPool`."""


LFDSPool.__doc__ = LatentPool.__doc__

# PyG's resolver finds aggregations by name here: aggr="LFDSPool" in any of its layers.
aggr.LFDSPool = LFDSPool
