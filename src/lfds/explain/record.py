"""The numbers of an atlas: plain arrays, so that pages and figures need no torch."""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from lfds.explain.drawing import Drawing

Floats = NDArray[np.float32]
Integers = NDArray[np.int64]

IDLE = 0.01  # of the mean mass of a slot; a slot with less is called idle


@dataclass(frozen=True, eq=False)
class Neighbourhood:
    """A node and its neighbours.

    Attributes:
        positions: ``[nodes, 2]``, the node itself first, at the origin.
        edges: ``[edges, 2]``.
        symbols: The name of each node.
        category: ``[nodes]``, as in the legend.
        bonds: ``[edges]``, orders of bonds, 0 if unknown.
    """

    positions: Floats
    edges: Integers
    symbols: tuple[str, ...]
    category: Integers
    bonds: Integers


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
        typical: For each slot share, graph and node of its most typical nodes, each of another
            graph.
        mix: ``[slots, categories]``, the part of what a slot receives that is of each category of
            nodes, as in the legend.
        neighbourhoods: For each slot one for each of ``typical``.
    """

    name: str
    drawing: Drawing
    mass: Floats
    picks: Floats
    extra_readout: str = ""
    topographic_error: float | None = None
    random_error: float | None = None
    typical: tuple[tuple[tuple[float, int, int], ...], ...] = ()
    mix: Floats = field(default_factory=lambda: np.zeros((0, 0), dtype=np.float32))
    neighbourhoods: tuple[tuple["Neighbourhood", ...], ...] = ()

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
        scores: ``[outputs]``, the log-odds of each class, or the values of a regressor.
        effects: ``[nodes, outputs]``, how much each node adds to each score; see
            :mod:`lfds.explain.attribution`.
        exact: Whether effects are those of removing each node, not of integrated gradients.
        slot_effects: For each structure ``[slots, outputs]``, how much each slot adds.
        beside: ``[outputs]``, how much the statistics beside the slots add.
        reference: ``[outputs]``, the scores of the average graph, to which slots and statistics
            add.
        symbols: The name of each node; empty ones if nodes have no labels.
        details: Labels and attributes of each node, as text.
        category: ``[nodes]``, the place of each node in the legend, -1 for none.
        bonds: ``[edges]``, the order of each bond: 1, 2, 3, 4 if aromatic, 0 if unknown.
        classes: Whether scores are log-odds.
    """

    number: int
    positions: Floats
    has_coordinates: bool
    edges: Integers
    shares: tuple[Floats, ...]
    scores: Floats
    effects: Floats
    exact: bool
    slot_effects: tuple[Floats, ...]
    beside: Floats
    reference: Floats
    symbols: tuple[str, ...]
    details: tuple[str, ...]
    category: Integers
    bonds: Integers
    classes: bool

    def support(self, output: int) -> Floats:
        """How much each node speaks for a class, ``[nodes]``: by how much its probability falls.

        Of a regressor: by how much the value falls without the node.
        """
        score, effects = self.scores[output], self.effects[:, output]
        if not self.classes:
            return effects
        support: Floats = _probability(score) - _probability(score - effects)
        return support


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
        legend: Names of the categories of nodes, frequent ones first; empty without labels.
        legend_title: What they are: ``element`` or ``label``.
        overall: ``[categories]``, their part of all nodes.
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
    legend: tuple[str, ...] = ()
    legend_title: str = ""
    overall: Floats = field(default_factory=lambda: np.zeros(0, dtype=np.float32))

    @cached_property
    def interest(self) -> Floats:
        """``[graphs]``, how much there is to explain: errors first, then uncertain predictions."""
        return interest(self.target, self.probabilities, self.values, self.true_values)

    @property
    def first(self) -> int:
        """Position in ``graphs`` of the one to begin with: predicted wrongly, or uncertain."""
        shown = [float(self.interest[graph.number]) for graph in self.graphs]
        return shown.index(max(shown)) if shown else 0

    @cached_property
    def predicted(self) -> Integers:
        """``[graphs]``, the most probable class of each graph; -1 for a regressor."""
        if not self.classes:
            return np.full(len(self.target), -1)
        best: Integers = self.probabilities.argmax(axis=1)
        return best

    def output(self, graph: GraphView) -> int:
        """The output that is explained at first: the predicted class, or the first value."""
        return max(0, int(self.predicted[graph.number]))

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


def interest(
    target: Integers, probabilities: Floats, values: Floats, true_values: Floats
) -> Floats:
    """Return how much there is to explain about each graph, ``[graphs]``.

    Of classes: wrong predictions above 1, the surer the higher; correct ones by the probability
    that they miss. Of values: the largest error, relative to their spread.
    """
    if probabilities.shape[1]:
        top = probabilities.max(axis=1)
        wrong = (target >= 0) & (probabilities.argmax(axis=1) != target)
        found: Floats = np.where(wrong, 1 + top, 1 - top).astype(np.float32)
        return found
    if values.shape != true_values.shape or not np.isfinite(true_values).any():
        return np.zeros(len(target), dtype=np.float32)
    known = np.isfinite(true_values).any(axis=0)
    values, true_values = values[:, known], true_values[:, known]
    spread = np.maximum(np.nanstd(true_values, axis=0), 1e-12)
    errors = np.nan_to_num(np.abs(values - true_values) / spread)
    largest: Floats = errors.max(axis=1, initial=0).astype(np.float32)
    return largest


def _probability(log_odds: Floats) -> Floats:
    odds = np.clip(log_odds.astype(np.float64), -80, 80)
    probability: Floats = (1 / (1 + np.exp(-odds))).astype(np.float32)
    return probability
