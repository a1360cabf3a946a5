"""The contract of structural encodings: a graph in, some numbers for each node out."""

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict
from scipy.sparse import csr_array


class StructuralEncoding(BaseModel, ABC):
    """Settings of an encoding, which also know how to apply themselves.

    An encoding reads one graph and nothing else: neither the other graphs of its set, nor labels,
    nor a global random state. So a graph is encoded alike alone and in any company.

    Attributes:
        kind: The name of the encoding, as written in settings and on the command line.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    # Raised when the same settings begin to give other numbers: what was cached is forgotten.
    version: ClassVar[int] = 1
    kind: str

    @property
    @abstractmethod
    def width(self) -> int:
        """Columns of the encoding."""

    @abstractmethod
    def encode(self, graph: csr_array) -> NDArray[np.float64]:
        """Return ``[nodes, width]`` for a graph given by its symmetric 0/1 adjacency."""
