"""A reference without a network: a random forest on histograms of labels, degrees and walks."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self, final

import numpy as np
from numpy.typing import NDArray

from lfds.config.forest import ForestSettings
from lfds.data.encodings.compute import structural_features
from lfds.data.encodings.rwse import RWSE
from lfds.data.graphset import GraphSet

Floats = NDArray[np.float64]

# Nodes, or edges, that the bins of numbers are chosen by.
_SAMPLE = 1 << 18


@dataclass(frozen=True)
class _Owners:
    """The nodes, or the edges, of some graphs.

    Attributes:
        graph: The graph of each.
        count: Number of graphs.
        categories: Columns of categories by name, as integers.
        numbers: Columns of numbers by name.
    """

    graph: NDArray[np.int64]
    count: int
    categories: dict[str, NDArray[np.int64]]
    numbers: dict[str, Floats]


@final
class GraphHistograms:
    r"""Turns graphs into vectors of one length, without a network.

    Of every label, of degrees and of every return probability of a random walk there is a histogram
    over the nodes of the graph: how many nodes fall into each bin, and what fraction. Attributes
    have histograms, means and standard deviations; edges have the same of their labels and
    attributes. Numbers of nodes and edges come first.

    Args:
        settings: Number of bins, and so on.
    """

    def __init__(self, settings: ForestSettings) -> None:
        self.settings = settings
        self._bins: list[dict[str, NDArray[Any]]] = []

    def fit(self, graphs: GraphSet, cache: Path | None = None) -> Self:
        """Choose the bins by training graphs.

        Args:
            graphs: The training graphs.
            cache: Folder of cached encodings.
        """
        pieces = [self._owners(piece, cache) for piece in graphs.pieces()]
        self._bins = [self._choose([piece[part] for piece in pieces]) for part in range(2)]
        return self

    def transform(self, graphs: GraphSet, cache: Path | None = None) -> Floats:
        """Return the vectors, ``[graphs, features]``."""
        found = []
        for piece in graphs.pieces():
            owners = self._owners(piece, cache)
            sizes = [np.bincount(one.graph, minlength=one.count) for one in owners]
            columns = [np.stack(sizes, axis=1).astype(np.float64)]
            for one, bins in zip(owners, self._bins, strict=True):
                columns += self._columns(one, bins)
            found.append(np.concatenate(columns, axis=1))
        return np.concatenate(found)

    def _owners(self, graphs: GraphSet, cache: Path | None) -> tuple[_Owners, _Owners]:
        walks = structural_features(graphs, [RWSE(steps=self.settings.steps)], cache=cache).numpy()
        of_node = np.repeat(np.arange(len(graphs)), graphs.sizes.numpy())
        of_edge = of_node[_first_nodes(graphs)]
        labels, edge_labels = graphs.labels.numpy(), graphs.edge_labels.numpy()
        nodes = _Owners(
            of_node,
            len(graphs),
            {"degree": graphs.degrees.numpy().astype(np.int64), **_named("label", labels)},
            {
                # A walk of one step never returns.
                **_named("walk", walks[:, 1:]),
                **_named("attribute", graphs.attributes.numpy()),
            },
        )
        edges = _Owners(
            of_edge,
            len(graphs),
            _named("label", edge_labels),
            _named("attribute", graphs.edge_attributes.numpy()),
        )
        return nodes, edges

    def _choose(self, pieces: list[_Owners]) -> dict[str, NDArray[Any]]:
        most, bins = self.settings.most_values, self.settings.bins
        found: dict[str, NDArray[Any]] = {}
        for name in pieces[0].categories:
            counts: dict[int, int] = {}
            for piece in pieces:
                values, times = np.unique(piece.categories[name], return_counts=True)
                for value, count in zip(values.tolist(), times.tolist(), strict=True):
                    counts[value] = counts.get(value, 0) + count
            frequent = sorted(counts, key=lambda value: (-counts[value], value))[:most]
            found[name] = np.array(sorted(frequent), dtype=np.int64)
        for name in self._binned(pieces[0]):
            sample = np.concatenate([piece.numbers[name] for piece in pieces])
            sample = sample[:: max(1, len(sample) // _SAMPLE)]
            inner = np.linspace(0, 1, bins + 1)[1:-1]
            edges = np.unique(np.quantile(sample, inner)) if len(sample) else np.empty(0)
            found[name] = edges
        return found

    def _binned(self, owners: _Owners) -> Iterator[str]:
        """Yield the columns of numbers that have histograms."""
        wide = sum(name.startswith("attribute") for name in owners.numbers)
        for name in owners.numbers:
            if not name.startswith("attribute") or wide <= self.settings.most_columns:
                yield name

    def _columns(self, owners: _Owners, bins: dict[str, NDArray[Any]]) -> Iterator[Floats]:
        sizes = np.maximum(np.bincount(owners.graph, minlength=owners.count), 1)[:, None]
        for name, values in bins.items():
            if name in owners.categories:
                found = owners.categories[name]
                place = np.searchsorted(values, found).clip(max=max(len(values) - 1, 0))
                # What no training graph had, or few, falls into the last bin.
                other = np.full(len(found), len(values))
                place = np.where(values[place] == found, place, other) if len(values) else other
            else:
                place = np.searchsorted(values, owners.numbers[name], side="right")
            width = len(values) + 1
            flat = np.bincount(owners.graph * width + place, minlength=owners.count * width)
            counts = flat.reshape(owners.count, width).astype(np.float64)
            yield np.concatenate([counts, counts / sizes], axis=1)
        for name, numbers in owners.numbers.items():
            if name.startswith("attribute"):
                yield _moments(owners, numbers, sizes)


def _moments(owners: _Owners, numbers: Floats, sizes: NDArray[np.int64]) -> Floats:
    """Return mean and standard deviation over each graph."""
    mean = np.bincount(owners.graph, numbers, minlength=owners.count)[:, None] / sizes
    spread = (numbers - mean[owners.graph, 0]) ** 2
    variance = np.bincount(owners.graph, spread, minlength=owners.count)[:, None] / sizes
    return np.concatenate([mean, np.sqrt(variance)], axis=1)


def _named(name: str, table: NDArray[Any]) -> dict[str, NDArray[Any]]:
    exact = table.astype(np.float64) if table.dtype.kind == "f" else table.astype(np.int64)
    return {f"{name} {column}": exact[:, column] for column in range(table.shape[1])}


def _first_nodes(graphs: GraphSet) -> NDArray[np.int64]:
    """Return the number of the first node of each edge, over all graphs."""
    first: NDArray[np.int64] = graphs.edge_index[0].numpy()
    return first


@final
class Forest:
    """Random forests on histograms, one for each target.

    Args:
        settings: Number of trees, and of what the histograms are.
        seed: Random seed.
    """

    def __init__(self, settings: ForestSettings, seed: int) -> None:
        self.settings, self.seed = settings, seed % 2**32
        self._histograms = GraphHistograms(settings)
        self._forests: list[Any] = []
        self._classes = 0

    def fit(
        self, graphs: GraphSet, y: NDArray[Any], *, classes: int = 0, cache: Path | None = None
    ) -> Self:
        """Fit a forest for each target.

        Args:
            graphs: The training graphs.
            y: ``[graphs]`` or ``[graphs, targets]``: indices of classes, -1 where one is missing,
                or values, NaN where one is missing.
            classes: Number of classes; 0 for values.
            cache: Folder of cached encodings.
        """
        from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

        kind = RandomForestClassifier if classes else RandomForestRegressor
        x = self._histograms.fit(graphs, cache).transform(graphs, cache)
        self._classes = classes
        for column in y.reshape(len(y), -1).T:
            known = column >= 0 if classes else ~np.isnan(column)
            forest = kind(n_estimators=self.settings.trees, random_state=self.seed, n_jobs=1)
            self._forests.append(forest.fit(x[known], column[known]))
        return self

    def predict(self, graphs: GraphSet, cache: Path | None = None) -> Floats:
        """Return probabilities ``[graphs, targets, classes]``, or values ``[graphs, targets]``."""
        x = self._histograms.transform(graphs, cache)
        if not self._classes:
            return np.stack([forest.predict(x) for forest in self._forests], axis=1)
        found = np.zeros((len(x), len(self._forests), self._classes))
        for place, forest in enumerate(self._forests):
            # A class without a training graph has probability zero.
            found[:, place, forest.classes_.astype(np.int64)] = forest.predict_proba(x)
        return found

    @property
    def nodes(self) -> int:
        """Number of nodes of all trees: what a forest has in place of parameters."""
        return sum(tree.tree_.node_count for forest in self._forests for tree in forest.estimators_)
