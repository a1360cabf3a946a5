import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close

from lfds.data import DataError
from lfds.data.encodings.columns import AttributeColumns, LabelColumns


def test_labels_get_a_column_for_each_value_seen():
    learned = LabelColumns.learned(torch.tensor([[7, 1], [-2, 1], [7, 4]]))
    assert learned.values == ((-2, 7), (1, 4))
    assert learned.names == ("label0=-2", "label0=7", "label1=1", "label1=4")
    found = learned(torch.tensor([[7, 4], [-2, 1]]))
    assert_close(found, torch.tensor([[0.0, 1, 0, 1], [1, 0, 1, 0]]))


def test_a_value_never_seen_is_all_zeros():
    learned = LabelColumns.learned(torch.tensor([[0], [1]]))
    assert learned(torch.tensor([[5]])).tolist() == [[0, 0]]


@given(st.integers(2, 30), st.integers(1, 4), st.integers(0, 2**31))
def test_attributes_get_mean_zero_and_spread_one(nodes, width, seed):
    drawn = torch.randn(nodes, width, generator=torch.Generator().manual_seed(seed))
    found = AttributeColumns.learned(drawn * 50 + 900)(drawn * 50 + 900)
    assert_close(found.mean(dim=0), torch.zeros(width), atol=1e-4, rtol=0)
    assert_close(found.std(dim=0, correction=0), torch.ones(width), atol=1e-3, rtol=0)


@pytest.mark.parametrize("value", [0.0, 0.1, 1e30, -3.3])
def test_a_constant_becomes_zero_and_what_differs_from_it_later_stays_finite(value):
    learned = AttributeColumns.learned(torch.full((1001, 1), value))
    assert learned.scales == (1.0,)
    assert learned(torch.full((3, 1), value)).tolist() == [[0], [0], [0]]
    assert learned(torch.tensor([[value + 2.0]])).isfinite().all()


def test_one_node_is_enough_to_learn_from():
    learned = AttributeColumns.learned(torch.tensor([[3.0, 4.0]]))
    assert learned(torch.tensor([[3.0, 5.0]])).tolist() == [[0, 1]]


def test_no_columns_stay_no_columns():
    assert LabelColumns.learned(torch.empty(4, 0, dtype=torch.int64))(
        torch.empty(2, 0, dtype=torch.int64)
    ).shape == (2, 0)
    assert AttributeColumns.learned(torch.empty(4, 0))(torch.empty(2, 0)).shape == (2, 0)


def test_another_number_of_columns_is_refused():
    with pytest.raises(DataError, match="labels: the encoder was fitted on 1 columns"):
        LabelColumns.learned(torch.tensor([[1]]))(torch.tensor([[1, 2]]))
    with pytest.raises(DataError, match="attributes: the encoder was fitted on 2 columns"):
        AttributeColumns.learned(torch.zeros(3, 2))(torch.zeros(3, 1))
