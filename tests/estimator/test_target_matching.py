import numpy as np
import pytest

from lfds.data import DataError
from lfds.estimator.target_matching import as_in_model, target_places


@pytest.mark.parametrize(
    ("wanted", "found", "places"),
    [
        ("AB", "AB", (0, 1)),
        ("ABC", "CAB", (1, 2, 0)),
        ("ABC", "xyz", (0, 1, 2)),
        ("ABC", "BxA", (2, 0, 1)),
        ("AB", "ba", (1, 0)),
        ("Aa", "aA", (1, 0)),
        ("Aa", "Ax", (0, 1)),
        ("AA", "AB", (0, 1)),
        ("AB", "BB", (0, 1)),
        (["", ""], "BA", (0, 1)),
        ("AB", ["", ""], (0, 1)),
    ],
)
def test_names_are_matched_and_the_others_keep_their_order(wanted, found, places):
    assert target_places(wanted, found) == places
    assert target_places(wanted, found, some=True) == places


@pytest.mark.parametrize("found", ["AX", "A", ["", ""], "", "ABCD", "AA"])
def test_fewer_or_more_targets_are_refused(found):
    with pytest.raises(DataError, match=f"has {len(found)} targets .* the model 3"):
        target_places("ABC", found)


def test_some_are_enough_if_all_of_them_are_known():
    assert target_places("ABC", "CA", some=True) == (1, None, 0)
    assert target_places("ABC", "b", some=True) == (None, 0, None)
    for found in ("AX", ["", ""], "", "ABCD", "AA"):
        with pytest.raises(DataError, match="targets for each graph"):
            target_places("ABC", found, some=True)


def test_what_is_not_given_is_missing():
    table = np.array([[1.0, 2.0]])
    assert as_in_model(table, (1, 0), np.nan).tolist() == [[2.0, 1.0]]
    found = as_in_model(table, (1, None, 0), np.nan)
    assert found[:, [0, 2]].tolist() == [[2.0, 1.0]]
    assert np.isnan(found[:, 1]).all()
