"""From the outputs of a network to what users read: classes and probabilities, or values."""

from typing import Annotated, ClassVar, Literal, Self, final

import numpy as np
import torch
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, model_validator
from scipy.optimize import minimize_scalar
from scipy.special import expit, log_softmax, softmax
from torch import Tensor

from lfds.data.errors import DataError
from lfds.data.readers.tables import Task
from lfds.estimator.options import Label
from lfds.estimator.targets import Labels

_Value = Annotated[float, Field(allow_inf_nan=False)]
_Scale = Annotated[float, Field(gt=0, allow_inf_nan=False)]
_LARGEST_LOG_TEMPERATURE = np.log(100.0)


@final
class ClassDecoder(BaseModel):
    """Decodes one output per class.

    Attributes:
        names: The labels as the user spelt them, sorted.
        temperature: Outputs are divided by it before the softmax.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)
    task: ClassVar[Task] = "classification"
    kind: Literal["classes"] = "classes"
    names: Annotated[tuple[Label, ...], Field(min_length=2, strict=False)]
    temperature: _Scale = 1.0

    @property
    def target_names(self) -> tuple[str, ...]:
        """Empty: a single target of classes has no name."""
        return ()

    @property
    def labels(self) -> Labels:
        """The names as an array."""
        return np.array(self.names)

    @property
    def outputs(self) -> int:
        """Number of outputs."""
        return len(self.names)

    def probabilities(self, outputs: NDArray[np.floating]) -> NDArray[np.float64]:
        """Return the probability of every class; rows sum to one."""
        logits = np.asarray(outputs, dtype=np.float64)
        found: NDArray[np.float64] = softmax(logits / self.temperature, axis=1)
        return found


@final
class MultiLabelDecoder(BaseModel):
    """Decodes one output per target, all with the same two classes.

    Attributes:
        names: The two labels as the user spelt them, sorted; outputs are logits of the second.
        targets: The name of each target.
        temperatures: Outputs of each target are divided by it before the sigmoid.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)
    task: ClassVar[Task] = "classification"
    kind: Literal["labels"] = "labels"
    names: Annotated[tuple[Label, Label], Field(strict=False)]
    targets: Annotated[tuple[str, ...], Field(min_length=1, strict=False)]
    temperatures: Annotated[tuple[_Scale, ...], Field(strict=False)]

    @model_validator(mode="after")
    def _each_target_has_a_temperature(self) -> Self:
        if len(self.targets) != len(self.temperatures):
            raise ValueError(
                f"{len(self.targets)} targets need as many temperatures, not "
                f"{len(self.temperatures)}"
            )
        return self

    @property
    def target_names(self) -> tuple[str, ...]:
        """The name of each target."""
        return self.targets

    @property
    def labels(self) -> Labels:
        """The names as an array."""
        return np.array(self.names)

    @property
    def outputs(self) -> int:
        """Number of outputs."""
        return len(self.targets)

    def probabilities(self, outputs: NDArray[np.floating]) -> NDArray[np.float64]:
        """Return the probability of the second class of each target, ``[graphs, targets]``."""
        logits = np.asarray(outputs, dtype=np.float64)
        found: NDArray[np.float64] = expit(logits / np.array(self.temperatures))
        return found


@final
class ValueDecoder(BaseModel):
    """Decodes one output per regression target, standardized over the graphs that were fitted on.

    Attributes:
        means: Mean of each target.
        scales: Its standard deviation; 1 for a constant target.
        single: Whether targets are ``[graphs]`` and not ``[graphs, targets]``.
        names: The name of each target; empty if they have none.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    task: ClassVar[Task] = "regression"
    kind: Literal["amounts"] = "amounts"  # so called in model cards of all versions
    means: Annotated[tuple[_Value, ...], Field(min_length=1)]
    scales: tuple[_Scale, ...]
    single: bool
    names: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _each_mean_has_a_scale(self) -> Self:
        if len(self.means) != len(self.scales):
            raise ValueError(f"{len(self.means)} means need as many scales, not {len(self.scales)}")
        if self.single and len(self.means) != 1:
            raise ValueError(f"a single target has one mean, not {len(self.means)}")
        return self

    @classmethod
    def fit(cls, values: NDArray[np.float64], names: tuple[str, ...] = ()) -> Self:
        """Return the decoder for targets, ``[graphs]`` or ``[graphs, targets]``; NaN is missing."""
        table = values.reshape(len(values), -1)
        missing = np.isnan(table)
        # Without missing values, numpy's own functions: the same bits as ever.
        mean, std = (np.nanmean, np.nanstd) if missing.any() else (np.mean, np.std)
        spread = std(table, axis=0)
        ranges = np.nanmax(table, axis=0) - np.nanmin(table, axis=0)
        if (ranges > 0)[spread == 0].any():
            raise DataError(
                "the targets differ by too little for double precision; use other units",
                source="y",
            )
        return cls(
            means=tuple(mean(table, axis=0).tolist()),
            scales=tuple(np.where(spread > 0, spread, 1.0).tolist()),
            single=values.ndim == 1,
            names=names,
        )

    @property
    def target_names(self) -> tuple[str, ...]:
        """The name of each target; empty if they have none."""
        return self.names

    @property
    def value_names(self) -> list[str]:
        """The name of each value: that of its target, or ``value`` with a number."""
        if self.names:
            return list(self.names)
        return ["value"] if self.single else [f"value{k}" for k in range(self.outputs)]

    @property
    def outputs(self) -> int:
        """Number of outputs."""
        return len(self.means)

    def standardize(self, values: NDArray[np.float64]) -> Tensor:
        """Return targets with mean 0 and variance 1, ``[graphs, targets]``."""
        table = (values.reshape(len(values), -1) - self.means) / self.scales
        return torch.from_numpy(table).float()

    def values(self, outputs: NDArray[np.floating]) -> NDArray[np.float64]:
        """Return outputs in the units and the shape of the targets."""
        table = np.asarray(outputs, dtype=np.float64) * self.scales + self.means
        return table[:, 0] if self.single else table


Decoder = ClassDecoder | MultiLabelDecoder | ValueDecoder
StoredDecoder = Annotated[Decoder, Field(discriminator="kind")]


def member_spread(decoder: Decoder, outputs: NDArray[np.floating]) -> NDArray[np.float64]:
    """Return the sample standard deviation of the predictions of several networks.

    Args:
        decoder: Turns outputs into probabilities or values.
        outputs: ``[members, graphs, outputs]`` of two members or more.
    """
    read = decoder.values if isinstance(decoder, ValueDecoder) else decoder.probabilities
    found: NDArray[np.float64] = np.stack([read(one) for one in outputs]).std(axis=0, ddof=1)
    return found


def fit_temperature(logits: NDArray[np.floating], y: NDArray[np.integer]) -> float:
    r"""Return the temperature that maximizes the likelihood of some labels.

    .. math::
        \min_T \; -\sum_g \log \mathrm{softmax}(\mathbf{z}_g / T)_{y_g} + \tfrac12 (\log T)^2

    The last term is a weak prior for :math:`T = 1`: a few correct predictions must not make every
    probability 0 or 1.

    Args:
        logits: :math:`\mathbf{z}`, ``[graphs, classes]``, of graphs that were not trained on.
        y: The class of each.
    """
    if len(y) == 0:
        return 1.0
    exact = np.asarray(logits, dtype=np.float64)
    graph = np.arange(len(y))

    def cost(log_t: float) -> float:
        likelihood = log_softmax(exact / np.exp(log_t), axis=1)[graph, y]
        return float(-likelihood.sum() + 0.5 * log_t**2)

    bounds = (-_LARGEST_LOG_TEMPERATURE, _LARGEST_LOG_TEMPERATURE)
    return float(np.exp(minimize_scalar(cost, bounds=bounds, method="bounded").x))
