"""How one model is trained."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, NonNegativeFloat, PositiveFloat, PositiveInt

from lfds.config.migrations import added

Decay = Literal["exponential", "cosine", "linear"]
Keep = Literal["best", "last"]
Protocol = Literal["fair", "paper"]


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
    keep: Annotated[Keep, added(before="best", since=1)] = "best"
    """Which epoch's weights are tested: ``best`` on validation (default) or ``last``."""
