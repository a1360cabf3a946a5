"""Estimators on graphs that stay on disk, in parts."""

import numpy as np
import pytest

from lfds import LFDSClassifier, LFDSRegressor
from lfds.estimator.metrics import evaluate
from lfds.explain.atlas import atlas
from tests.data.shards.small import in_parts, random_graphs

HOW = {"epochs": 2, "options": {"width": 8}, "encoding": "rwse"}


@pytest.fixture(scope="module")
def graphs():
    return random_graphs(60)


@pytest.fixture(scope="module")
def sharded(graphs, tmp_path_factory):
    return in_parts(graphs, tmp_path_factory.mktemp("set") / "set", graphs_per_part=16)


@pytest.fixture(scope="module")
def fitted(graphs):
    return LFDSClassifier(**HOW).fit(graphs)


def test_a_fit_and_predictions_have_the_bits_of_the_set_in_memory(graphs, sharded, fitted):
    found = LFDSClassifier(**HOW).fit(sharded)
    assert found.history_.loss == fitted.history_.loss
    assert found.training_data_ == fitted.training_data_
    assert found.outputs(sharded).tolist() == fitted.outputs(graphs).tolist()
    assert found.transform(sharded[5:9]).tolist() == fitted.transform(graphs[5:9]).tolist()
    assert found.score(sharded) == fitted.score(graphs)
    assert evaluate(found, sharded) == evaluate(fitted, graphs)


def test_the_targets_of_a_user_take_the_place_of_those_on_disk(graphs, sharded):
    y = np.linspace(-1, 1, 60)
    one, other = (LFDSRegressor(**HOW).fit(given, y) for given in (graphs, sharded))
    assert one.history_.loss == other.history_.loss


def test_an_atlas_is_the_same(graphs, sharded, fitted):
    one, other = (atlas(fitted, given, show=[3, 40]) for given in (graphs, sharded))
    assert one.html == other.html
