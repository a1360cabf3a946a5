"""From labels, attributes and structure to node features, learned from the training part only."""

import os
from pathlib import Path
from typing import Self, final

import torch
from pydantic import BaseModel, ConfigDict, ValidationError
from torch import Tensor

from lfds.config.encoding import EncodingSettings
from lfds.data.atomic_io import atomic_write
from lfds.data.encodings.columns import AttributeColumns, LabelColumns
from lfds.data.encodings.structure import structural_features
from lfds.data.errors import DataError, quoted
from lfds.data.graphset import GraphSet
from lfds.data.selection import Choice


class _Fitted(BaseModel):
    """What is written to disk."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    settings: EncodingSettings
    labels: LabelColumns
    attributes: AttributeColumns


@final
class Encoder:
    """Turns what is known of nodes into features for a network.

    Values of labels, means and spreads come from the graphs given to :meth:`fit` and from no
    others. Graphs of which nothing is known, by these settings, get one column of ones.

    >>> from lfds.data.datasets.pc_graphs.generate import PCGraphsSettings, pc_graphs
    >>> graphs = pc_graphs(PCGraphsSettings(graphs_per_class=1)).graphs
    >>> from lfds.data.encodings import EncodingSettings, RWSE
    >>> encoder = Encoder(EncodingSettings(structure=(RWSE(steps=4),))).fit(graphs, range(6))
    >>> encoder.transform(graphs).x.shape
    torch.Size([1200, 4])
    """

    def __init__(self, settings: EncodingSettings | None = None) -> None:
        if settings is not None and not isinstance(settings, EncodingSettings):
            raise DataError(
                f"needs EncodingSettings, not {quoted(settings)}; for example "
                f"EncodingSettings(structure='rwse')",
                source="settings",
            )
        self.settings = settings or EncodingSettings()
        self._fitted: _Fitted | None = None

    def fit(self, graphs: GraphSet, train: Choice | None = None) -> Self:
        """Learn from the training part of ``graphs``; from all of them when it is left out."""
        part = graphs if train is None else graphs[train]
        if part.num_nodes == 0:
            raise DataError("an encoder needs at least one node to learn from", source="train")
        self._fitted = _Fitted(
            settings=self.settings,
            labels=LabelColumns.learned(_asked(part.labels, self.settings.labels)),
            attributes=AttributeColumns.learned(_asked(part.attributes, self.settings.attributes)),
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
        """Return the same graphs with features ``x``.

        Args:
            graphs: Those the encoder was fitted on, or others of their kind.
            workers: Processes that compute structural encodings.
            cache: A folder to keep these in; none are kept when it is left out.
            progress: Whether to show a bar on standard error.
        """
        fitted = self._known()
        structure = structural_features(
            graphs, self.settings.structure, workers=workers, cache=cache, progress=progress
        )
        columns = [
            fitted.labels(_asked(graphs.labels, self.settings.labels)),
            fitted.attributes(_asked(graphs.attributes, self.settings.attributes)),
            structure,
        ]
        x = torch.cat(columns, dim=1)
        return graphs.with_features(x if x.shape[1] else torch.ones(graphs.num_nodes, 1))

    @property
    def label_values(self) -> tuple[tuple[int, ...], ...]:
        """For each column of labels the values it was fitted on, rising."""
        return self._known().labels.values

    @property
    def attribute_scales(self) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """What is taken from each column of attributes, and what it is divided by then."""
        columns = self._known().attributes
        return columns.means, columns.scales

    @property
    def names(self) -> tuple[str, ...]:
        """What each column of the features means."""
        fitted = self._known()
        structure = [f"{e.kind}{k}" for e in self.settings.structure for k in range(e.width)]
        return (*fitted.labels.names, *fitted.attributes.names, *structure) or ("one",)

    @property
    def width(self) -> int:
        """Columns of the features."""
        fitted = self._known()
        learned = len(fitted.labels.names) + len(fitted.attributes.names)
        # Not the number of names: a file may speak of more columns than there is memory for.
        return learned + sum(encoding.width for encoding in self.settings.structure) or 1

    def to_json(self) -> str:
        """Return settings and what was learned, as JSON."""
        return self._known().model_dump_json(indent=2)

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        """Return an encoder as it was when :meth:`to_json` was called."""
        try:
            fitted = _Fitted.model_validate_json(text)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            where = ".".join(str(part) for part in first["loc"])
            raise DataError(f"this is no saved encoder: {where} {first['msg']}") from error
        encoder = cls(fitted.settings)
        encoder._fitted = fitted
        return encoder

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the encoder to a JSON file, whole or not at all."""
        atomic_write(Path(path), self.to_json().encode())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read an encoder written by :meth:`save`."""
        try:
            return cls.from_json(Path(path).read_bytes())
        except (OSError, DataError) as error:
            raise DataError(f"cannot be read ({error})", source=path) from error

    def _known(self) -> _Fitted:
        if self._fitted is None:
            raise DataError("the encoder has learned nothing yet; call fit(graphs, train) first")
        return self._fitted


def _asked(columns: Tensor, wanted: bool) -> Tensor:
    return columns if wanted else columns[:, :0]
