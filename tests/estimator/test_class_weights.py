import numpy as np
import pytest
import torch

from lfds.data.errors import DataError
from lfds.estimator.class_weights import class_weights


def test_balanced_weights_let_every_class_count_the_same():
    y = torch.tensor([0, 0, 0, 1, 2, 2])
    weights = class_weights("balanced", np.array(["a", "b", "c"]), y)
    totals = weights * torch.bincount(y)
    assert torch.allclose(totals, torch.full((3,), 2.0))
    assert class_weights(None, np.array(["a", "b"]), y) is None


def test_weights_by_label():
    weights = class_weights({"c": 3}, np.array(["a", "c"]), torch.tensor([0, 1]))
    assert weights.tolist() == [1.0, 3.0]
    for wrong, message in (
        ({"x": 1.0}, "^class_weight: label 'x' is none of the classes a, c$"),
        ({3: 1.0}, "^class_weight: label '3' is none of the classes"),
    ):
        with pytest.raises(DataError, match=message):
            class_weights(wrong, np.array(["a", "c"]), torch.tensor([0, 1]))
