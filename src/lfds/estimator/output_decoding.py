"""What the outputs of a network mean: classes by their names, or quantities in their units."""

from typing import Annotated, Literal, Self, final

import numpy as np
import torch
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, model_validator
from torch import Tensor

from lfds.data.errors import DataError
from lfds.estimator.targets import Labels

Label = bool | int | float | str
_Amount = Annotated[float, Field(allow_inf_nan=False)]
_Scale = Annotated[float, Field(gt=0, allow_inf_nan=False)]


@final
class ClassMeaning(BaseModel):
    """One output for each class.

    Attributes:
        names: The user's own labels, rising.
        temperature: What outputs are divided by before they become probabilities.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)
    kind: Literal["classes"] = "classes"
    names: Annotated[tuple[Label, ...], Field(min_length=2, strict=False)]
    temperature: _Scale = 1.0

    @property
    def labels(self) -> Labels:
        """The names as an array."""
        return np.array(self.names)

    @property
    def outputs(self) -> int:
        """How many there are."""
        return len(self.names)


@final
class AmountMeaning(BaseModel):
    """One output for each target, standardised over the graphs that were trained on.

    Attributes:
        means: Mean of each target.
        scales: Its standard deviation; 1 for a target that never changes.
        single: Whether there is one target, and no table of targets.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    kind: Literal["amounts"] = "amounts"
    means: Annotated[tuple[_Amount, ...], Field(min_length=1)]
    scales: tuple[_Scale, ...]
    single: bool

    @model_validator(mode="after")
    def _each_mean_has_a_scale(self) -> Self:
        if len(self.means) != len(self.scales):
            raise ValueError(f"{len(self.means)} means need as many scales, not {len(self.scales)}")
        if self.single and len(self.means) != 1:
            raise ValueError(f"a single target has one mean, not {len(self.means)}")
        return self

    @classmethod
    def learned(cls, values: NDArray[np.float64]) -> Self:
        """Learn mean and spread of targets, ``[graphs]`` or ``[graphs, targets]``."""
        table = values.reshape(len(values), -1)
        spread = table.std(axis=0)
        if (np.ptp(table, axis=0) > 0)[spread == 0].any():
            raise DataError(
                "the targets differ by less than can be squared; use other units", source="y"
            )
        return cls(
            means=tuple(table.mean(axis=0).tolist()),
            scales=tuple(np.where(spread > 0, spread, 1.0).tolist()),
            single=values.ndim == 1,
        )

    @property
    def outputs(self) -> int:
        """How many there are."""
        return len(self.means)

    def standardised(self, values: NDArray[np.float64]) -> Tensor:
        """Return targets as the network is to meet them, ``[graphs, targets]``."""
        table = (values.reshape(len(values), -1) - self.means) / self.scales
        return torch.from_numpy(table).float()

    def in_units(self, outputs: NDArray[np.floating]) -> NDArray[np.float64]:
        """Return outputs as the user's quantities, in the shape of the targets."""
        table = np.asarray(outputs, dtype=np.float64) * self.scales + self.means
        return table[:, 0] if self.single else table


Meaning = Annotated[ClassMeaning | AmountMeaning, Field(discriminator="kind")]
