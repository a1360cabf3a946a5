"""How objects made of parts are drawn: which task, of which form, how hard."""

from typing import Self

from pydantic import BaseModel, ConfigDict, Field, NonNegativeFloat, PositiveInt, model_validator

from lfds.data.datasets.parts.tasks import Form, Task


class PartsSettings(BaseModel):
    """Which objects are drawn, and how hard it is to tell them apart.

    Attributes:
        task: What tells the two classes apart: ``count``, how many parts; ``share``, in what
            proportion; ``pairs``, which halves of parts occur together.
        form: A part is two joined nodes of a ``graph``, or one element of a ``set``.
        objects: How many there are, of the size that is trained on.
        larger: Whether as many larger objects follow.
        times: How many times larger those are.
        kinds: Kinds of left halves, and of right halves; more are harder.
        parts: Parts of an object, at least.
        gap: How far apart the classes are, from almost nothing to 1; less is harder.
        noise: Spread of what every object adds to the look of each kind; more is harder.
        seed: Root of all streams.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)
    task: Task
    form: Form = "graph"
    objects: PositiveInt = 200
    larger: bool = False
    times: int = Field(default=4, ge=2)
    kinds: int = Field(default=4, ge=2)
    parts: PositiveInt = 16
    gap: float = Field(default=0.5, gt=0.0, le=1.0)
    noise: NonNegativeFloat = 0.1
    seed: int = 0

    @model_validator(mode="after")
    def _room_for_all_kinds(self) -> Self:
        if self.parts < 2 * self.kinds:
            raise ValueError(
                f"every kind occurs in every object: {self.kinds} kinds need at least "
                f"{2 * self.kinds} parts, not {self.parts}"
            )
        return self

    @property
    def name(self) -> str:
        """What the set is called."""
        return f"parts-{self.task}-{self.form}{'-larger' if self.larger else ''}"
