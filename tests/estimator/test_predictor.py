from copy import deepcopy

import pytest
import torch
from torch.testing import assert_close

import lfds
from lfds.data import DataError
from lfds.estimator import predictor
from lfds.estimator.predictor import predict, run
from lfds.nn import Edges
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
    found = predict([clf.network_], clf.encoder_, graphs())[0]
    assert_close(found, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("nodes", [1, 7, 40])
@pytest.mark.parametrize("head", [True, False])
def test_the_sizes_of_pieces_and_batches_have_no_effect(head, nodes, monkeypatch):
    clf = classifier()
    whole = predict([clf.network_], clf.encoder_, graphs(), head=head)[0]
    monkeypatch.setattr(predictor, "_NODES_OF_A_PIECE", 2 * nodes)
    monkeypatch.setattr(predictor, "_NODES_OF_A_BATCH", nodes)
    found = predict([clf.network_], clf.encoder_, graphs(), head=head)[0]
    assert_close(found, whole, rtol=1e-4, atol=1e-5)


def test_vectors_without_the_head_are_those_of_the_network():
    clf = classifier()
    batch = encoded().batch(slice(0, 24))
    edges = Edges.from_rows(batch.edge_ptr, batch.edge_dst)
    with torch.no_grad():
        expected = clf.network_.eval().represent(batch.x, batch.ptr, edges)
    found = predict([clf.network_], clf.encoder_, graphs(), head=False)[0]
    assert_close(found, expected, rtol=1e-4, atol=1e-5)


def test_a_network_in_training_mode_is_evaluated_without_dropout():
    clf = classifier()
    clf.network_.train()
    first = predict([clf.network_], clf.encoder_, graphs())[0]
    assert torch.equal(first, predict([clf.network_], clf.encoder_, graphs())[0])
    assert not clf.network_.training
    assert not first.is_inference()


def test_empty_graphs_and_empty_sets():
    clf = classifier()
    empty = lfds.GraphSet.from_arrays(
        [0, 1], [[], []], attributes=[[0.5]], labels=[1], name="empty"
    )
    assert predict([clf.network_], clf.encoder_, empty)[0].isfinite().all()
    assert predict([clf.network_], clf.encoder_, graphs()[[]])[0].shape == (0, 2)
    none = predict([clf.network_], clf.encoder_, graphs()[[]], head=False)[0]
    assert none.shape == (0, clf.network_.vector_channels)


def test_values_that_overflow_are_refused():
    clf, large = classifier(), encoded()
    clf.network_.eval()
    large = large.with_features(torch.full_like(large.x, 3e38))
    with pytest.raises(DataError, match="model: its outputs are not finite"):
        run(clf.network_, large)


def test_outputs_that_are_not_finite_are_an_error():
    """Finite weights can give infinite outputs, whatever their checksum says."""
    made = deepcopy(classifier())
    with torch.no_grad():
        for parameter in made.network_.head.parameters():
            parameter.fill_(3e38)
    with pytest.raises(DataError, match="model: its outputs are not finite"):
        made.predict(graphs())
