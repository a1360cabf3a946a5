"""What is written about a model beside its weights: options, classes, versions, training data."""

import platform
from collections.abc import Mapping
from importlib.metadata import version
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field, PositiveInt

from lfds import __version__
from lfds.data.encodings.encoder import EncodingSettings
from lfds.data.graphset import GraphSet
from lfds.estimator.meaning import Label, Meaning
from lfds.estimator.settings import plain
from lfds.experiment.datasets import content_of
from lfds.experiment.training import Progress
from lfds.nn import NetworkSettings

_FORBID = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)
_LIBRARIES = ("torch", "torch-geometric", "numpy", "scipy", "scikit-learn", "safetensors")


class DataMark(BaseModel):
    """Which graphs a model was fitted on.

    Attributes:
        name: What the set was called.
        graphs: How many there were.
        fingerprint: Hash of everything that could be learned from.
    """

    model_config = _FORBID
    name: str
    graphs: int
    fingerprint: str

    @classmethod
    def of(cls, graphs: GraphSet) -> Self:
        """Take the mark of some graphs."""
        return cls(name=graphs.name, graphs=len(graphs), fingerprint=content_of(graphs))


class Parameters(BaseModel):
    """The options of an estimator, as its constructor takes them."""

    model_config = _FORBID
    structure: str | list[str]
    slots: int
    reduction: str
    encoding: str | list[str] | EncodingSettings
    epochs: int
    batch_size: int
    learning_rate: float
    validation: float
    patience: int | None
    options: dict[str, bool | int | float | str] | None
    node_attributes: list[str]
    node_label: str | None
    seed: int
    warm_start: bool
    workers: int
    progress: bool
    class_weight: str | list[tuple[Label, float]] | None = None

    @classmethod
    def of(cls, params: Mapping[str, Any]) -> Self:
        """Take the options that an estimator was made with."""
        told = {name: _plain_value(value) for name, value in params.items()}
        if isinstance(told.get("class_weight"), Mapping):
            told["class_weight"] = [(plain(k), float(v)) for k, v in told["class_weight"].items()]
        return cls.model_validate(told)

    def for_estimator(self) -> dict[str, Any]:
        """Return the options in the form of the constructor."""
        told = {name: getattr(self, name) for name in type(self).model_fields}
        if isinstance(self.class_weight, list):
            told["class_weight"] = dict(self.class_weight)
        return told


class ModelCard(BaseModel):
    """Everything about a model that is no tensor.

    Attributes:
        parameters: The options of the estimator.
        network: What the weights belong to.
        features: Width of the encoded nodes.
        meaning: What the outputs mean.
        training_data: Which graphs it was fitted on.
        history: How that went.
        fits: How often it was fitted.
        versions: Libraries it was written with.
        files: SHA-256 of every other file of the folder.
    """

    model_config = _FORBID
    parameters: Parameters
    network: NetworkSettings
    features: PositiveInt
    meaning: Meaning
    training_data: DataMark
    history: Progress
    fits: int = Field(ge=0)
    versions: dict[str, str]
    files: dict[str, str]


def library_versions() -> dict[str, str]:
    """Return the versions of what a model is made by."""
    told = {name: version(name) for name in _LIBRARIES}
    return {"lfds": __version__, "python": platform.python_version(), **told}


def _plain_value(value: Any) -> Any:
    if isinstance(value, tuple | list):
        return [_plain_value(one) for one in value]
    # Searches over options leave numpy's numbers and words behind.
    return value.item() if hasattr(value, "item") else value
