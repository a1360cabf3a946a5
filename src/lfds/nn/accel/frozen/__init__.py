"""A network that no longer learns, for the speed of prediction.

Everything that is the same for all graphs is worked out once: norms become a scale and a shift for
each channel, and those of the head go into the product that follows.  Graphs are taken a few at a
time, so that all that is known of them stays in the cache, and are read where they are in a set.

The numbers are those of :class:`lfds.nn.GraphNetwork` in evaluation mode, up to rounding.
"""

from lfds.nn.accel.frozen.graphs import Graphs
from lfds.nn.accel.frozen.network import FrozenNetwork, can_freeze

__all__ = ["FrozenNetwork", "Graphs", "can_freeze"]
