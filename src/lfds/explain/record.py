"""The numbers of an atlas: plain arrays, so that pages and figures need no torch."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from lfds.explain.drawing import Drawing

Floats = NDArray[np.float32]
Integers = NDArray[np.int64]

IDLE = 0.01  # of the mean mass of a slot; a slot with less is called idle


@dataclass(frozen=True, eq=False)
class PoolView:
    """What one latent structure does with the graphs of a dataset.

    Attributes:
        name: Name of the class of the structure.
        drawing: How the structure is drawn.
        mass: ``[graphs, slots]``, the fraction of the nodes of each graph that is assigned to each
            slot; rows sum to one, and are zero for a graph without nodes.
        picks: ``[graphs, depth, slots]``, the number of channels whose maximum each slot holds
            after each latent layer; see :meth:`lfds.LFDSPool.picks`.
        extra_readout: What is read out of all slots beside the maxima, in words; may be empty.
        topographic_error: The part of the nodes whose two largest shares are not on neighbouring
            slots; None where neighbours are learned. See :mod:`lfds.explain.topography`.
        random_error: What it would be for slots that are arranged at random.
    """

    name: str
    drawing: Drawing
    mass: Floats
    picks: Floats
    extra_readout: str = ""
    topographic_error: float | None = None
    random_error: float | None = None

    @property
    def num_slots(self) -> int:
        """Number of slots."""
        return int(self.mass.shape[1])

    @cached_property
    def usage(self) -> Floats:
        """``[slots]``, the mean of ``mass`` over all graphs."""
        usage: Floats = self.mass.mean(axis=0)
        return usage

    @cached_property
    def picked(self) -> Floats:
        """``[graphs, slots]``, the fraction of the channels of all layers that each slot won."""
        won = self.picks.sum(axis=1)
        fraction: Floats = won / np.maximum(won.sum(axis=1, keepdims=True), 1e-12)
        return fraction

    @cached_property
    def idle(self) -> NDArray[np.bool_]:
        """``[slots]``, whether a slot receives less than a hundredth of the mean mass."""
        return self.usage * self.num_slots < IDLE


@dataclass(frozen=True, eq=False)
class GraphView:
    """One graph of the atlas.

    Attributes:
        number: Its position in the dataset.
        positions: ``[nodes, 2]`` or ``[nodes, 3]``, where its nodes are drawn, within -1 and 1.
        has_coordinates: Whether these are its own coordinates, not a computed layout.
        edges: ``[edges, 2]``, each once, the smaller node first.
        shares: For each structure ``[nodes, slots]``, exactly what ``pool.shares`` returns.
        contributions: For each structure ``[nodes]``; see :func:`contributions`.
    """

    number: int
    positions: Floats
    has_coordinates: bool
    edges: Integers
    shares: tuple[Floats, ...]
    contributions: tuple[Floats, ...]


@dataclass(frozen=True, eq=False)
class AtlasNumbers:
    """All numbers of an atlas.

    Attributes:
        name: Name of the dataset.
        classes: Names of the classes, in the order of the columns of ``probabilities``; empty for
            a regressor.
        target: ``[graphs]``, the true class of each graph, -1 where it is unknown.
        probabilities: ``[graphs, classes]``.
        values: ``[graphs, targets]``, the predictions of a regressor; no columns for a classifier.
        true_values: ``[graphs, targets]``, NaN where they are unknown.
        pools: What each latent structure does with all graphs.
        graphs: The graphs that are shown.
        head_channels: Number of input channels of the head that come from each structure, then the
            number of all of them.
    """

    name: str
    classes: tuple[str, ...]
    target: Integers
    probabilities: Floats
    values: Floats
    true_values: Floats
    pools: tuple[PoolView, ...]
    graphs: tuple[GraphView, ...]
    head_channels: tuple[int, ...]

    @cached_property
    def predicted(self) -> Integers:
        """``[graphs]``, the most probable class of each graph; -1 for a regressor."""
        if not self.classes:
            return np.full(len(self.target), -1)
        best: Integers = self.probabilities.argmax(axis=1)
        return best

    @cached_property
    def grouped_by_target(self) -> bool:
        """Whether graphs are grouped by true class, not by predicted class."""
        return bool((self.target >= 0).any())

    def members(self, position: int) -> Integers:
        """The graphs of a class, by true class if any is known, otherwise by predicted class."""
        groups = self.target if self.grouped_by_target else self.predicted
        return np.flatnonzero(groups == position)

    def class_map(self, pool: PoolView, position: int) -> Floats | None:
        """``[slots]``, the mean of ``mass`` over a class; None for a class without graphs."""
        rows = self.members(position)
        return pool.mass[rows].mean(axis=0) if len(rows) else None


def contributions(shares: Floats, picked: Floats) -> Floats:
    r"""Return how much each node contributes: channels won by slots, divided among their nodes.

    .. math::
        d_i = \sum_k c_k \frac{p_{ik}}{\sum_j p_{jk}}

    They sum to one. Latent layers mix neighbouring slots, so that what a slot wins is in part due
    to its neighbours; this is not taken into account.

    Args:
        shares: :math:`p_{ik}`, ``[nodes, slots]``.
        picked: :math:`c_k`, the fraction of the channels that each slot won, ``[slots]``.
    """
    received = np.maximum(shares.sum(axis=0), 1e-12)
    divided: Floats = (shares * (picked / received)).sum(axis=1)
    return divided
