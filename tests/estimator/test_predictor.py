import pytest
import torch
from torch.testing import assert_close

import lfds
from lfds.estimator import predictor
from lfds.estimator.predictor import one_way, predict, run
from lfds.experiment.passes import outputs_of
from tests.estimator.small import classifier, graphs


def encoded():
    return classifier().encoder_.transform(graphs())


def test_it_says_what_the_network_says_in_evaluation():
    clf = classifier()
    clf.network_.eval()
    with torch.no_grad():
        expected = outputs_of(clf.network_, encoded().batch(slice(0, 24)))
    assert_close(run(clf.network_, encoded()), expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("nodes", [1, 7, 40])
def test_pieces_and_batches_change_nothing_but_rounding(nodes, monkeypatch):
    clf = classifier()
    whole = predict(clf.network_, clf.encoder_, graphs())
    monkeypatch.setattr(predictor, "_NODES_OF_A_PIECE", 2 * nodes)
    monkeypatch.setattr(predictor, "_NODES_OF_A_BATCH", nodes)
    assert_close(predict(clf.network_, clf.encoder_, graphs()), whole, rtol=1e-4, atol=1e-5)


def test_a_network_in_training_is_not_asked_while_it_drops():
    clf = classifier()
    clf.network_.train()
    first = run(clf.network_, encoded())
    assert torch.equal(first, run(clf.network_, encoded()))
    assert not clf.network_.training
    assert not first.is_inference()


def test_graphs_without_nodes_and_no_graphs_at_all():
    clf = classifier()
    empty = lfds.GraphSet.from_arrays(
        [0, 1], [[], []], attributes=[[0.5]], labels=[1], name="empty"
    )
    assert predict(clf.network_, clf.encoder_, empty).isfinite().all()
    assert predict(clf.network_, clf.encoder_, graphs()[[]]).shape == (0, 2)


def test_edges_one_way_are_those_of_the_batch():
    batch = encoded().batch(slice(0, 5))
    edges = one_way(batch)
    assert torch.equal(edges.rows.column.long(), batch.edge_dst)
    assert torch.equal(edges.rows.ptr.long(), batch.edge_ptr)
    assert (edges.rows.weight == 1).all()
