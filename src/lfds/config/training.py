"""How one model is trained."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, NonNegativeFloat, PositiveFloat, PositiveInt

from lfds.config.migrations import added

Decay = Literal["exponential", "cosine", "linear"]
Keep = Literal["best", "loss", "mean-loss", "last"]
Protocol = Literal["fair", "paper"]
Precision = Literal["32", "bf16"]


class TrainingSettings(BaseModel):
    """How one model is trained; every setting is also an option of ``lfds compare``."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", allow_inf_nan=False, use_attribute_docstrings=True
    )

    epochs: PositiveInt = 100
    """Number of passes over the training graphs."""
    batch_size: int = Field(default=32, ge=2)
    """Number of graphs of a batch, at most."""
    learning_rate: PositiveFloat = 0.005
    """Learning rate of the first epoch."""
    final_learning_rate: PositiveFloat = 0.0001
    """Learning rate of the last epoch."""
    decay: Decay = "linear"
    """How the learning rate falls from the first to the last epoch."""
    weight_decay: NonNegativeFloat = 0.0
    """Weight decay of AdamW."""
    averaging: float = Field(default=0.8, ge=0, lt=1)
    """Decay of the exponential moving average (EMA) of the weights over the epochs, which is
    evaluated and kept; 0 switches it off."""
    variance_floor: Annotated[NonNegativeFloat, Field(le=1), added(before=0.0, since=5)] = 0.0
    """Smallest variance of a channel in the batch norms of the averaged weights, relative to the
    median of its norm; 0 leaves all variances as they are."""
    keep: Annotated[Keep, added(before="best", since=1)] = "best"
    """Which epoch's weights are tested: ``best`` score on validation graphs (default), lowest
    ``loss`` there, lowest ``mean-loss`` of an epoch and the four before it, or ``last``."""
    device: Annotated[str, added(before="cpu", since=2)] = "cpu"
    """Where to train: ``cpu``, ``cuda``, ``mps``, ...; ``auto`` is the accelerator of the machine,
    if it has one."""
    precision: Annotated[Precision, added(before="32", since=2)] = "32"
    """Precision of the products in the network: ``32``, or ``bf16`` under autocast; weights and
    losses are always float32."""
    members: Annotated[int, Field(ge=1, le=1000), added(before=1, since=5)] = 1
    """Number of networks that are trained from different random streams; their probabilities are
    averaged. Several need the protocol ``fair``."""
