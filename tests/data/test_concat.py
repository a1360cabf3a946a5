import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from lfds.data.concat import concat
from lfds.data.errors import DataError
from lfds.data.graphset import GraphSet
from tests.estimator.small import graphs


@given(st.lists(st.lists(st.integers(0, 23), min_size=1, max_size=5), min_size=1, max_size=6))
def test_concatenated_selections_equal_one_selection(choices):
    parts = concat([graphs()[choice] for choice in choices])
    assert parts.equals(graphs()[[one for choice in choices for one in choice]])
    assert parts.x is parts.attributes


def test_features_other_than_attributes_are_kept():
    own = graphs().with_features(torch.arange(graphs().num_nodes)[:, None].float())
    assert torch.equal(concat([own[:3], own[3:]]).x, own.x)


def test_label_values_are_those_of_all_sets():
    one = GraphSet.from_arrays([1], [[], []], [0], labels=[5])
    two = GraphSet.from_arrays([1], [[], []], [0], labels=[2])
    assert concat([one, two]).label_values == ((2, 5),)


def test_sets_with_other_columns_or_targets_are_not_concatenated():
    one = GraphSet.from_arrays([1], [[], []], [0], attributes=[[1.0]])
    with pytest.raises(DataError, match="set 1: x needs 1 columns as in the first set, not 2"):
        concat([one, GraphSet.from_arrays([1], [[], []], [0], attributes=[[1.0, 2.0]])])
    with pytest.raises(DataError, match="set 1: needs the same targets as the first set"):
        concat([one, GraphSet.from_arrays([1], [[], []], [1.5], attributes=[[1.0]])])
    with pytest.raises(DataError, match="at least one set"):
        concat([])
