"""The numbers behind an atlas: plain arrays, so that pages and figures need no torch."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from lfds.explain.drawing import Drawing

Floats = NDArray[np.float32]
Whole = NDArray[np.int64]

IDLE = 0.01  # of an even share; a slot that receives less is called idle


@dataclass(frozen=True, eq=False)
class PoolView:
    """What one latent structure does with the graphs of a set.

    Attributes:
        name: What the structure is called.
        drawing: How it is drawn.
        mass: ``[graphs, slots]``, the part of its nodes that each graph puts on each slot; rows
            sum to one, and are zero for a graph without nodes.
        picks: ``[graphs, depth, slots]``, of how many channels each slot holds the maximum after
            each latent layer; see :meth:`lfds.LFDSPool.picks`.
        beside: What is read out over all slots beside the maxima, in words; nothing by default.
    """

    name: str
    drawing: Drawing
    mass: Floats
    picks: Floats
    beside: str = ""

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
        """``[graphs, slots]``, the part of all channels of all layers that each slot has won."""
        won = self.picks.sum(axis=1)
        part: Floats = won / np.maximum(won.sum(axis=1, keepdims=True), 1e-12)
        return part

    @cached_property
    def idle(self) -> NDArray[np.bool_]:
        """``[slots]``, whether a slot receives less than a hundredth of an even share."""
        return self.usage * self.num_slots < IDLE


@dataclass(frozen=True, eq=False)
class GraphView:
    """One graph that is shown.

    Attributes:
        number: Its position in the set.
        xy: ``[nodes, 2]`` or ``[nodes, 3]``, where its nodes are drawn, within -1 and 1.
        true_place: Whether these are its own coordinates, and not a layout.
        edges: ``[edges, 2]``, each once, the smaller node first.
        shares: For each structure ``[nodes, slots]``, exactly what ``pool.shares`` gives.
        deciding: For each structure ``[nodes]``, which nodes decided: see :func:`deciding`.
    """

    number: int
    xy: Floats
    true_place: bool
    edges: Whole
    shares: tuple[Floats, ...]
    deciding: tuple[Floats, ...]


@dataclass(frozen=True, eq=False)
class AtlasNumbers:
    """All numbers of an atlas.

    Attributes:
        name: What the set is called.
        classes: Names of the classes, in the order of the columns of ``probabilities``; none for
            a model of quantities.
        target: ``[graphs]``, the class of each graph, -1 where it is not known.
        probabilities: ``[graphs, classes]``.
        amounts: ``[graphs, targets]``, the quantities that are predicted; no columns for classes.
        true_amounts: ``[graphs, targets]``, what they are, NaN where it is not known.
        pools: What each latent structure does with all graphs.
        graphs: The graphs that are shown.
        through: How many of the values that the head decides by come from each structure, and
            last how many there are.
    """

    name: str
    classes: tuple[str, ...]
    target: Whole
    probabilities: Floats
    amounts: Floats
    true_amounts: Floats
    pools: tuple[PoolView, ...]
    graphs: tuple[GraphView, ...]
    through: tuple[int, ...]

    @cached_property
    def predicted(self) -> Whole:
        """``[graphs]``, the most probable class of each graph; -1 where there are no classes."""
        if not self.classes:
            return np.full(len(self.target), -1)
        likeliest: Whole = self.probabilities.argmax(axis=1)
        return likeliest

    @cached_property
    def grouped_by_target(self) -> bool:
        """Whether graphs are grouped by their class; by the predicted one if no class is known."""
        return bool((self.target >= 0).any())

    def members(self, position: int) -> Whole:
        """The graphs of a class: of those known, or else of those predicted."""
        groups = self.target if self.grouped_by_target else self.predicted
        return np.flatnonzero(groups == position)

    def class_map(self, pool: PoolView, position: int) -> Floats | None:
        """``[slots]``, the mean of ``mass`` over a class; None where no graph is of it."""
        rows = self.members(position)
        return pool.mass[rows].mean(axis=0) if len(rows) else None


def deciding(shares: Floats, picked: Floats) -> Floats:
    r"""Tell which nodes decided: each slot hands what it has won back to those it received.

    .. math::
        d_i = \sum_k c_k \frac{p_{ik}}{\sum_j p_{jk}}

    It sums to one. Latent layers let slots talk, so that what a slot has won is in part its
    neighbours'; this is not followed any further.

    Args:
        shares: :math:`p_{ik}`, ``[nodes, slots]``.
        picked: :math:`c_k`, the part of the channels that each slot has won, ``[slots]``.
    """
    received = np.maximum(shares.sum(axis=0), 1e-12)
    back: Floats = (shares * (picked / received)).sum(axis=1)
    return back
