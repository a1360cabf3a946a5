from dataclasses import replace

import pytest
import torch
from pydantic import TypeAdapter

from lfds.data.encodings.encoder import Encoder
from lfds.nn import GraphNetwork
from lfds.train import DivergedError
from lfds.train.batchnorm import batch_norms, recalibrate
from lfds.train.epoch import batches, evaluate
from lfds.train.loop import Progress, Training
from lfds.train.objective import Regress
from tests.compare.small import graphs
from tests.train.small import SETTINGS, finished, flat, make, trained, weights


def test_the_same_streams_give_the_same_bits():
    first = finished()
    torch.rand(5)  # other draws from the global generator have no effect
    second = trained()
    assert torch.equal(weights(first), weights(second))
    assert first.progress.loss == second.progress.loss


@pytest.mark.parametrize("other", [{"seed": 1}, {"scope": ("other",)}])
def test_other_streams_give_other_weights(other):
    assert not torch.equal(weights(finished()), weights(trained(**other)))


def test_it_learns_and_calls_back_after_each_epoch():
    called = []
    training = make(settings=SETTINGS.model_copy(update={"epochs": 25}))
    training.run(lambda now: called.append(now.progress.epochs))
    assert called == list(range(1, 26))
    assert training.progress.loss[-1] < training.progress.loss[0]
    assert training.progress.validation[-1] > 0.7


def test_the_averaged_weights_are_validated_and_training_does_not_depend_on_them():
    single = trained(settings=SETTINGS.model_copy(update={"averaging": 0.0}))
    averaged = finished()
    assert averaged.settings.averaging > 0
    assert torch.equal(weights(single), weights(averaged))
    assert single.progress.loss == averaged.progress.loss
    assert single.progress.validation_loss != averaged.progress.validation_loss
    model = averaged.ema.model
    assert any(
        not torch.equal(ours, theirs)
        for ours, theirs in zip(model.parameters(), averaged.model.parameters(), strict=True)
    )
    assert evaluate(model, averaged._validation, 4)[1] == averaged.progress.validation_loss[-1]


def test_batch_norm_of_the_averaged_weights_is_recalibrated_without_dropout(monkeypatch):
    once = SETTINGS.model_copy(update={"epochs": 1})
    training = trained(settings=once)
    norm = training.ema.model.base.layers[0].activation.norm
    product = training.ema.model.base.layers[0].transforms(training._train.x)
    torch.testing.assert_close(norm.running_mean, product.relu().mean(dim=0), rtol=0.05, atol=0.01)
    own = training.model.base.layers[0].activation.norm
    assert not torch.allclose(norm.running_mean, own.running_mean, rtol=0.05, atol=0.01)
    monkeypatch.setattr("lfds.train.ranks.recalibrate", lambda *_: None)
    running = trained(settings=once)
    assert running.progress.validation_loss != training.progress.validation_loss


@pytest.mark.parametrize("floor", [0.0, 1.0])
def test_variances_of_the_averaged_weights_have_a_floor(floor):
    settings = SETTINGS.model_copy(update={"epochs": 1, "variance_floor": floor})
    training = trained(settings=settings)
    floored = [
        bool((norm.running_var >= norm.running_var.median()).all())
        for norm in batch_norms(training.ema.model)
    ]
    assert all(floored) if floor else not any(floored)
    kept = {key: one for key, one in training.best.items() if key.endswith("running_var")}
    assert all(torch.equal(one, training.ema.model.state_dict()[key]) for key, one in kept.items())
    # The weights that are trained, and the statistics of their batches, know nothing of it.
    plain = trained(settings=SETTINGS.model_copy(update={"epochs": 1}))
    same = zip(training.model.state_dict().values(), plain.model.state_dict().values(), strict=True)
    assert all(torch.equal(one, other) for one, other in same)


def test_graphs_sorted_by_class_are_calibrated_on_like_shuffled_ones():
    """In their order, each batch would be of one class, with less variance than all together."""
    training = trained(per_class=40)
    model, graphs_ = training.ema.model, training._train
    found = statistics_of(model)
    by_class = graphs_.y.argsort(stable=True)
    training._train = graphs_[by_class.tolist()]
    training._update_ema()
    torch.testing.assert_close(statistics_of(model), found, rtol=0.5, atol=0.1)
    recalibrate(model, batches(training._train, torch.arange(len(graphs_)), 40))
    assert not torch.allclose(statistics_of(model), found, rtol=0.5, atol=0.1)


def statistics_of(model):
    return model.head.layers[1].norm.running_var.clone()


@pytest.mark.parametrize(("per_class", "averages"), [(15, False), (16, True)])
def test_few_training_graphs_are_not_averaged(per_class, averages):
    training = make(per_class=per_class)
    assert (training.ema.model is not training.model) == averages


@pytest.mark.parametrize(
    ("keep", "best"), [("best", 2), ("loss", 4), ("mean-loss", 0), ("last", 5)]
)
def test_the_best_epoch_is_kept_by_accuracy_or_loss_then_the_other_then_age(keep, best):
    training = make(settings=SETTINGS.model_copy(update={"keep": keep}))
    progress = training.progress
    curve = [(0.5, 1.0), (0.7, 2.0), (0.7, 1.5), (0.7, 1.5), (0.6, 1.0), (0.6, 1.0)]
    for epoch, (accuracy, loss) in enumerate(curve):
        progress.validation.append(accuracy)
        progress.validation_loss.append(loss)
        training._keep_if_best(epoch)
    assert progress.best == best


def test_the_mean_loss_is_of_five_epochs():
    training = make(settings=SETTINGS.model_copy(update={"keep": "mean-loss"}))
    progress = training.progress
    # 2.2 at the fifth epoch and 2.1 at the last; means of four or of six are lower at the fifth.
    for epoch, loss in enumerate([4.0, 3.0, 2.0, 1.0, 1.0, 3.5]):
        progress.validation.append(0.5)
        progress.validation_loss.append(loss)
        training._keep_if_best(epoch)
    assert progress.best == 5


def test_the_best_weights_are_those_of_the_best_epoch():
    training = make()
    snapshots = []
    training.run(lambda now: snapshots.append(weights(now.ema).clone()))
    assert torch.equal(flat(training.best), snapshots[training.progress.best])


def test_keep_last_keeps_the_weights_of_the_last_epoch():
    last = SETTINGS.model_copy(update={"keep": "last", "epochs": 6})
    training = trained(settings=last, validation=make()._train[:3])
    assert torch.equal(flat(training.best), weights(training.ema))
    progress = training.progress
    assert progress.best == 5
    assert max(progress.validation[:-1]) >= progress.validation[-1]  # it is not the best


def test_a_loss_that_is_nan_stops_with_the_epoch_and_a_hint():
    training = make()
    with torch.no_grad():
        next(training.model.head.parameters()).fill_(float("nan"))
    with pytest.raises(DivergedError, match=r"became nan in epoch 1; a lower learning rate than"):
        training.run(lambda _: None)


@pytest.mark.parametrize("rate", [1e30, 1e300])
def test_values_that_overflow_inside_the_network_are_a_divergence(rate):
    training = make(settings=SETTINGS.model_copy(update={"learning_rate": rate}))
    with pytest.raises(DivergedError, match=r"in epoch 1; a lower learning rate than"):
        training.run(lambda _: None)


def test_graphs_with_nan_features_are_not_reported_as_divergence():
    training = make()
    training._train.x.fill_(float("nan"))
    with pytest.raises(ValueError, match="x must be finite"):
        training.run(lambda _: None)


def epochs_run(scores, patience):
    """Return how many epochs are run with these validation scores."""
    training = make(settings=SETTINGS.model_copy(update={"epochs": len(scores)}))
    training._patience = patience
    training._epoch = lambda epoch: (
        training.progress.loss.append(1.0),
        training.progress.validation.append(scores[epoch]),
        training.progress.validation_loss.append(1.0),
        training._keep_if_best(epoch),
    )
    training.run(lambda _: None)
    return training.progress.epochs


def test_patience_counts_epochs_since_the_best():
    scores = [0.1, 0.5, 0.4, 0.4, 0.6, 0.5, 0.5, 0.5, 0.9]
    assert epochs_run(scores, 1) == 3
    assert epochs_run(scores, 3) == 8
    assert epochs_run(scores, 4) == 9
    assert make()._patience == SETTINGS.epochs


def test_without_validation_graphs_the_last_epoch_is_the_best():
    encoded = Encoder().fit(graphs()).transform(graphs())
    settings = SETTINGS.model_copy(update={"averaging": 0.0})
    training = Training(make().model, encoded, None, settings, 0, ("test",))
    training.run(lambda _: None)
    progress = training.progress
    assert progress.best == SETTINGS.epochs - 1
    assert progress.validation == progress.train
    assert not progress.has_validation
    assert torch.equal(flat(training.best), weights(training))


def test_regression_is_learned():
    encoded = Encoder().fit(graphs()).transform(graphs())
    encoded = replace(encoded, y=encoded.y.float()[:, None], classes=())
    settings = SETTINGS.model_copy(update={"epochs": 25})
    model = GraphNetwork(encoded.x.shape[1], 1, make().model.settings)
    training = Training(model, encoded, encoded, settings, 0, ("test",), objective=Regress())
    training.run(lambda _: None)
    progress = training.progress
    assert progress.validation_loss[progress.best] < 0.8 * progress.validation_loss[0]
    assert progress.validation[-1] == -progress.validation_loss[-1]
    assert progress.has_validation


def test_progress_is_stored_under_its_earlier_names():
    """Model cards and checkpoints of earlier versions have them."""
    progress = Progress(loss=[0.5], train=[0.25], validation=[0.75], validation_loss=[0.6], best=0)
    stored = {
        "loss": [0.5],
        "train": [0.25],
        "watched": [0.75],
        "watched_loss": [0.6],
        "best": 0,
        "seconds": 0.0,
    }
    assert TypeAdapter(Progress).dump_python(progress) == stored
    assert TypeAdapter(Progress).validate_python(stored) == progress
