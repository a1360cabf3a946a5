"""How one model is fitted on one split."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, NonNegativeFloat, PositiveFloat, PositiveInt

Decay = Literal["exponential", "cosine", "linear"]
Keep = Literal["best", "last"]
Protocol = Literal["fair", "paper"]


class TrainingSettings(BaseModel):
    """How one model is fitted on one split.

    Attributes:
        epochs: Passes over the training graphs.
        batch_size: Graphs of a batch, at most.
        learning_rate: Learning rate of the first epoch.
        final_learning_rate: Learning rate of the last epoch.
        decay: How the learning rate goes from the first to the last epoch.
        weight_decay: Weight decay of AdamW.
        averaging: Decay of the exponential moving average (EMA) of the weights over the epochs,
            which is what is evaluated and kept; 0 switches it off.
        keep: Which epoch's weights are kept: the ``best`` on the validation graphs, or the
            ``last``. With few validation graphs the best of many epochs is best by chance.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)
    epochs: PositiveInt = 100
    batch_size: int = Field(default=32, ge=2)
    learning_rate: PositiveFloat = 0.005
    final_learning_rate: PositiveFloat = 0.0001
    decay: Decay = "linear"
    weight_decay: NonNegativeFloat = 0.0
    averaging: float = Field(default=0.8, ge=0, lt=1)
    keep: Keep = "best"
