import numpy as np
import pytest

import lfds
from lfds.data.errors import DataError
from lfds.estimator.output_decoding import AmountMeaning, ClassMeaning
from lfds.explain.predictions import known_amounts, known_targets, predictions, with_known


def one_node_graphs(y):
    return lfds.GraphSet.from_arrays([1] * 3, [[], []], y)


def test_targets_are_found_by_name_whatever_their_order():
    graphs = one_node_graphs(["dog", "cat", "emu"])
    assert known_targets(graphs, ("emu", "dog")).tolist() == [1, -1, 0]
    assert known_targets(one_node_graphs([7, 5, 7]), (5, 7)).tolist() == [1, 0, 1]


def test_graphs_without_targets_have_none():
    assert known_targets(one_node_graphs(None), (0, 1)).tolist() == [-1] * 3
    assert known_targets(one_node_graphs([0.5, 1.5, 2.5]), (0, 1)).tolist() == [-1] * 3


def test_amounts_are_known_where_the_graphs_carry_as_many():
    assert known_amounts(one_node_graphs([0.5, 1.5, 2.5]), 1).tolist() == [[0.5], [1.5], [2.5]]
    assert known_amounts(one_node_graphs([7, 5, 7]), 1).tolist() == [[7], [5], [7]]
    for y in (None, ["a", "b", "c"]):
        assert np.isnan(known_amounts(one_node_graphs(y), 1)).all()
    assert np.isnan(known_amounts(one_node_graphs([0.5, 1.5, 2.5]), 2)).all()


def test_outputs_become_probabilities_at_the_temperature():
    outputs = np.float32([[0, 2], [1, 0], [0, 0]])
    meaning = ClassMeaning(names=("a", "b"), temperature=2.0)
    found = predictions(outputs, one_node_graphs(["a", "b", "b"]), meaning)
    assert found["probabilities"][0, 1] == pytest.approx(1 / (1 + np.exp(-1)))
    assert found["target"].tolist() == [0, 1, 1]
    assert found["amounts"].shape == (3, 0)


def test_outputs_become_amounts_in_their_units():
    meaning = AmountMeaning(means=(10.0,), scales=(2.0,), single=True)
    found = predictions(np.float32([[0], [1], [-1]]), one_node_graphs([9.0, 12.0, 8.5]), meaning)
    assert found["amounts"].tolist() == [[10], [12], [8]]
    assert found["true_amounts"].tolist() == [[9], [12], [8.5]]
    assert found["classes"] == ()


@pytest.mark.parametrize(
    ("names", "y", "places"),
    [
        ((0, 1), [1.0, 0.0, 1.0], [1, 0, 1]),
        ((0, 1), [0, 0, 0], [0, 0, 0]),
        ((False, True), [True, False, True], [1, 0, 1]),
        ((2, 10), [10, 2, 10], [1, 0, 1]),
        ((0.0, 1.0), [1, 0, 1], [1, 0, 1]),
        (("a", "b"), np.array([["b"], ["a"], ["b"]], dtype=object), [1, 0, 1]),
    ],
)
def test_labels_are_taken_as_an_estimator_takes_them(names, y, places):
    meaning = ClassMeaning(names=names)
    given = with_known(one_node_graphs([5, 6, 7]), y, meaning)
    assert known_targets(given, names).tolist() == places


def test_carried_numbers_are_classes_whatever_their_kind():
    assert known_targets(one_node_graphs([0, 0, 0]), (0, 1)).tolist() == [0, 0, 0]
    assert known_targets(one_node_graphs([0, 1, 0]), (0.0, 1.0)).tolist() == [0, 1, 0]
    assert known_targets(one_node_graphs([True, False, True]), (False, True)).tolist() == [1, 0, 1]
    assert known_targets(one_node_graphs(["1", "0", "1"]), (0, 1)).tolist() == [1, 0, 1]
    assert known_amounts(one_node_graphs([0, 0, 0]), 1).tolist() == [[0]] * 3


def test_given_amounts_are_as_many_as_the_model_tells():
    meaning = AmountMeaning(means=(0.0,), scales=(1.0,), single=True)
    for y in ([0, 0, 0], [0.0, 0.0, 0.0], [[0], [0], [0]]):
        assert known_amounts(with_known(one_node_graphs(None), y, meaning), 1).tolist() == [[0]] * 3
    with pytest.raises(DataError, match="y: has 2 targets for each graph, and the model 1"):
        with_known(one_node_graphs(None), [[1, 2]] * 3, meaning)


def test_given_labels_are_classes_of_the_model():
    with pytest.raises(DataError, match="label 'c' is none of the classes a, b"):
        with_known(one_node_graphs(None), ["a", "b", "c"], ClassMeaning(names=("a", "b")))
