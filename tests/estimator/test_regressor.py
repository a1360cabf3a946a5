from dataclasses import replace

import numpy as np
import pytest
import torch
from sklearn.metrics import r2_score

import lfds
from lfds.data.errors import DataError
from lfds.estimator import ConstantTargetWarning
from tests.estimator.small import FAST, graphs, labels, regressor, values


@pytest.mark.parametrize(("layers", "epochs", "rate"), [("last", 25, 0.02), ("all", 40, 0.01)])
def test_predictions_are_in_the_units_of_the_targets(layers, epochs, rate):
    network = {"width": 16, "node_dropout": 0.0, "pooled_layers": layers}
    options = {**FAST, "epochs": epochs, "options": network, "reduction": "sum"}
    made = lfds.LFDSRegressor(**options, patience=None, learning_rate=rate).fit(
        graphs(), 1000 + 100 * values()
    )
    found = made.predict(graphs())
    assert 900 < found.min() < found.max() < 2500
    assert made.score(graphs(), 1000 + 100 * values()) > 0.5


@pytest.mark.parametrize("columns", [1, 3])
def test_several_targets_are_predicted_as_a_table(columns):
    table = np.stack([values() * (k + 1) for k in range(columns)], axis=1)
    made = lfds.LFDSRegressor(**FAST).fit(graphs(), table)
    assert made.predict(graphs()).shape == (24, columns)
    with pytest.raises(DataError, match=f"has 2 targets for each graph, and the model {columns}"):
        made.partial_fit(graphs(), np.ones((24, 2)))


def test_the_score_is_r2():
    expected = r2_score(values(), regressor().predict(graphs()))
    assert regressor().score(graphs(), values()) == pytest.approx(expected)
    carried = replace(graphs(), y=torch.tensor(values()).float(), classes=())
    assert regressor().score(carried) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([1.0] * 3, "needs one label for each of 24 graphs, not 3"),
        ([1.0] * 23 + [float("nan")], "target 23 is nan, but needs to be finite"),
        (labels(), "use LFDSClassifier for classes"),
        (np.ones((24, 0)), "needs one number, or one row of numbers"),
        ([1e200] * 24, r"no larger than 1e\+100"),
    ],
)
def test_invalid_targets_are_refused(y, message):
    with pytest.raises(DataError, match=message):
        lfds.LFDSRegressor(**FAST).fit(graphs(), y)


def test_a_constant_target_is_fitted_with_a_warning():
    with pytest.warns(ConstantTargetWarning, match="y: the target has one value only, 7; there is"):
        made = lfds.LFDSRegressor(**FAST).fit(graphs(), np.full(24, 7.0))
    assert np.isfinite(made.predict(graphs())).all()


def test_the_largest_valid_targets_are_fitted_and_scored():
    targets = np.linspace(-1e100, 1e100, 24)
    made = lfds.LFDSRegressor(**FAST).fit(graphs(), targets)
    assert np.isfinite(made.predict(graphs())).all()
    assert np.isfinite(made.score(graphs(), targets))


@pytest.mark.parametrize("estimator", [lfds.LFDSClassifier, lfds.LFDSRegressor])
def test_weights_are_averaged_and_variances_have_a_floor(estimator):
    training = estimator(**FAST)._options().training_settings()
    assert (training.averaging, training.variance_floor) == (0.8, 0.01)
