import numpy as np
import pytest

import lfds
from lfds.estimator.meaning import AmountMeaning, ClassMeaning
from lfds.explain.known import known_amounts, known_targets, predictions


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
