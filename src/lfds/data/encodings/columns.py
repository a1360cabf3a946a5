"""Labels and attributes as numbers for a network: learned from some nodes, applied to any."""

from itertools import pairwise
from typing import Annotated, Self, final

import torch
from pydantic import BaseModel, ConfigDict, Field, model_validator
from torch import Tensor

from lfds.data.errors import DataError

_Label = Annotated[int, Field(ge=-(2**63), lt=2**63)]
_Amount = Annotated[float, Field(allow_inf_nan=False)]
_Scale = Annotated[float, Field(gt=0, allow_inf_nan=False)]


@final
class LabelColumns(BaseModel):
    """One column for each value of each label that was seen.

    Attributes:
        values: For each column of labels the values seen, rising.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    values: tuple[tuple[_Label, ...], ...]

    @model_validator(mode="after")
    def _values_rise(self) -> Self:
        if any(low >= high for seen in self.values for low, high in pairwise(seen)):
            raise ValueError("the values of a label must rise")
        return self

    @classmethod
    def learned(cls, labels: Tensor) -> Self:
        """Learn the values of ``labels [nodes, l]``."""
        return cls(values=tuple(tuple(column.unique().tolist()) for column in labels.T))

    @property
    def names(self) -> tuple[str, ...]:
        """What each column means."""
        return tuple(f"label{k}={v}" for k, seen in enumerate(self.values) for v in seen)

    def __call__(self, labels: Tensor) -> Tensor:
        """Return ``[nodes, columns]``, one 1 for each label; all zeros for a value never seen."""
        _need_columns(labels, len(self.values), "labels")
        columns = [
            column[:, None] == torch.tensor(seen, dtype=column.dtype)
            for column, seen in zip(labels.T, self.values, strict=True)
        ]
        return torch.cat([torch.empty(len(labels), 0), *columns], dim=1).to(torch.float32)


@final
class AttributeColumns(BaseModel):
    """Attributes with mean 0 and spread 1 over the nodes they were learned from.

    Attributes:
        means: Mean of each column.
        scales: Its standard deviation; 1 for a column that never changes, which becomes 0.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    means: tuple[_Amount, ...]
    scales: tuple[_Scale, ...]

    @model_validator(mode="after")
    def _each_mean_has_a_scale(self) -> Self:
        if len(self.means) != len(self.scales):
            raise ValueError(f"{len(self.means)} means need as many scales, not {len(self.scales)}")
        return self

    @classmethod
    def learned(cls, attributes: Tensor) -> Self:
        """Learn mean and spread of each column of ``attributes [nodes, a]``."""
        exact = attributes.to(torch.float64)
        mean = exact.mean(dim=0)
        spread = (exact - mean).square().mean(dim=0).sqrt()
        # Equal float32 numbers add up exactly in float64: a constant has spread zero, not 1e-17.
        scales = torch.where(spread == 0, torch.ones_like(spread), spread)
        return cls(means=tuple(mean.tolist()), scales=tuple(scales.tolist()))

    @property
    def names(self) -> tuple[str, ...]:
        """What each column means."""
        return tuple(f"attribute{k}" for k in range(len(self.means)))

    def __call__(self, attributes: Tensor) -> Tensor:
        """Return ``[nodes, a]``, standardised."""
        _need_columns(attributes, len(self.means), "attributes")
        mean, scale = torch.tensor([self.means, self.scales], dtype=torch.float64)
        # In place: memory that is new to the process costs more than the arithmetic.
        standard = attributes.to(torch.float64, copy=True).sub_(mean).div_(scale)
        return standard.to(torch.float32)


def _need_columns(given: Tensor, columns: int, name: str) -> None:
    if given.shape[1] != columns:
        raise DataError(
            f"the encoder was fitted on {columns} columns, these graphs have {given.shape[1]}; "
            "encode them with an encoder fitted on graphs of their kind",
            source=name,
        )
