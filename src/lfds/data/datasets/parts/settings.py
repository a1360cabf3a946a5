"""Settings of the generated objects made of parts."""

from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, NonNegativeFloat, PositiveInt, model_validator

Task = Literal["count", "share", "pairs"]
Form = Literal["graph", "set"]


class PartsSettings(BaseModel):
    """Which objects are generated, and how hard they are to classify.

    Attributes:
        task: What distinguishes the two classes: ``count``, the number of parts; ``share``, their
            proportion; ``pairs``, which halves of parts occur together.
        form: A part is two connected nodes of a ``graph``, or one element of a ``set``.
        objects: Number of objects of the size used for training.
        larger: Whether as many larger objects follow.
        times: How many times larger those are.
        part_types: Number of types of left halves, and of right halves; more are harder.
        parts: Least number of parts of an object.
        gap: How far apart the classes are, from almost 0 to 1; less is harder.
        noise: Standard deviation of what every object adds to the features of each part type;
            more is harder.
        seed: Random seed.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)
    task: Task
    form: Form = "graph"
    objects: PositiveInt = 200
    larger: bool = False
    times: int = Field(default=4, ge=2)
    # Provenance of earlier versions calls it kinds.
    part_types: int = Field(default=4, ge=2, serialization_alias="kinds")
    parts: PositiveInt = 16
    gap: float = Field(default=0.5, gt=0.0, le=1.0)
    noise: NonNegativeFloat = 0.1
    seed: int = 0

    @model_validator(mode="after")
    def _enough_parts(self) -> Self:
        if self.parts < 2 * self.part_types:
            raise ValueError(
                f"every type occurs in every object: part_types={self.part_types} needs at least "
                f"{2 * self.part_types} parts, not {self.parts}"
            )
        return self

    @property
    def name(self) -> str:
        """Name of the dataset."""
        return f"parts-{self.task}-{self.form}{'-larger' if self.larger else ''}"
