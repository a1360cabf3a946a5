from dataclasses import replace

import numpy as np
import pytest
import torch

from lfds.data.errors import DataError
from lfds.estimator.targets import (
    ManyClassesWarning,
    announced,
    class_labels,
    need_several,
    positions,
    tell_of_amounts,
)
from tests.estimator.small import graphs, names

FOUR = graphs()[:4]


@pytest.mark.parametrize(
    "labels",
    [
        ["b", "a", "b", "c"],
        [3, -1, 3, 7],
        [True, False, True, True],
        [1.0, 2.0, 1.0, 1.0],
        np.array(["b", "a", "b", "c"], dtype=object),
        np.array([[3], [1], [3], [1]]),
        torch.tensor([3, 1, 3, 1]),
    ],
)
def test_labels_stay_what_they_are(labels):
    found = class_labels(labels, FOUR)
    plain = labels.tolist() if hasattr(labels, "tolist") else labels
    assert found.tolist() == np.ravel(plain).tolist()
    assert found.dtype.kind in "iubfU"


def test_labels_come_from_the_graphs_where_none_are_given():
    assert class_labels(None, FOUR).tolist() == names(4)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (["a", "b"], "y: needs one label for each of 4 graphs, not 2"),
        ("a", "not one value"),
        ([1.0, float("nan"), 1.0, 2.0], "label 1 is nan, .* leave that graph out"),
        ([1.0, 1.5, 1.0, 2.0], "label 1 is 1.5, .* use LFDSRegressor"),
        (["a", float("nan"), "a", "b"], "mixes names with other labels"),
        (["a", None, "a", "b"], "mixes names with other labels"),
        (np.array(["a", None, "a", "b"], dtype=object), "throughout, not NoneType, str"),
        ([None] * 4, "throughout, not NoneType"),
        ([[1, 2]] * 4, r"one label per graph, not shape \[4, 2\]"),
        ([[1], [2, 3], [1], [1]], "one row of labels"),
    ],
)
def test_labels_that_cannot_be_used_are_named(y, message):
    with pytest.raises(DataError, match=message):
        class_labels(y, FOUR)


def test_quantities_are_no_classes():
    regression = replace(FOUR, y=torch.tensor([1.0, 2, 3, 4]), classes=())
    with pytest.raises(DataError, match="carry quantities and no classes; use LFDSRegressor"):
        class_labels(None, regression)


def test_one_class_is_none_to_tell_apart():
    with pytest.raises(DataError, match=r"all 3 graphs are of class 'a'; .* at least 2 classes"):
        need_several(np.array(["a", "a", "a"]))
    need_several(np.array([1, 2]))


def test_positions_are_those_among_the_classes():
    classes = np.array(["a", "b", "d"])
    assert positions(np.array(["d", "a"]), classes).tolist() == [2, 0]
    with pytest.raises(DataError, match="label 'c' is none of the classes a, b, d"):
        positions(np.array(["a", "c"]), classes)


@pytest.mark.parametrize(
    "labels",
    [
        np.arange(11),
        np.arange(11.0),
        np.arange(109) % 11,
        np.random.default_rng(0).integers(0, 1000, 5000),
    ],
)
def test_numbers_that_look_like_quantities_are_told_of(labels):
    with pytest.warns(ManyClassesWarning, match=rf"for {len(labels)} graphs, .*LFDSRegressor"):
        tell_of_amounts(labels)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    "labels",
    [
        np.arange(10),
        np.arange(110) % 11,
        np.array([f"name {k}" for k in range(50)]),
        np.arange(3900) % 100,
    ],
)
def test_names_and_classes_of_many_graphs_are_not(labels):
    tell_of_amounts(labels)


def test_announced_labels_rise():
    assert announced(["b", "a", "b"]).tolist() == ["a", "b"]
    assert announced(np.array([True, False])).tolist() == [False, True]


@pytest.mark.parametrize(
    ("classes", "message"),
    [
        (5, "needs a list of labels, as .*not 5"),
        ("ab", "needs a list of labels, as .*not 'ab'"),
        ([["a"], ["b"]], "needs a list of labels"),
        ([["a"], ["b", "c"]], "needs a list of labels"),
        (["a", 3], r"needs a list of labels, .*not \['a', 3\]"),
        (["a", None, "b"], "needs a list of labels"),
        ([None, None], "needs names, whole numbers or booleans throughout, not NoneType"),
        (["a", "a"], r"needs at least 2 labels, not \['a'\]"),
        ([], "needs at least 2 labels"),
    ],
)
def test_what_cannot_be_announced_is_named(classes, message):
    with pytest.raises(DataError, match=rf"^classes: {message}"):
        announced(classes)
