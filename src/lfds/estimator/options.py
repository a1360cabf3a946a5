"""The options of an estimator: what each needs, and what is said when it gets something else."""

import reprlib
from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

import numpy as np
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    FiniteFloat,
    PositiveFloat,
    PositiveInt,
    Strict,
    StrictBool,
    StrictInt,
    StrictStr,
    ValidationError,
)

from lfds.config.encoding import EncodingSettings
from lfds.config.errors import SpecError
from lfds.estimator.output_decoding import Label


def _plain(value: Any) -> Any:
    """Return what searches over options leave behind, numpy's numbers and arrays, as Python's."""
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, Mapping):
        return {_plain(key): _plain(one) for key, one in value.items()}
    return [_plain(one) for one in value] if isinstance(value, tuple | list) else value


_Names = Annotated[list[StrictStr], Strict()]
_Number = Annotated[FiniteFloat, Strict()]
_Weight = Annotated[PositiveFloat, Strict(), Field(allow_inf_nan=False)]
_Share = Annotated[float, Strict(), Field(ge=0, lt=1)]
_Count = Annotated[PositiveInt, Strict()]
_Value = StrictBool | StrictInt | _Number | StrictStr


def _needs(what: str) -> Any:
    return Field(description=what)


class Options(BaseModel):
    """What the constructor of an estimator was given, each of the kind it needs to be.

    The names of structures, encodings and network options, and the sizes of a network, are looked
    at where they become settings.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    structure: StrictStr | _Names = _needs("the name of a structure, as 'loop', or a list of names")
    slots: StrictInt = _needs("a whole number of slots")
    reduction: StrictStr = _needs("'sum', 'mean' or 'mass'")
    encoding: StrictStr | _Names | EncodingSettings = _needs(
        "'auto', the name of an encoding, a list of names, or EncodingSettings"
    )
    epochs: StrictInt = _needs("a whole number of epochs")
    batch_size: StrictInt = _needs("a whole number of graphs")
    learning_rate: _Number = _needs("a number, as 0.005")
    validation: _Share = _needs("a share from 0 to below 1, as 0.1")
    patience: _Count | None = _needs("None or a whole number from 1")
    options: dict[StrictStr, _Value] | None = _needs(
        "None or settings of the network by name, as {'width': 32}"
    )
    node_attributes: _Names = _needs("a list of names, as ['weight']")
    node_label: StrictStr | None = _needs("None or one name")
    seed: StrictInt = _needs("a whole number")
    warm_start: StrictBool = _needs("True or False")
    workers: _Count = _needs("a whole number of processes, from 1")
    progress: StrictBool = _needs("True or False")
    class_weight: Literal["balanced"] | list[tuple[Label, _Weight]] | None = Field(
        default=None,
        description="None, 'balanced', or a weight above 0 for each label, as {'rare': 3.0}",
    )

    @classmethod
    def of(cls, params: Mapping[str, Any]) -> Self:
        """Take the options that an estimator was made with; what is wrong with one is one line."""
        told = {name: _plain(value) for name, value in params.items()}
        if isinstance(told.get("class_weight"), dict):
            told["class_weight"] = list(told["class_weight"].items())
        try:
            return cls.model_validate(told)
        except ValidationError as error:
            name = str(error.errors(include_url=False)[0]["loc"][0])
            need, found = cls.model_fields[name].description, reprlib.repr(params[name])
            raise SpecError(f"{name}: needs {need}, not {found}") from error

    def for_estimator(self) -> dict[str, Any]:
        """Return the options in the form of the constructor."""
        told = {name: getattr(self, name) for name in type(self).model_fields}
        return {**told, "class_weight": self.weights}

    @property
    def weights(self) -> Literal["balanced"] | dict[Label, float] | None:
        """The class weights, by label."""
        return dict(self.class_weight) if isinstance(self.class_weight, list) else self.class_weight
