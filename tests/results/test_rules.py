import numpy as np
import pytest

from lfds.results.record import IncompleteRunError, ResultsError
from lfds.results.rules import scores_by
from tests.results.records import failed_record, fair_record, paper_record

# Fold 0 is best at epoch 0, fold 1 at epoch 1, both together at epoch 1, and the last is neither:
# each rule gives different numbers.
CURVES = [0.9, 0.7, 0.6], [0.1, 0.8, 0.5]


def paper(seed=0):
    return [paper_record(curve, number, seed=seed) for number, curve in enumerate(CURVES)]


@pytest.mark.parametrize(
    ("rule", "expected"),
    [("last", [0.6, 0.5]), ("common-best", [0.7, 0.8]), ("fold-best", [0.9, 0.8])],
)
def test_each_rule_evaluates_its_epoch(rule, expected):
    scores = scores_by(rule, paper()[::-1], folds=2, seeds=[0])
    np.testing.assert_array_equal(scores, [expected])


def test_every_seed_has_its_own_common_best_epoch():
    other = [paper_record([0.2, 0.3, 0.4], number, seed=1) for number in range(2)]
    scores = scores_by("common-best", paper() + other, folds=2, seeds=[0, 1])
    np.testing.assert_array_equal(scores, [[0.7, 0.8], [0.4, 0.4]])


def test_fair_uses_the_test_accuracy():
    records = [fair_record(0.25, 1), fair_record(0.75, 0)]
    np.testing.assert_array_equal(scores_by("fair", records, folds=2, seeds=[0]), [[0.75, 0.25]])


def test_rule_of_another_protocol_is_refused():
    with pytest.raises(ResultsError, match=r"fold-best does not apply .* fair; choose from fair"):
        scores_by("fold-best", [fair_record(0.1), fair_record(0.2, 1)], folds=2, seeds=[0])
    with pytest.raises(ResultsError, match="choose from last, common-best, fold-best"):
        scores_by("fair", paper(), folds=2, seeds=[0])


@pytest.mark.parametrize(
    ("records", "message"),
    [
        ([], "found 0 of them"),
        ([fair_record(0.1)], "found 1 of them in 1 records"),
        ([fair_record(0.1), fair_record(0.1), fair_record(0.2, 1)], "in 3 records"),
        ([fair_record(0.1), fair_record(0.1)], "found 1 of them in 2"),
        ([fair_record(0.1), fair_record(0.2, 1, seed=5)], "1 of them"),
        ([fair_record(0.1), failed_record(1)], "1 of 2 folds of max on SET failed"),
    ],
)
def test_incomplete_run_has_no_mean(records, message):
    with pytest.raises(IncompleteRunError, match=message):
        scores_by("fair", records, folds=2, seeds=[0])


def test_curves_of_unequal_length_have_no_common_epoch():
    uneven = [paper_record([0.5]), paper_record([0.5, 0.6], 1)]
    with pytest.raises(IncompleteRunError, match="same number of epochs"):
        scores_by("last", uneven, folds=2, seeds=[0])
