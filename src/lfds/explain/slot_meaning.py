"""What the slots of a structure hold: their most typical nodes, and their mix of labels."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Integers = NDArray[np.int64]

TYPICAL = 4
"""Typical nodes of a slot, each of another graph."""


@dataclass
class SlotCollector:
    """Collects, batch by batch, the nodes with the largest shares of every slot.

    Attributes:
        num_slots: Number of slots.
        num_categories: Number of categories of nodes.
    """

    num_slots: int
    num_categories: int
    _best: list[list[tuple[float, int, int]]] = field(default_factory=list)
    _mix: NDArray[np.float64] = field(default_factory=lambda: np.zeros((0, 0)))

    def __post_init__(self) -> None:
        self._best = [[] for _ in range(self.num_slots)]
        self._mix = np.zeros((self.num_slots, self.num_categories))

    def add(self, shares: Floats, ptr: Integers, first: int, category: Integers) -> None:
        """Take the nodes of a batch.

        Args:
            shares: ``[nodes, slots]``.
            ptr: Where each graph begins.
            first: Number of the first graph.
            category: ``[nodes]``, -1 for none.
        """
        if not len(shares):
            return
        graph = np.repeat(np.arange(len(ptr) - 1), np.diff(ptr))
        for slot in range(self.num_slots):
            best: dict[int, tuple[float, int, int]] = {g: (s, g, n) for s, g, n in self._best[slot]}
            few = min(len(shares), 8 * TYPICAL)
            for node in np.argpartition(-shares[:, slot], few - 1)[:few].tolist():
                owner = first + int(graph[node])
                found = (float(shares[node, slot]), owner, node - int(ptr[graph[node]]))
                if owner not in best or found[0] > best[owner][0]:
                    best[owner] = found
            ranked = sorted(best.values(), key=lambda one: (-one[0], one[1], one[2]))
            self._best[slot] = ranked[:TYPICAL]
        known = category >= 0
        np.add.at(self._mix.T, category[known], shares[known].astype(np.float64))

    @property
    def typical(self) -> tuple[tuple[tuple[float, int, int], ...], ...]:
        """For each slot share, graph and node of its most typical nodes, largest shares first."""
        return tuple(tuple(some) for some in self._best)

    @property
    def mix(self) -> Floats:
        """``[slots, categories]``, the part of what a slot receives that is of each category."""
        whole = np.maximum(self._mix.sum(axis=1, keepdims=True), 1e-12)
        mix: Floats = (self._mix / whole).astype(np.float32)
        return mix

    @property
    def overall(self) -> Floats:
        """``[categories]``, the same over all slots."""
        whole = self._mix.sum(axis=0)
        overall: Floats = (whole / max(float(whole.sum()), 1e-12)).astype(np.float32)
        return overall
