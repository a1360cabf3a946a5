from dataclasses import replace

import numpy as np
import pytest
import torch
from sklearn.metrics import r2_score

import lfds
from lfds.data.errors import DataError
from tests.estimator.small import FAST, amounts, graphs, names, regressor


@pytest.mark.parametrize(("layers", "epochs", "rate"), [("last", 40, 0.02), ("all", 80, 0.005)])
def test_it_learns_in_the_units_of_the_targets(layers, epochs, rate):
    options = {"width": 16, "node_dropout": 0.0, "pooled_layers": layers}
    told = {**FAST, "epochs": epochs, "options": options, "reduction": "sum"}
    made = lfds.LFDSRegressor(**told, patience=None, learning_rate=rate).fit(
        graphs(), 1000 + 100 * amounts()
    )
    found = made.predict(graphs())
    assert 900 < found.min() < found.max() < 2500
    assert made.score(graphs(), 1000 + 100 * amounts()) > 0.5


@pytest.mark.parametrize("columns", [1, 3])
def test_several_targets_come_back_as_a_table(columns):
    table = np.stack([amounts() * (k + 1) for k in range(columns)], axis=1)
    made = lfds.LFDSRegressor(**FAST).fit(graphs(), table)
    assert made.predict(graphs()).shape == (24, columns)
    with pytest.raises(DataError, match=f"has 2 targets for each graph, and the model {columns}"):
        made.partial_fit(graphs(), np.ones((24, 2)))


def test_the_score_is_r2_also_of_targets_that_graphs_carry():
    expected = r2_score(amounts(), regressor().predict(graphs()))
    assert regressor().score(graphs(), amounts()) == pytest.approx(expected)
    carried = replace(graphs(), y=torch.tensor(amounts()).float(), classes=())
    assert regressor().score(carried) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([1.0] * 3, "needs one label for each of 24 graphs, not 3"),
        ([1.0] * 23 + [float("nan")], "target 23 is nan, but needs to be finite"),
        (names(), "use LFDSClassifier for names"),
        (np.ones((24, 0)), "needs one number, or one row of numbers"),
        ([1e200] * 24, r"no larger than 1e\+100"),
    ],
)
def test_targets_that_cannot_be_met_are_named(y, message):
    with pytest.raises(DataError, match=message):
        lfds.LFDSRegressor(**FAST).fit(graphs(), y)


def test_a_constant_target_is_met():
    made = lfds.LFDSRegressor(**FAST).fit(graphs(), np.full(24, 7.0))
    assert np.isfinite(made.predict(graphs())).all()


def test_the_largest_targets_that_are_taken_are_learned_and_judged():
    targets = np.linspace(-1e100, 1e100, 24)
    made = lfds.LFDSRegressor(**FAST).fit(graphs(), targets)
    assert np.isfinite(made.predict(graphs())).all()
    assert np.isfinite(made.score(graphs(), targets))


def test_quantities_are_told_by_single_epochs():
    assert lfds.LFDSRegressor(**FAST)._training().averaging == 0
    assert lfds.LFDSClassifier(**FAST)._training().averaging > 0
