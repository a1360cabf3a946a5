"""What is written about a model beside its weights: options, classes, versions, training data."""

import platform
from importlib.metadata import version
from typing import Self

from pydantic import BaseModel, ConfigDict, Field, PositiveInt

from lfds import __version__
from lfds.data.fingerprint import content_of
from lfds.data.graphset import GraphSet
from lfds.estimator.options import Options
from lfds.estimator.output_decoding import Meaning
from lfds.nn import NetworkSettings
from lfds.train.loop import Progress

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
    parameters: Options
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
