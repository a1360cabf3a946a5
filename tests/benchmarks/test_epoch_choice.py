"""Which epoch each rule of ``benchmarks.epoch_choice`` keeps, and its scores of several targets."""

import numpy as np
import pytest
from benchmarks.epoch_choice import RULES, Curves, Row, append, choose, problems, scores, stored


def test_each_rule_keeps_its_epoch():
    accuracy = [0.5, 0.6, 0.9, 0.6, 0.6, 0.6, 0.6]
    loss = [1.0, 0.9, 0.8, 0.1, 0.8, 0.3, 0.3]
    auc = [0.5, 0.8, 0.6, 0.6, 0.6, 0.6, 0.8]
    calibrated = [0.9, 0.8, 0.7, 0.6, 0.5, 0.6, 0.7]
    curves = Curves(accuracy, auc, loss, calibrated)
    # One lucky epoch does not decide the mean of five; of two with the same AUC the loss decides.
    kept = [(2, 7), (6, 7), (3, 7), (4, 7), (6, 7), (6, 7)]
    assert [choose(rule, curves, 10) for rule in RULES] == kept
    stopped = [(2, 5), (1, 4), (3, 6), (4, 7), (6, 7), (6, 7)]
    assert [choose(rule, curves, 2) for rule in RULES] == stopped


def test_missing_targets_are_left_out():
    outputs = np.array([[4.0, -4.0], [-4.0, 4.0], [4.0, 4.0], [-4.0, -4.0]])
    y = np.array([[1, -1], [0, 1], [-1, 1], [0, 0]])
    first, second = problems(outputs, y)
    np.testing.assert_array_equal(first[1], [1, 0, 0])
    np.testing.assert_array_equal(first[0], [[0, 4], [0, -4], [0, -4]])
    np.testing.assert_array_equal(second[1], [1, 1, 0])
    accuracy, auc, loss = scores([first, second], [first, second])
    assert (accuracy, auc) == (1, 1)
    assert loss < 0.02
    wrong = (first[0], 1 - first[1])
    assert scores([first, second], [wrong, second])[0] == pytest.approx(0.5)


def test_rows_are_appended_and_read_again(tmp_path):
    rows = [Row("MUTAG", 3, rule, 7, 50, 0.75, 0.5, 0.625) for rule in RULES]
    append(rows, tmp_path / "rows.csv")
    assert stored(tmp_path / "rows.csv") == rows
