import numpy as np
import pytest
from scipy.special import softmax

from lfds.estimator.calibration import probabilities, temperature


def drawn(scale, graphs=4000):
    """Classes drawn from softmax of logits that are then shown ``scale`` times too large."""
    rng = np.random.default_rng(0)
    logits = rng.normal(size=(graphs, 3)) * 2
    shares = softmax(logits, axis=1)
    y = (shares.cumsum(axis=1) < rng.random((graphs, 1))).sum(axis=1)
    return logits * scale, y


@pytest.mark.parametrize("scale", [0.25, 1.0, 5.0])
def test_what_is_too_sure_by_a_factor_is_divided_by_it(scale):
    assert temperature(*drawn(scale)) == pytest.approx(scale, rel=0.1)


def test_it_is_the_least_of_the_cost_on_a_grid():
    logits, y = drawn(3.0, graphs=30)

    def cost(t):
        likely = np.log(softmax(logits / t, axis=1))[np.arange(len(y)), y]
        return -likely.sum() + np.log(t) ** 2 / 2

    found = temperature(logits, y)
    assert cost(found) <= min(cost(t) for t in np.geomspace(0.05, 50, 400)) + 1e-6


def test_a_few_right_answers_are_no_certainty():
    logits = np.array([[3.0, 0.0], [0.0, 3.0]])
    found = temperature(logits, np.array([0, 1]))
    assert 0.3 < found < 1
    assert temperature(np.zeros((0, 2)), np.zeros(0, dtype=int)) == 1.0


def test_probabilities_sum_to_one_and_keep_the_order():
    logits, _ = drawn(1.0, graphs=50)
    shares = probabilities(logits.astype(np.float32), 2.0)
    assert np.allclose(shares.sum(axis=1), 1)
    assert (shares.argmax(axis=1) == logits.argmax(axis=1)).all()
    assert np.allclose(shares, softmax(logits / 2, axis=1), atol=1e-6)
