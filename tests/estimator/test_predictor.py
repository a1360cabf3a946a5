import pytest
import torch
from torch.testing import assert_close

import lfds
from lfds.estimator import predictor
from lfds.estimator.predictor import embed, predict, run
from lfds.nn.input_checks import NotFiniteError
from lfds.train.epoch import outputs_of
from tests.estimator.small import classifier, graphs


def encoded():
    return classifier().encoder_.transform(graphs())


def test_predictions_are_those_of_the_network_in_evaluation_mode():
    clf = classifier()
    clf.network_.eval()
    with torch.no_grad():
        expected = outputs_of(clf.network_, encoded().batch(slice(0, 24)))
    assert_close(run(clf.network_, encoded()), expected, rtol=1e-4, atol=1e-5)
    found = predict(clf.network_, clf.encoder_, graphs())
    assert_close(found, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("nodes", [1, 7, 40])
@pytest.mark.parametrize("function", [predict, embed])
def test_the_sizes_of_pieces_and_batches_have_no_effect(function, nodes, monkeypatch):
    clf = classifier()
    whole = function(clf.network_, clf.encoder_, graphs())
    monkeypatch.setattr(predictor, "_NODES_OF_A_PIECE", 2 * nodes)
    monkeypatch.setattr(predictor, "_NODES_OF_A_BATCH", nodes)
    assert_close(function(clf.network_, clf.encoder_, graphs()), whole, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("function", [predict, embed])
def test_a_network_in_training_mode_is_evaluated_without_dropout(function):
    clf = classifier()
    clf.network_.train()
    first = function(clf.network_, clf.encoder_, graphs())
    assert torch.equal(first, function(clf.network_, clf.encoder_, graphs()))
    assert not clf.network_.training
    assert not first.is_inference()


def test_empty_graphs_and_empty_sets():
    clf = classifier()
    empty = lfds.GraphSet.from_arrays(
        [0, 1], [[], []], attributes=[[0.5]], labels=[1], name="empty"
    )
    assert predict(clf.network_, clf.encoder_, empty).isfinite().all()
    assert predict(clf.network_, clf.encoder_, graphs()[[]]).shape == (0, 2)
    channels = clf.network_.vector_channels
    assert embed(clf.network_, clf.encoder_, graphs()[[]]).shape == (0, channels)


def test_values_that_overflow_are_refused():
    clf, large = classifier(), encoded()
    clf.network_.eval()
    large = large.with_features(torch.full_like(large.x, 3e38))
    with pytest.raises(NotFiniteError, match="finite"):
        run(clf.network_, large)
