from dataclasses import replace

import pytest
import torch

from lfds.config.comparison import TrainingSettings
from lfds.config.errors import DivergedError
from lfds.data.encodings.encoder import Encoder
from lfds.nn import GraphNetwork, NetworkSettings
from lfds.train.batchnorm import measure_norms
from lfds.train.epoch import batches, evaluate
from lfds.train.loop import Training
from lfds.train.objective import Regress
from tests.compare.small import graphs

SETTINGS = TrainingSettings(epochs=3, batch_size=4, learning_rate=0.01)


def make(seed=0, scope=("test",), settings=SETTINGS, watched=None, per_class=20):
    encoded = Encoder().fit(graphs()).transform(graphs(per_class=per_class))
    torch.manual_seed(0)
    network = NetworkSettings(pool="loop", width=8, head_width=8, slots=4)
    model = GraphNetwork(encoded.x.shape[1], 2, network)
    part = encoded if watched is None else watched
    return Training(model, encoded, part, settings, seed, scope)


def weights(training):
    return torch.cat([value.double().flatten() for value in training.model.state_dict().values()])


def trained(**how):
    training = make(**how)
    training.run(lambda _: None)
    return training


def test_the_same_streams_give_the_same_bits():
    first = trained()
    torch.rand(5)  # what others draw meanwhile is of no account
    second = trained()
    assert torch.equal(weights(first), weights(second))
    assert first.progress.loss == second.progress.loss


@pytest.mark.parametrize("other", [{"seed": 1}, {"scope": ("other",)}])
def test_other_streams_give_others(other):
    assert not torch.equal(weights(trained()), weights(trained(**other)))


def test_it_learns_and_tells_after_each_epoch():
    told = []
    training = make(settings=SETTINGS.model_copy(update={"epochs": 25}))
    training.run(lambda now: told.append(now.progress.epochs))
    assert told == list(range(1, 26))
    assert training.progress.loss[-1] < training.progress.loss[0]
    assert training.progress.watched[-1] > 0.7


def test_the_mean_over_the_epochs_is_judged_and_kept():
    one, mean = (
        trained(settings=SETTINGS.model_copy(update={"averaging": kept})) for kept in (0.0, 0.8)
    )
    assert torch.equal(weights(one), weights(mean))  # it is trained all the same
    assert one.progress.loss == mean.progress.loss
    assert one.progress.watched_loss != mean.progress.watched_loss
    judged = mean.averaged.model
    assert any(
        not torch.equal(ours, theirs)
        for ours, theirs in zip(judged.parameters(), mean.model.parameters(), strict=True)
    )
    assert evaluate(judged, mean._watched, 4)[1] == mean.progress.watched_loss[-1]


def test_the_norms_of_the_mean_know_graphs_of_which_nothing_was_dropped(monkeypatch):
    once = SETTINGS.model_copy(update={"epochs": 1})
    training = trained(settings=once)
    norm = training.averaged.model.base.layers[0].activation.norm
    product = training.averaged.model.base.layers[0].transforms(training._train.x)
    torch.testing.assert_close(norm.running_mean, product.relu().mean(dim=0), rtol=0.05, atol=0.01)
    own = training.model.base.layers[0].activation.norm
    assert not torch.allclose(norm.running_mean, own.running_mean, rtol=0.05, atol=0.01)
    monkeypatch.setattr("lfds.train.loop.measure_norms", lambda *_: None)
    unmeasured = trained(settings=once)
    assert unmeasured.progress.watched_loss != training.progress.watched_loss


def test_graphs_sorted_by_class_are_measured_like_shuffled_ones():
    """In their order, batches would be of one class each, and less spread than all together."""
    training = trained(per_class=40)
    model, graphs_ = training.averaged.model, training._train
    found = statistics_of(model)
    by_class = graphs_.y.argsort(stable=True)
    training._train = graphs_[by_class.tolist()]
    training._take_in()
    torch.testing.assert_close(statistics_of(model), found, rtol=0.5, atol=0.1)
    measure_norms(model, batches(training._train, torch.arange(len(graphs_)), 40))
    assert not torch.allclose(statistics_of(model), found, rtol=0.5, atol=0.1)


def statistics_of(model):
    return model.head.layers[1].norm.running_var.clone()


@pytest.mark.parametrize(("per_class", "means"), [(15, False), (16, True)])
def test_few_graphs_are_judged_by_single_epochs(per_class, means):
    training = make(per_class=per_class)
    assert (training.averaged.model is not training.model) == means


def test_the_best_epoch_is_kept_by_accuracy_then_loss_then_age():
    training = make()
    seen = training.progress
    for epoch, (accuracy, loss) in enumerate([(0.5, 1.0), (0.7, 2.0), (0.7, 1.5), (0.7, 1.5)]):
        training._keep_if_best(epoch, accuracy, loss)
        seen.watched.append(accuracy)
        seen.watched_loss.append(loss)
    assert seen.best == 2


def test_the_best_weights_are_those_of_the_best_epoch_and_stay():
    training = make()
    snapshots = []
    training.run(lambda now: snapshots.append(weights(now.averaged).clone()))
    best = torch.cat([value.double().flatten() for value in training.best.values()])
    assert torch.equal(best, snapshots[training.progress.best])


def test_the_weights_of_the_last_epoch_are_kept_where_that_is_asked_for():
    last = SETTINGS.model_copy(update={"keep": "last", "epochs": 6})
    training = make(settings=last, watched=make()._train[:3])
    training.run(lambda _: None)
    kept = torch.cat([value.double().flatten() for value in training.best.values()])
    assert torch.equal(kept, weights(training.averaged))
    assert training.progress.best == 5
    assert max(training.progress.watched[:-1]) >= training.progress.watched[-1]  # not by merit


def test_a_loss_that_is_no_number_stops_with_epoch_and_way_out():
    training = make()
    with torch.no_grad():
        next(training.model.head.parameters()).fill_(float("nan"))
    with pytest.raises(DivergedError, match=r"became nan in epoch 1; a lower learning rate than"):
        training.run(lambda _: None)


@pytest.mark.parametrize("rate", [1e30, 1e300])
def test_values_that_overflow_inside_are_a_divergence_as_well(rate):
    training = make(settings=SETTINGS.model_copy(update={"learning_rate": rate}))
    with pytest.raises(DivergedError, match=r"in epoch 1; a lower learning rate than"):
        training.run(lambda _: None)


def test_graphs_that_are_no_numbers_are_not_blamed_on_the_training():
    training = make()
    training._train.x.fill_(float("nan"))
    with pytest.raises(ValueError, match="x must be finite"):
        training.run(lambda _: None)


def watched_as(scores, patience):
    """Return how many epochs are run when the watched graphs score like this."""
    training = make(settings=SETTINGS.model_copy(update={"epochs": len(scores)}))
    training._patience = patience
    training._epoch = lambda epoch: (
        training._keep_if_best(epoch, scores[epoch], 1.0),
        training.progress.loss.append(1.0),
        training.progress.watched.append(scores[epoch]),
        training.progress.watched_loss.append(1.0),
    )
    training.run(lambda _: None)
    return training.progress.epochs


def test_patience_counts_epochs_since_the_best():
    scores = [0.1, 0.5, 0.4, 0.4, 0.6, 0.5, 0.5, 0.5, 0.9]
    assert watched_as(scores, 1) == 3
    assert watched_as(scores, 3) == 8
    assert watched_as(scores, 4) == 9
    assert make()._patience == SETTINGS.epochs


def test_without_watched_graphs_the_last_epoch_is_the_best():
    encoded = Encoder().fit(graphs()).transform(graphs())
    training = make()
    settings = SETTINGS.model_copy(update={"averaging": 0.0})
    training = Training(training.model, encoded, None, settings, 0, ("test",))
    training.run(lambda _: None)
    seen = training.progress
    assert seen.best == SETTINGS.epochs - 1
    assert seen.watched == seen.train
    assert torch.equal(
        torch.cat([value.double().flatten() for value in training.best.values()]), weights(training)
    )


def test_quantities_are_learned_too():
    encoded = Encoder().fit(graphs()).transform(graphs())
    encoded = replace(encoded, y=encoded.y.float()[:, None], classes=())
    settings = SETTINGS.model_copy(update={"epochs": 25})
    model = GraphNetwork(encoded.x.shape[1], 1, make().model.settings)
    training = Training(model, encoded, encoded, settings, 0, ("test",), objective=Regress())
    training.run(lambda _: None)
    seen = training.progress
    assert seen.watched_loss[seen.best] < 0.8 * seen.watched_loss[0]
    assert seen.watched[-1] == -seen.watched_loss[-1]
