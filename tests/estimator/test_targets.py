from dataclasses import replace

import numpy as np
import pytest
import torch

from lfds.data.errors import DataError
from lfds.estimator.targets import (
    ManyClassesWarning,
    check_has_targets,
    check_several_classes,
    class_indices,
    class_labels,
    class_weights,
    regression_targets,
    sorted_classes,
    warn_of_many_classes,
)
from tests.estimator.small import graphs, labels

FOUR = graphs()[:4]


@pytest.mark.parametrize(
    "y",
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
def test_labels_keep_their_type(y):
    found = class_labels(y, FOUR)
    plain = y.tolist() if hasattr(y, "tolist") else y
    assert found.tolist() == np.ravel(plain).tolist()
    assert found.dtype.kind in "iubfU"


def test_labels_of_the_graphs_are_the_default():
    assert class_labels(None, FOUR).tolist() == labels(4)


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
        (["a", "b\udce9", "a", "b"], r"y: 'b\\udce9' is not valid Unicode"),
        (np.array(["a", "b\ud800", "a", "b"], dtype=object), "y: .* not valid Unicode"),
    ],
)
def test_invalid_labels_are_refused(y, message):
    with pytest.raises(DataError, match=message):
        class_labels(y, FOUR)


def test_numbers_to_regress_are_not_classes():
    regression = replace(FOUR, y=torch.tensor([1.0, 2, 3, 4]), classes=())
    with pytest.raises(DataError, match="numbers to regress, not classes; use LFDSRegressor"):
        class_labels(None, regression)


def test_graphs_without_targets_are_named_by_their_source():
    check_has_targets(FOUR)
    bare = graphs().from_arrays([1, 2], [[], []])
    with pytest.raises(DataError, match=r"^y: the graphs have no labels; pass y=$"):
        check_has_targets(bare)
    with pytest.raises(DataError, match=r"^a.jsonl: the graphs have no labels; add some$"):
        check_has_targets(bare, "a.jsonl", "add some")


def test_a_single_class_is_refused():
    with pytest.raises(DataError, match=r"all 3 graphs are of class 'a', .* at least 2 classes"):
        check_several_classes(np.array(["a", "a", "a"]))
    check_several_classes(np.array([1, 2]))


def test_indices_of_labels():
    classes = np.array(["a", "b", "d"])
    assert class_indices(np.array(["d", "a"]), classes).tolist() == [2, 0]
    with pytest.raises(DataError, match="label 'c' is none of the classes a, b, d"):
        class_indices(np.array(["a", "c"]), classes)


@pytest.mark.parametrize(
    "y",
    [
        np.arange(11),
        np.arange(11.0),
        np.arange(109) % 11,
        np.random.default_rng(0).integers(0, 1000, 5000),
    ],
)
def test_many_different_numbers_give_a_warning(y):
    with pytest.warns(ManyClassesWarning, match=rf"for {len(y)} graphs; .*LFDSRegressor"):
        warn_of_many_classes(y)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    "y",
    [
        np.arange(10),
        np.arange(110) % 11,
        np.array([f"name {k}" for k in range(50)]),
        np.arange(3900) % 100,
    ],
)
def test_names_and_large_classes_give_no_warning(y):
    warn_of_many_classes(y)


def test_classes_are_sorted():
    assert sorted_classes(["b", "a", "b"]).tolist() == ["a", "b"]
    assert sorted_classes(np.array([True, False])).tolist() == [False, True]


@pytest.mark.parametrize(
    ("classes", "message"),
    [
        (5, "needs a list of labels, as .*not 5"),
        ("ab", "needs a list of labels, as .*not 'ab'"),
        ([["a"], ["b"]], "needs a list of labels"),
        ([["a"], ["b", "c"]], "needs a list of labels"),
        (["a", 3], r"needs a list of labels, .*not \['a', 3\]"),
        (["a", None, "b"], "needs a list of labels"),
        ([None, None], "needs names, integers or booleans throughout, not NoneType"),
        (["a", "a"], r"needs at least 2 labels, not \['a'\]"),
        ([], "needs at least 2 labels"),
    ],
)
def test_invalid_classes_are_refused(classes, message):
    with pytest.raises(DataError, match=rf"^classes: {message}"):
        sorted_classes(classes)


def test_balanced_weights_give_every_class_the_same_total():
    y = torch.tensor([0, 0, 0, 1, 2, 2])
    weights = class_weights("balanced", np.array(["a", "b", "c"]), y)
    assert torch.allclose(weights * torch.bincount(y), torch.full((3,), 2.0))
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


def test_regression_targets_in_one_or_several_columns():
    assert regression_targets([1, 2, 3, 4], FOUR).tolist() == [1.0, 2.0, 3.0, 4.0]
    assert regression_targets(np.ones((4, 2)), FOUR).shape == (4, 2)
    regression = replace(FOUR, y=torch.tensor([1.0, 2, 3, 4]), classes=())
    assert regression_targets(None, regression).tolist() == [1, 2, 3, 4]


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([1.0, float("nan"), 1.0, 2.0], "target 1 is nan, but needs to be finite"),
        ([[1.0, 2.0], [1.0, float("inf")], [1, 1], [1, 1]], r"target 1 is \[1.0, inf\]"),
        (["a"] * 4, "use LFDSClassifier for classes"),
        ([1.0], "one label for each of 4 graphs, not 1"),
        (np.ones((4, 1, 1)), "one row of numbers"),
        (np.ones((4, 0)), r"one row of numbers, for each graph, not float64 of shape \[4, 0\]"),
        ([1.0, -1e200, 1.0, 2.0], r"target 1 is -1e\+200, but .* no larger than 1e\+100; use"),
        (None, "use LFDSClassifier for classes"),
    ],
)
def test_invalid_regression_targets_are_refused(y, message):
    with pytest.raises(DataError, match=message):
        regression_targets(y, FOUR)
