from dataclasses import replace

import numpy as np
import pytest
import torch

from lfds.data.errors import DataError
from lfds.estimator.regression_targets import amounts
from tests.estimator.small import graphs

FOUR = graphs()[:4]


def test_amounts_in_one_or_several_columns():
    assert amounts([1, 2, 3, 4], FOUR).tolist() == [1.0, 2.0, 3.0, 4.0]
    assert amounts(np.ones((4, 2)), FOUR).shape == (4, 2)
    regression = graphs()[:4]
    regression = replace(regression, y=torch.tensor([1.0, 2, 3, 4]), classes=())
    assert amounts(None, regression).tolist() == [1, 2, 3, 4]


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([1.0, float("nan"), 1.0, 2.0], "target 1 is nan, but needs to be finite"),
        ([[1.0, 2.0], [1.0, float("inf")], [1, 1], [1, 1]], r"target 1 is \[1.0, inf\]"),
        (["a"] * 4, "use LFDSClassifier for names"),
        ([1.0], "one label for each of 4 graphs, not 1"),
        (np.ones((4, 1, 1)), "one row of numbers"),
        (np.ones((4, 0)), r"one row of numbers, for each graph, not float64 of shape \[4, 0\]"),
        (
            [1.0, -1e200, 1.0, 2.0],
            r"target 1 is -1e\+200, but .* no larger than 1e\+100; use",
        ),
        (None, "use LFDSClassifier for names"),
    ],
)
def test_amounts_that_cannot_be_used_are_named(y, message):
    with pytest.raises(DataError, match=message):
        amounts(y, FOUR)
