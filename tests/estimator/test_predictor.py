import pytest
import torch
from torch.testing import assert_close

import lfds
from lfds.estimator import predictor
from lfds.estimator.predictor import predict, run
from lfds.nn import accel
from lfds.nn.input_checks import NotFiniteError
from lfds.train.epoch import outputs_of
from tests.estimator.small import classifier, graphs


@pytest.fixture(params=["frozen", "as it is"], autouse=True)
def way(request, monkeypatch):
    """The same of a network that is frozen, and of one that is not."""
    if request.param == "as it is":
        monkeypatch.setattr(predictor, "FrozenNetwork", lambda _: pytest.fail("frozen"))
        monkeypatch.setattr(predictor, "can_freeze", lambda *_: False)
    elif not accel.numba_installed():
        pytest.skip("needs numba")
    return request.param


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


def test_a_network_is_frozen_where_it_can_be(way, monkeypatch):
    made, freeze = [], predictor.FrozenNetwork
    monkeypatch.setattr(predictor, "FrozenNetwork", lambda net: made.append(net) or freeze(net))
    run(classifier().network_, encoded())
    assert len(made) == (way == "frozen")


def test_values_that_overflow_are_named():
    clf, large = classifier(), encoded()
    large = large.with_features(torch.full_like(large.x, 3e38))
    with pytest.raises(NotFiniteError, match="finite"):
        run(clf.network_, large)
