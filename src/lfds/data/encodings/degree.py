"""Degrees: how many neighbours a node has, as an amount or as a kind."""

from typing import Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, PositiveInt
from scipy.sparse import csr_array

from lfds.data.encodings.adjacency import degrees


class Degree(BaseModel):
    """Settings of the degree encoding.

    Attributes:
        one_hot_up_to: A column for each degree from 0 to this one, which also stands for all
            larger ones; one column with the logarithm of 1 + degree when left out.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    kind: Literal["degree"] = "degree"
    one_hot_up_to: PositiveInt | None = None

    @property
    def width(self) -> int:
        """Columns of the encoding."""
        return 1 if self.one_hot_up_to is None else self.one_hot_up_to + 1


def degree(graph: csr_array, settings: Degree) -> NDArray[np.float64]:
    """Return ``[nodes, width]``: log(1 + degree), or one 1 in each row."""
    neighbours = degrees(graph)
    if settings.one_hot_up_to is None:
        return np.log1p(neighbours)[:, None]
    kinds = np.minimum(neighbours, settings.one_hot_up_to).astype(np.int64)
    return np.eye(settings.width)[kinds]
