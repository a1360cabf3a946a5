"""Degrees of nodes, as a number or one-hot."""

from typing import Literal, final

import numpy as np
from numpy.typing import NDArray
from pydantic import PositiveInt
from scipy.sparse import csr_array

from lfds.data.encodings.base import StructuralEncoding, degrees


@final
class Degree(StructuralEncoding):
    """Settings of the degree encoding.

    Attributes:
        one_hot_up_to: One-hot encoding of degrees from 0 to this one, which includes all larger
            ones; ``None`` for one column log(1 + degree).
    """

    kind: Literal["degree"] = "degree"
    one_hot_up_to: PositiveInt | None = None

    @property
    def width(self) -> int:
        return 1 if self.one_hot_up_to is None else self.one_hot_up_to + 1

    def encode(self, graph: csr_array) -> NDArray[np.float64]:
        if self.one_hot_up_to is None:
            return np.log1p(degrees(graph))[:, None]
        column = np.minimum(degrees(graph), self.one_hot_up_to).astype(np.int64)
        return np.eye(self.width)[column]
