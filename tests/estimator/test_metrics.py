import numpy as np
import pytest
from sklearn.metrics import balanced_accuracy_score, f1_score, log_loss, roc_auc_score

from lfds.estimator.metrics import amount_metrics, class_metrics, confidence_bins


def drawn(classes, graphs=200):
    rng = np.random.default_rng(classes)
    shares = rng.dirichlet(np.ones(classes), graphs)
    return rng.integers(classes, size=graphs), shares


@pytest.mark.parametrize("classes", [2, 3, 6])
def test_metrics_are_those_of_scikit_learn(classes):
    y, shares = drawn(classes)
    found = class_metrics(y, shares)
    best = shares.argmax(axis=1)
    assert found.accuracy == pytest.approx((best == y).mean())
    assert found.balanced_accuracy == pytest.approx(balanced_accuracy_score(y, best))
    assert found.f1 == pytest.approx(f1_score(y, best, average="macro"))
    assert found.log_loss == pytest.approx(log_loss(y, shares))
    expected = (
        roc_auc_score(y, shares[:, 1])
        if classes == 2
        else roc_auc_score(y, shares, multi_class="ovr")
    )
    assert found.auc == pytest.approx(expected)
    confusion = np.array(found.confusion)
    assert confusion.sum() == found.graphs == 200
    assert confusion[1, 0] == ((y == 1) & (best == 0)).sum()


def test_a_class_without_graphs_is_no_part_of_the_means():
    y, shares = drawn(3)
    y = y % 2
    found = class_metrics(y, shares)
    assert found.auc is None
    best = shares.argmax(axis=1)
    both = [(best[y == kind] == kind).mean() for kind in (0, 1)]
    assert found.balanced_accuracy == pytest.approx(np.mean(both))
    assert len(found.confusion) == 3


def test_certainty_about_the_wrong_class_is_a_large_loss_and_no_infinity():
    found = class_metrics(np.array([0, 1]), np.array([[0.0, 1.0], [0.0, 1.0]]))
    assert 300 < found.log_loss < 400
    assert found.calibration_error == pytest.approx(0.5)


def test_calibration_is_the_distance_of_sure_and_right():
    confidence = np.array([0.95, 0.95, 0.55, 0.55, 1.0])
    right = np.array([True, False, True, True, True])
    bins = confidence_bins(confidence, right)
    assert [one.count for one in bins] == [2, 3]
    assert bins[0].confidence == pytest.approx(0.55)
    assert bins[0].accuracy == 1.0
    assert bins[1].accuracy == pytest.approx(2 / 3)


def test_amounts():
    y = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 9.0]])
    found = amount_metrics(y, y + np.array([1.0, -1.0]))
    assert found.mae == pytest.approx(1.0)
    assert found.rmse == pytest.approx(1.0)
    assert found.r2 < 1
    assert amount_metrics(y, y).r2 == 1.0
    assert amount_metrics(y[:1], y[:1]).r2 is None
