"""Degrees: how many neighbours a node has, as an amount or as a kind."""

from typing import Literal, final

import numpy as np
from numpy.typing import NDArray
from pydantic import PositiveInt
from scipy.sparse import csr_array

from lfds.data.encodings.adjacency import degrees
from lfds.data.encodings.base import StructuralEncoding


@final
class Degree(StructuralEncoding):
    """Settings of the degree encoding.

    Attributes:
        one_hot_up_to: A column for each degree from 0 to this one, which also stands for all
            larger ones; one column with the logarithm of 1 + degree when left out.
    """

    kind: Literal["degree"] = "degree"
    one_hot_up_to: PositiveInt | None = None

    @property
    def width(self) -> int:
        return 1 if self.one_hot_up_to is None else self.one_hot_up_to + 1

    def encode(self, graph: csr_array) -> NDArray[np.float64]:
        neighbours = degrees(graph)
        if self.one_hot_up_to is None:
            return np.log1p(neighbours)[:, None]
        kinds = np.minimum(neighbours, self.one_hot_up_to).astype(np.int64)
        return np.eye(self.width)[kinds]
