"""Features of nodes and edges from labels, attributes and structure, fitted on training graphs."""

import os
import warnings
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Self, final

import torch
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    NonNegativeInt,
    ValidationError,
    model_validator,
)
from torch import Tensor

from lfds.config.budget import over_budget
from lfds.config.encoding import EncodingSettings
from lfds.data.atomic_io import atomic_write
from lfds.data.batch import Indices
from lfds.data.encodings.compute import structural_features
from lfds.data.encodings.sharded import ShardFeatures, store_encodings
from lfds.data.errors import DataError, quoted
from lfds.data.graphset import GraphSet
from lfds.data.shards.engines import Where
from lfds.data.shards.sharded_set import ShardedGraphSet

_Label = Annotated[int, Field(ge=-(2**63), lt=2**63)]
_Mean = Annotated[float, Field(allow_inf_nan=False)]
_Scale = Annotated[float, Field(gt=0, allow_inf_nan=False)]


MAX_VALUES, BUCKETS = 1024, 256
"""Labels with more values than the first are hashed to this many columns."""

# Features as they are computed, and all of them side by side.
_BYTES_PER_FEATURE = 2 * 4

_EDGE_LABELS, _EDGE_ATTRIBUTES = "edge labels", "edge attributes"


def automatic_encoding(graphs: GraphSet) -> EncodingSettings:
    """Return the default encoding: labels and attributes, or ``rwse`` if there are neither."""
    has_features = graphs.width("labels") + graphs.width("attributes") > 0
    return EncodingSettings.model_validate({"structure": () if has_features else "rwse"})


@final
class LabelColumns(BaseModel):
    """One-hot encoding of labels: one column for each value of each label.

    A label with more than 1,024 values is hashed instead: each value goes to one of 256 columns,
    the same everywhere. Values that share a column cannot be told apart; values that were never
    seen have a column, too.

    Attributes:
        values: The sorted values of each column of labels; empty for a label that is hashed.
        hashed: Which columns of labels are hashed.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    values: tuple[tuple[_Label, ...], ...]
    hashed: tuple[NonNegativeInt, ...] = ()

    @model_validator(mode="after")
    def _values_increase(self) -> Self:
        if any(low >= high for seen in self.values for low, high in pairwise(seen)):
            raise ValueError("the values of a label must increase")
        return self

    @classmethod
    def fitted(cls, labels: Tensor) -> Self:
        """Return the encoding of the values of ``labels [nodes, l]``."""
        return cls.of_values([column.unique() for column in labels.T])

    @classmethod
    def of_values(cls, seen: Sequence[Tensor], name: str = "labels") -> Self:
        """Return the encoding of labels with the sorted values ``seen`` in each column."""
        hashed = tuple(k for k, values in enumerate(seen) if len(values) > MAX_VALUES)
        for column in hashed:
            warnings.warn(
                f"{name}: column {column} has {len(seen[column]):,} values, more than the "
                f"{MAX_VALUES:,} that get a feature each; they are hashed to {BUCKETS} features",
                UserWarning,
                stacklevel=2,
            )
        kept = (() if k in hashed else tuple(v.tolist()) for k, v in enumerate(seen))
        return cls(values=tuple(kept), hashed=hashed)

    @property
    def width(self) -> int:
        """Number of columns."""
        return sum(map(len, self.values)) + BUCKETS * len(self.hashed)

    @property
    def names(self) -> tuple[str, ...]:
        """The name of each column."""
        return tuple(
            name
            for k, seen in enumerate(self.values)
            for name in (
                [f"label{k}#{bucket}" for bucket in range(BUCKETS)]
                if k in self.hashed
                else [f"label{k}={value}" for value in seen]
            )
        )

    def __call__(self, labels: Tensor, name: str = "labels") -> Tensor:
        """Return ``[nodes, columns]``, one 1 for each label; all zeros for an unknown value."""
        _check_columns(labels, len(self.values), name)
        columns = [
            _bucket(column)[:, None] == torch.arange(BUCKETS)
            if k in self.hashed
            else column[:, None] == torch.tensor(seen, dtype=column.dtype)
            for k, (column, seen) in enumerate(zip(labels.T, self.values, strict=True))
        ]
        return torch.cat([torch.empty(len(labels), 0), *columns], dim=1).to(torch.float32)


@final
class AttributeColumns(BaseModel):
    """Attributes standardized to mean 0 and standard deviation 1 over the training graphs.

    Attributes:
        means: Mean of each column.
        scales: Standard deviation of each column; 1 for a constant column, which becomes 0.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    means: tuple[_Mean, ...]
    scales: tuple[_Scale, ...]

    @model_validator(mode="after")
    def _as_many_scales(self) -> Self:
        if len(self.means) != len(self.scales):
            raise ValueError(f"{len(self.means)} means need as many scales, not {len(self.scales)}")
        return self

    @classmethod
    def fitted(cls, attributes: Tensor) -> Self:
        """Return the standardization of ``attributes [nodes, a]``."""
        return cls.of_moments(*_moments(attributes))

    @classmethod
    def of_moments(cls, mean: Tensor, variance: Tensor) -> Self:
        """Return the standardization for the mean and variance of each column."""
        deviation = variance.sqrt()
        # Equal float32 numbers add up exactly in float64: a constant has deviation 0, not 1e-17.
        scales = torch.where(deviation == 0, torch.ones_like(deviation), deviation)
        return cls(means=tuple(mean.tolist()), scales=tuple(scales.tolist()))

    @property
    def names(self) -> tuple[str, ...]:
        """The name of each column."""
        return tuple(f"attribute{k}" for k in range(len(self.means)))

    def __call__(self, attributes: Tensor, name: str = "attributes") -> Tensor:
        """Return ``[nodes, a]``, standardized."""
        _check_columns(attributes, len(self.means), name)
        mean, scale = torch.tensor([self.means, self.scales], dtype=torch.float64)
        # In place: allocating memory costs more than the arithmetic.
        standard = attributes.to(torch.float64, copy=True).sub_(mean).div_(scale)
        return standard.to(torch.float32)


class _Statistics:
    """What is fitted of labels and attributes, from any number of pieces of a set.

    Means ``m`` and variances ``v`` of two pieces are combined to those of both:
    ``m = m1 + d n2 / n`` and ``v = (n1 v1 + n2 v2) / n + d**2 n1 n2 / n**2`` with ``d = m2 - m1``
    and ``n = n1 + n2``.

    Args:
        owner: Whose they are, for messages: ``"edge "``, or nothing for nodes.

    Attributes:
        values: The sorted values of each column of labels.
        mean: Mean of each column of attributes.
        variance: Mean squared deviation from it.
    """

    def __init__(self, owner: str = "") -> None:
        self.values: list[Tensor] = []
        self.mean = self.variance = torch.empty(0)
        self._owner, self._count = owner, 0

    def add(self, labels: Tensor, attributes: Tensor) -> None:
        """Add the rows of a piece, at least one."""
        found = [column.unique() for column in labels.T]
        mean, variance = _moments(attributes, f"{self._owner}attributes")
        before, self._count = self._count, self._count + len(attributes)
        if not before:
            self.values, self.mean, self.variance = found, mean, variance
            return
        both = zip(self.values, found, strict=True)
        self.values = [torch.cat(pair).unique() for pair in both]
        difference, part = mean - self.mean, len(attributes) / self._count
        self.mean = self.mean + difference * part
        variance = (1 - part) * self.variance + part * variance
        self.variance = variance + difference.square() * part * (before / self._count)

    def columns(self) -> tuple[LabelColumns, AttributeColumns]:
        """Return the encodings of all that was added."""
        labels = LabelColumns.of_values(self.values, f"{self._owner}labels")
        return labels, AttributeColumns.of_moments(self.mean, self.variance)


@final
class EdgeColumns(BaseModel):
    """Features of edges: one-hot encoded labels, then standardized attributes.

    Attributes:
        labels: The encoding of edge labels.
        attributes: The standardization of edge attributes.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    labels: LabelColumns
    attributes: AttributeColumns

    @classmethod
    def fitted(cls, graphs: GraphSet) -> Self:
        """Return the encoding of the edges of ``graphs``."""
        found, any_edges = _Statistics("edge "), False
        for piece in graphs.pieces():
            if piece.num_edges:
                found.add(piece.edge_labels, piece.edge_attributes)
                any_edges = True
        if any_edges:
            labels, attributes = found.columns()
            return cls(labels=labels, attributes=attributes)
        width = graphs.width("edge_attributes")
        return cls(
            labels=LabelColumns(values=((),) * graphs.width("edge_labels")),
            attributes=AttributeColumns(means=(0.0,) * width, scales=(1.0,) * width),
        )

    @property
    def width(self) -> int:
        """Number of columns."""
        return self.labels.width + len(self.attributes.means)

    @property
    def names(self) -> tuple[str, ...]:
        """The name of each column."""
        return (*self.labels.names, *self.attributes.names)

    def __call__(self, graphs: GraphSet) -> Tensor:
        """Return ``[edges, columns]``."""
        if graphs.num_edges == 0:  # whatever columns there would be
            return torch.empty(0, self.width)
        labels = self.labels(graphs.edge_labels, _EDGE_LABELS)
        return torch.cat([labels, self.attributes(graphs.edge_attributes, _EDGE_ATTRIBUTES)], dim=1)


class _Fitted(BaseModel):
    """The content of a saved encoder; what is None was written before edge data were used."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    settings: EncodingSettings
    labels: LabelColumns
    attributes: AttributeColumns
    edges: EdgeColumns | None = None


@final
class Encoder:
    """Computes features of nodes from labels, attributes and structure, and those of edges.

    Label values, means and standard deviations are fitted on the graphs given to :meth:`fit`.
    Graphs without any of the chosen features get one column of ones. Edges get features from their
    labels and attributes; none if they have neither.

    Args:
        settings: Which features the nodes get.
        edges: Whether edges get features.

    >>> from lfds.data.datasets.pc_graphs.generate import PCGraphsSettings, pc_graphs
    >>> graphs = pc_graphs(PCGraphsSettings(graphs_per_class=1)).graphs
    >>> encoder = Encoder(EncodingSettings(structure="rwse")).fit(graphs, range(6))
    >>> encoder.transform(graphs).x.shape
    torch.Size([1200, 16])
    """

    def __init__(self, settings: EncodingSettings | None = None, *, edges: bool = True) -> None:
        if settings is not None and not isinstance(settings, EncodingSettings):
            raise DataError(
                f"needs EncodingSettings, not {quoted(settings)}; for example "
                f"EncodingSettings(structure='rwse')",
                source="settings",
            )
        self.settings, self.edges = settings or EncodingSettings(), edges
        self._fitted: _Fitted | None = None

    def fit(self, graphs: GraphSet, train: Indices | None = None) -> Self:
        """Fit on the training part ``train`` of ``graphs``; on all of them by default."""
        part = graphs if train is None else graphs[train]
        if part.num_nodes == 0:
            raise DataError("needs at least one node", source="train")
        found = _Statistics()
        for piece in part.pieces():  # one, unless the set is in parts
            if piece.num_nodes:
                found.add(*self._columns(piece))
        labels, attributes = found.columns()
        self._fitted = _Fitted(
            settings=self.settings,
            labels=labels,
            attributes=attributes,
            edges=EdgeColumns.fitted(part) if self.edges else None,
        )
        return self

    def transform(
        self,
        graphs: GraphSet,
        *,
        workers: int = 1,
        cache: str | os.PathLike[str] | None = None,
        progress: bool = False,
    ) -> GraphSet:
        """Return the same graphs with features ``x`` of nodes and ``edge_x`` of edges.

        Args:
            graphs: Graphs with the labels and attributes of those the encoder was fitted on. Of a
                set in parts the structural encodings are stored beside the parts, and the features
                computed when graphs are read.
            workers: Number of processes that compute structural encodings.
            cache: Folder of cached structural encodings; ``None`` caches nothing.
            progress: Whether to show a progress bar on standard error.
        """
        self._require_fitted()
        if isinstance(graphs, ShardedGraphSet):
            encodings = self.settings.structure
            store_encodings(graphs, encodings, where=Where(workers), progress=progress)
            return graphs.with_node_features(ShardFeatures(self, graphs.folder, encodings))
        self._check_memory(self.width, graphs.num_nodes, "nodes", graphs.name)
        self._check_memory(self.edge_width, graphs.num_edges, "edges", graphs.name)
        structure = structural_features(
            graphs, self.settings.structure, workers=workers, cache=cache, progress=progress
        )
        return graphs.with_features(self.features(graphs, structure), self.edge_features(graphs))

    def features(self, graphs: GraphSet, structure: Tensor) -> Tensor:
        """Return the features ``[nodes, width]`` of graphs in memory.

        Args:
            graphs: The graphs.
            structure: Their structural encodings side by side.
        """
        fitted = self._require_fitted()
        labels, attributes = self._columns(graphs)
        x = torch.cat([fitted.labels(labels), fitted.attributes(attributes), structure], dim=1)
        return x if x.shape[1] else torch.ones(graphs.num_nodes, 1)

    def edge_features(self, graphs: GraphSet) -> Tensor:
        """Return the features ``[edges, edge_width]`` of the edges of graphs in memory."""
        edges = self.edge_columns
        return torch.empty(graphs.num_edges, 0) if edges is None else edges(graphs)

    @property
    def label_values(self) -> tuple[tuple[int, ...], ...]:
        """The sorted values of each column of labels that it was fitted on."""
        return self._require_fitted().labels.values

    @property
    def hashed_labels(self) -> tuple[int, ...]:
        """The columns of labels with so many values that they are hashed."""
        return self._require_fitted().labels.hashed

    @property
    def attribute_scales(self) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """Mean and scale of each column of attributes."""
        columns = self._require_fitted().attributes
        return columns.means, columns.scales

    @property
    def edge_columns(self) -> EdgeColumns | None:
        """How edges are encoded; None if they get no features."""
        return self._require_fitted().edges

    @property
    def edge_names(self) -> tuple[str, ...]:
        """The name of each column of the features of edges."""
        edges = self.edge_columns
        return () if edges is None else edges.names

    @property
    def edge_width(self) -> int:
        """Number of columns of the features of edges."""
        edges = self.edge_columns
        return 0 if edges is None else edges.width

    @property
    def names(self) -> tuple[str, ...]:
        """The name of each column of the features of nodes."""
        fitted = self._require_fitted()
        structure = [f"{e.kind}{k}" for e in self.settings.structure for k in range(e.width)]
        return (*fitted.labels.names, *fitted.attributes.names, *structure) or ("one",)

    @property
    def width(self) -> int:
        """Number of columns of the features of nodes."""
        fitted = self._require_fitted()
        columns = fitted.labels.width + len(fitted.attributes.names)
        # Not len(self.names): a file may name more columns than memory can hold.
        return columns + sum(encoding.width for encoding in self.settings.structure) or 1

    def to_json(self) -> str:
        """Return the fitted encoder as JSON."""
        return self._require_fitted().model_dump_json(indent=2)

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        """Return the encoder of which :meth:`to_json` was called."""
        try:
            fitted = _Fitted.model_validate_json(text)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            where = ".".join(str(part) for part in first["loc"])
            raise DataError(f"invalid encoder: {where} {first['msg']}") from error
        encoder = cls(fitted.settings, edges=fitted.edges is not None)
        encoder._fitted = fitted
        return encoder

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the encoder to a JSON file, completely or not at all."""
        atomic_write(Path(path), self.to_json().encode())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read an encoder written by :meth:`save`."""
        try:
            return cls.from_json(Path(path).read_bytes())
        except (OSError, DataError) as error:
            raise DataError(f"cannot be read ({error})", source=path) from error

    def _columns(self, graphs: GraphSet) -> tuple[Tensor, Tensor]:
        labels = graphs.labels if self.settings.labels else graphs.labels[:, :0]
        return labels, graphs.attributes if self.settings.attributes else graphs.attributes[:, :0]

    def _check_memory(self, width: int, count: int, what: str, source: str) -> None:
        missing = over_budget(_BYTES_PER_FEATURE * width * count)
        if missing is not None:
            raise DataError(
                f"{width:,} features of {count:,} {what}: encoding them {missing}; "
                f"use fewer graphs or another encoding",
                source=source,
            )

    def _require_fitted(self) -> _Fitted:
        if self._fitted is None:
            raise DataError("the encoder is not fitted; call fit(graphs, train) first")
        return self._fitted


def _bucket(labels: Tensor) -> Tensor:
    """Return the hash of integers, from 0 to below ``BUCKETS``.

    Multiplied by an odd number near 2**63 / golden ratio; the highest bits depend on all others.
    """
    mixed = labels.to(torch.int64) * 0x4F1BBCDCBFA53E0B
    return (mixed >> 40) & (BUCKETS - 1)


def _moments(attributes: Tensor, name: str = "attributes") -> tuple[Tensor, Tensor]:
    """Return mean and variance of each column of attributes, called ``name`` in messages."""
    exact = attributes.to(torch.float64)
    mean = exact.mean(dim=0)
    if not bool(mean.isfinite().all()):
        column = int((~mean.isfinite()).nonzero()[0])
        raise DataError(
            f"column {column} has numbers that are not finite; impute or drop them",
            source=name,
        )
    return mean, (exact - mean).square().mean(dim=0)


def _check_columns(given: Tensor, columns: int, name: str) -> None:
    if given.shape[1] != columns:
        raise DataError(
            f"the encoder was fitted on {columns} columns, these graphs have {given.shape[1]}; "
            "use an encoder fitted on graphs with the same columns",
            source=name,
        )
