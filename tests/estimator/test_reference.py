"""What is said about a network beside a random forest."""

import numpy as np
import pytest
import torch

from lfds.config.forest import ForestSettings
from lfds.data.graphset import GraphSet
from lfds.estimator.classifier import LFDSClassifier
from lfds.estimator.reference import Comparison, compare_with_forest
from lfds.estimator.regressor import LFDSRegressor

FEW = ForestSettings(trees=20, steps=2)
OPTIONS = {"epochs": 1, "options": {"width": 4, "head_width": 4}}


def clouds(y, count=60):
    """Sets of points; those of odd graphs are twice as wide."""
    random = np.random.default_rng(0)
    sizes = [6] * count
    points = np.concatenate([random.normal(size=(6, 2)) * (1 + 9 * (k % 2)) for k in range(count)])
    edges = np.zeros((2, 0), dtype=np.int64)
    return GraphSet.from_arrays(sizes, edges, y, attributes=points)


@pytest.mark.parametrize(
    ("gain", "words"),
    [
        (3.0, "the network is worth it"),
        (-3.0, "the random forest is better"),
        (1.0, "may be chance"),
        (-1.0, "may be chance"),
    ],
)
def test_the_verdict_follows_from_the_errors(gain, words):
    line = Comparison("accuracy", 0.9, 0.8, 50, gain).in_words("test")
    assert words in line
    assert "accuracy 0.8000 on the same 50 test graphs, the network 0.9000" in line


def test_classes_values_and_several_targets():
    odd = np.arange(60) % 2
    table = np.stack([odd, np.where(np.arange(60) % 5, 1 - odd, -1)], axis=1)
    for estimator, y, metric in (
        (LFDSClassifier(**OPTIONS), odd, "accuracy"),
        (LFDSRegressor(**OPTIONS), odd * 1.5, "RMSE"),
        (LFDSRegressor(**OPTIONS), np.stack([odd * 1.5, odd + 0.5], axis=1), "RMSE (in"),
    ):
        graphs = clouds(y)
        train, test = graphs[:40], graphs[40:]
        found = compare_with_forest(estimator.fit(train), train, test, settings=FEW)
        assert found.metric.startswith(metric)
        assert found.graphs == 20
        better = (
            found.forest > found.network if metric == "accuracy" else found.forest < found.network
        )
        assert better  # one epoch is not enough for a network
    graphs = clouds(odd)
    graphs = GraphSet.with_targets(graphs, torch.from_numpy(table))
    train, test = graphs[:40], graphs[40:]
    found = compare_with_forest(LFDSClassifier(**OPTIONS).fit(train), train, test, settings=FEW)
    assert (found.metric, found.forest) == ("mean AUC", 1.0)
