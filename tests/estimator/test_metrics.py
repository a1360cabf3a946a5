from dataclasses import replace

import numpy as np
import pytest
import torch
from sklearn.metrics import balanced_accuracy_score, f1_score, log_loss, roc_auc_score

from lfds.data.errors import DataError
from lfds.estimator.metrics import calibration_bins, class_metrics, evaluate, value_metrics
from tests.estimator.small import classifier, graphs, regressor, values


def drawn(classes, graphs=200):
    rng = np.random.default_rng(classes)
    probabilities = rng.dirichlet(np.ones(classes), graphs)
    return rng.integers(classes, size=graphs), probabilities


@pytest.mark.parametrize("classes", [2, 3, 6])
def test_metrics_agree_with_scikit_learn(classes):
    y, probabilities = drawn(classes)
    found = class_metrics(y, probabilities)
    best = probabilities.argmax(axis=1)
    assert found.accuracy == pytest.approx((best == y).mean())
    assert found.balanced_accuracy == pytest.approx(balanced_accuracy_score(y, best))
    assert found.f1 == pytest.approx(f1_score(y, best, average="macro"))
    assert found.log_loss == pytest.approx(log_loss(y, probabilities))
    expected = (
        roc_auc_score(y, probabilities[:, 1])
        if classes == 2
        else roc_auc_score(y, probabilities, multi_class="ovr")
    )
    assert found.auc == pytest.approx(expected)
    confusion = np.array(found.confusion)
    assert confusion.sum() == found.graphs == 200
    assert confusion[1, 0] == ((y == 1) & (best == 0)).sum()


def test_a_class_without_graphs_is_left_out_of_means():
    y, probabilities = drawn(3)
    y = y % 2
    found = class_metrics(y, probabilities)
    assert found.auc is None
    best = probabilities.argmax(axis=1)
    both = [(best[y == c] == c).mean() for c in (0, 1)]
    assert found.balanced_accuracy == pytest.approx(np.mean(both))
    assert len(found.confusion) == 3


def test_the_log_loss_of_a_certain_error_is_finite():
    found = class_metrics(np.array([0, 1]), np.array([[0.0, 1.0], [0.0, 1.0]]))
    assert 300 < found.log_loss < 400
    assert found.calibration_error == pytest.approx(0.5)


def test_calibration_bins_compare_confidence_and_accuracy():
    confidence = np.array([0.95, 0.95, 0.55, 0.55, 1.0])
    correct = np.array([True, False, True, True, True])
    bins = calibration_bins(confidence, correct)
    assert [one.count for one in bins] == [2, 3]
    assert bins[0].confidence == pytest.approx(0.55)
    assert bins[0].accuracy == 1.0
    assert bins[1].accuracy == pytest.approx(2 / 3)


def test_metrics_of_values():
    y = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 9.0]])
    found = value_metrics(y, y + np.array([1.0, -1.0]))
    assert found.mae == pytest.approx(1.0)
    assert found.rmse == pytest.approx(1.0)
    assert found.r2 < 1
    assert value_metrics(y, y).r2 == 1.0
    assert value_metrics(y[:1], y[:1]).r2 is None


def test_a_classifier_is_evaluated_on_the_labels_of_the_graphs():
    found = evaluate(classifier(), graphs())
    assert found.accuracy == classifier().score(graphs())
    assert found.graphs == 24


def test_classes_are_matched_by_name_and_not_by_position():
    swapped = replace(graphs(), classes=("ring", "path"), y=1 - graphs().y)
    assert evaluate(classifier(), swapped) == evaluate(classifier(), graphs())


def test_an_unknown_class_is_refused():
    strange = replace(graphs(), classes=("path", "star"))
    with pytest.raises(DataError, match=r"^y: label 'star' is none of the classes path, ring"):
        evaluate(classifier(), strange)
    with pytest.raises(DataError, match=r"^a.jsonl: label 'star'"):
        evaluate(classifier(), strange, "a.jsonl")


def test_a_regressor_is_evaluated_on_the_targets_of_the_graphs():
    carried = replace(graphs(), y=torch.tensor(values()).float(), classes=())
    assert evaluate(regressor(), carried).r2 == pytest.approx(regressor().score(carried))
    with pytest.raises(DataError, match="not classes"):
        evaluate(classifier(), carried)
