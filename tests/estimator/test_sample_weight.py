"""Weights of graphs: in the loss, in the score, and through all kinds of targets."""

import numpy as np
import pytest
import torch

import lfds
from lfds.data.errors import DataError
from lfds.estimator.targets import sample_weights
from lfds.train.objective import Classify, ClassifyEach, Regress, Weighted, with_weights
from tests.estimator.small import FAST, graphs, labels, values

OUTPUTS = torch.tensor([[1.0, -2.0], [0.5, 0.25], [-1.0, 3.0], [2.0, 0.0]])
NAN = float("nan")
ONE, EACH = {"classes": True, "single": True}, {"classes": True, "single": False}
VALUES = {"classes": False, "single": False}
CASES = [
    (Classify(), torch.tensor([0, 1, 1, 0]), ONE),
    (Classify(torch.tensor([1.0, 3.0])), torch.tensor([0, 1, 1, 0]), ONE),
    (ClassifyEach(1.5), torch.tensor([[0, 1], [1, -1], [-1, 0], [1, 1]]), EACH),
    (Regress(), torch.tensor([[0.0, 1.0], [1.0, 2.0], [3.0, 0.0], [1.0, 1.0]]), VALUES),
    (
        Regress(1.75, huber=True),
        torch.tensor([[0.0, 1.0], [1.0, NAN], [9.0, 0.0], [1.0, 1.0]]),
        VALUES,
    ),
]


@pytest.mark.parametrize(("objective", "y", "form"), CASES)
def test_losses_of_single_graphs_add_up_to_those_of_all(objective, y, form):
    each = objective.each(OUTPUTS, y)
    assert each.shape == (4,)
    torch.testing.assert_close(each.sum() / objective.terms(y), objective.loss(OUTPUTS, y))
    total = each.sum().item() / objective.terms_of_a_graph(y)
    assert total == pytest.approx(objective.total_loss(OUTPUTS, y))
    scores = objective.scores(OUTPUTS, y).sum().item()
    assert scores == pytest.approx(objective.total_score(OUTPUTS, y))


@pytest.mark.parametrize(("objective", "y", "form"), CASES)
def test_a_graph_of_weight_two_counts_as_two_graphs(objective, y, form):
    weighted = Weighted(objective, **form)
    rows = torch.tensor([0, 1, 1, 2, 3])
    table = with_weights(y, torch.tensor([1.0, 2.0, 1.0, 1.0]))
    found = weighted.loss(OUTPUTS, table) * weighted.terms(table)
    twice = objective.loss(OUTPUTS[rows], y[rows]) * objective.terms(y[rows])
    torch.testing.assert_close(found, twice)
    for name in ("total_loss", "total_score"):
        twice = getattr(objective, name)(OUTPUTS[rows], y[rows])
        assert getattr(weighted, name)(OUTPUTS, table) == pytest.approx(twice)
    ones = with_weights(y, torch.ones(4))
    torch.testing.assert_close(weighted.loss(OUTPUTS, ones), objective.loss(OUTPUTS, y))


def test_graphs_without_weight_are_not_learned():
    """Labels of half of the graphs are wrong: they do no harm if they weigh nothing."""
    random = np.random.default_rng(0)
    sets = [random.normal(size=(8, 2)) * (1 + 9 * (k % 2)) for k in range(80)]
    right = [k % 2 for k in range(80)]
    given = [one if k % 4 < 2 else 1 - one for k, one in enumerate(right)]
    weights = [1.0 if k % 4 < 2 else 0.0 for k in range(80)]
    options = {"epochs": 30, "validation": 0.0, "options": {"width": 8, "head_width": 8}}
    known = lfds.LFDSClassifier(**options).fit(sets, given, weights)
    assert known.score(sets, right) > 0.9
    assert known.score(sets, given, sample_weight=weights) > 0.9
    assert lfds.LFDSClassifier(**options).fit(sets, given).score(sets, right) < 0.9


def test_all_kinds_of_targets_take_weights_and_equal_ones_change_nothing():
    weights = np.full(24, 3.0)
    plain = lfds.LFDSRegressor(**FAST).fit(graphs(), values())
    same = lfds.LFDSRegressor(**FAST).fit(graphs(), values(), sample_weight=weights)
    np.testing.assert_allclose(plain.predict(graphs()), same.predict(graphs()), rtol=1e-4)
    table = np.stack([np.arange(24) % 2, np.arange(24) // 12], axis=1)
    several = lfds.LFDSClassifier(**FAST).fit(graphs(), table, sample_weight=weights)
    assert several.predict(graphs()).shape == (24, 2)
    members = lfds.LFDSClassifier(**FAST, members=2, workers=2)
    members.fit(graphs(), labels(), sample_weight=np.arange(1, 25))
    assert members.validation_score_ >= 0


def test_weights_in_several_processes_and_checkpoints(tmp_path):
    fit = lfds.LFDSClassifier(**FAST).fit(
        graphs(), sample_weight=np.arange(1, 25), checkpoints=tmp_path / "checkpoints"
    )
    plain = lfds.LFDSClassifier(**FAST).fit(graphs(), sample_weight=np.arange(1, 25))
    assert np.array_equal(fit.outputs(graphs()), plain.outputs(graphs()))


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1.0, 2.0], "needs one number for each of 3 graphs, not shape \\[2\\]"),
        (["a", "b", "c"], "needs one number for each"),
        ([1.0, -1.0, 1.0], "not -1.0 at graph 1"),
        ([1.0, NAN, 1.0], "not nan at graph 1"),
        ([0.0, 0.0, 0.0], "not zeros alone"),
    ],
)
def test_invalid_weights_are_one_line(weights, message):
    with pytest.raises(DataError, match=f"^sample_weight: .*{message}"):
        sample_weights(weights, 3)


def test_weights_have_mean_one():
    assert sample_weights([1, 2, 3], 3).tolist() == pytest.approx([0.5, 1.0, 1.5])
    assert sample_weights(None, 3) is None
