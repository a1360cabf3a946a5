"""Ensembles: several networks as one estimator."""

import pickle
import tempfile
from functools import cache, partial
from multiprocessing import active_children

import numpy as np
import pytest
import torch
from scipy.special import expit, softmax
from sklearn.base import clone

import lfds
from lfds.config.messages import SpecError
from lfds.data.errors import DataError
from lfds.estimator import members as module
from lfds.estimator.metrics import evaluate
from lfds.estimator.persistence import WEIGHTS
from lfds.nn.models.ensemble import average_outputs
from lfds.processes import Died
from lfds.train import DivergedError
from tests.estimator.small import FAST, classifier, graphs, labels, values

TARGETS = np.array([[k % 2, (k // 2) % 2] for k in range(24)], dtype=float)


def make(kind, **changed):
    """A fitted ensemble of classes, of several targets with two classes, or of values."""
    settings = {**FAST, "members": 3, "seed": 1, **changed}
    if kind == "amounts":
        return lfds.LFDSRegressor(**settings).fit(graphs(), values())
    y = TARGETS if kind == "labels" else labels()
    return lfds.LFDSClassifier(**settings).fit(graphs(), y)


@cache
def ensemble(kind="classes"):
    """A fitted ensemble; do not fit it again."""
    return make(kind)


KINDS = pytest.mark.parametrize("kind", ["classes", "labels", "amounts"])


def predictions(model):
    return model.predict(graphs()) if model.decoder_.kind == "amounts" else proba(model)


def proba(model):
    return model.predict_proba(graphs())


def weights(network):
    return torch.cat([value.double().flatten() for value in network.state_dict().values()])


def alone(model, member):
    """The same model with one of its members only."""
    single = pickle.loads(pickle.dumps(model))
    single.networks_ = (model.networks_[member],)
    return single


def test_the_first_member_is_the_single_network():
    single, several = classifier(), ensemble()
    assert torch.equal(weights(single.network_), weights(several.network_))
    assert single.history_ == single_seconds(several.history_, single.history_)
    first, second, third = map(weights, several.networks_)
    assert not torch.equal(first, second)
    assert not torch.equal(second, third)


def single_seconds(history, like):
    history.seconds = like.seconds
    return history


def test_more_members_leave_those_before_as_they_are():
    more = make("classes", members=4)
    for one, other in zip(ensemble().networks_, more.networks_, strict=False):
        assert torch.equal(weights(one), weights(other))


def test_averages_are_those_of_probabilities_and_values():
    z = torch.randn(4, 5, 3).double() * 6
    expected = softmax(z.numpy(), axis=2).mean(axis=0)
    assert softmax(average_outputs(z, "classes").numpy(), axis=1) == pytest.approx(expected)
    expected = expit(z.numpy()).mean(axis=0)
    assert expit(average_outputs(z, "labels").numpy()) == pytest.approx(expected)
    assert torch.equal(average_outputs(z, "amounts"), z.mean(dim=0))


@pytest.mark.parametrize("meaning", ["classes", "labels", "amounts"])
def test_averages_of_extreme_outputs_are_finite(meaning):
    z = torch.tensor([[[1e4, -1e4]], [[-1e4, 1e4]]])
    found = average_outputs(z, meaning)
    assert found.isfinite().all()
    assert found.abs().max() < 1  # neither is certain


@KINDS
def test_predictions_are_means_and_spreads_of_the_members(kind):
    model = ensemble(kind)
    each = np.stack([predictions(alone(model, k)) for k in range(3)])
    if kind == "amounts":
        found, std = model.predict(graphs(), return_std=True)
        assert found == pytest.approx(each.mean(axis=0), rel=1e-6)
        assert np.array_equal(found, model.predict(graphs()))
    else:
        found, std = model.predict_proba(graphs(), return_std=True)
        assert np.array_equal(found, proba(model))
        # Calibration comes after averaging: undo it.
        plain = pickle.loads(pickle.dumps(model))
        ones = {"temperature": 1.0} if kind == "classes" else {"temperatures": (1.0, 1.0)}
        plain.decoder_ = model.decoder_.model_copy(update=ones)
        raw = np.stack([proba(alone(plain, k)) for k in range(3)])
        assert proba(plain) == pytest.approx(raw.mean(axis=0), rel=1e-4)
    assert std == pytest.approx(each.std(axis=0, ddof=1), rel=1e-4)
    assert std.shape == found.shape
    assert (std > 0).all()


def test_the_temperature_is_that_of_the_average():
    model = ensemble()
    assert model.temperature_ != alone(make("classes", members=1), 0).temperature_


def test_one_network_has_no_spread():
    with pytest.raises(DataError, match=r"^return_std: needs the spread of several members.*=5$"):
        classifier().predict_proba(graphs(), return_std=True)


def test_processes_change_no_bit(capsys):
    settings = {"class_weight": "balanced", "warm_start": True}
    serial, parallel = make("classes", **settings), make("classes", workers=2, **settings)
    for _ in range(2):  # the second continues
        for one, other in zip(serial.networks_, parallel.networks_, strict=True):
            assert torch.equal(weights(one), weights(other))
        assert np.array_equal(proba(parallel), proba(serial))
        assert [h.loss for h in parallel.histories_] == [h.loss for h in serial.histories_]
        serial.fit(graphs(), labels())
        parallel.set_params(progress=True).fit(graphs(), labels())
    assert not active_children()
    err = capsys.readouterr().err
    assert "6/6" in err
    assert "of 3: loss" in err


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["labels", "amounts"])
def test_processes_change_no_bit_of_other_targets(kind):
    assert np.array_equal(predictions(make(kind, workers=2)), predictions(ensemble(kind)))


def test_threads_are_restored():
    torch.set_num_threads(2)
    try:
        make("classes", epochs=1)
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(1)


@KINDS
def test_a_saved_ensemble_predicts_the_same(kind, tmp_path):
    model = ensemble(kind)
    model.save(tmp_path / "model")
    names = sorted(file.name for file in (tmp_path / "model").iterdir())
    assert names == [
        "encoder.json", "model.json", "weights-1.safetensors", "weights-2.safetensors", WEIGHTS,
    ]  # fmt: skip
    loaded = lfds.load(tmp_path / "model")
    assert np.array_equal(predictions(loaded), predictions(model))
    assert loaded.members == 3
    assert loaded.histories_ == model.histories_
    # A smaller model takes the place of a larger one, and leaves nothing of it.
    classifier().save(tmp_path / "model")
    assert len(list((tmp_path / "model").iterdir())) == 3
    assert len(lfds.load(tmp_path / "model").networks_) == 1


@pytest.mark.parametrize("damage", ["missing", "changed", "exchanged"])
def test_a_damaged_member_is_refused(damage, tmp_path):
    ensemble().save(tmp_path)
    file = tmp_path / "weights-2.safetensors"
    if damage == "missing":
        file.unlink()
    elif damage == "changed":
        file.write_bytes(file.read_bytes()[:-1] + b"\x01")
    else:
        file.write_bytes((tmp_path / WEIGHTS).read_bytes())
    with pytest.raises(DataError, match=r"weights-2\.safetensors: is "):
        lfds.load(tmp_path)


@KINDS
def test_copies_and_pickles(kind):
    model = ensemble(kind)
    assert clone(model).get_params() == model.get_params()
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(predictions(again), predictions(model))
    assert clone(model).set_params(members=2).members == 2


def test_a_warm_start_continues_every_member():
    model = make("classes", warm_start=True)
    before = [weights(network) for network in model.networks_]
    model.fit(graphs(), labels())
    for old, network in zip(before, model.networks_, strict=True):
        assert not torch.equal(old, weights(network))
    with pytest.raises(DataError, match=r"^members: the last fit had 3 member\(s\), not 2; set"):
        model.set_params(members=2).fit(graphs(), labels())


def test_partial_fits_train_every_member():
    model = lfds.LFDSClassifier(**{**FAST, "members": 2})
    for _ in range(3):
        model.partial_fit(graphs())
    assert model.n_iter_ == 3
    first, second = model.networks_
    assert not torch.equal(weights(first), weights(second))
    single = lfds.LFDSClassifier(**FAST)
    for _ in range(3):
        single.partial_fit(graphs())
    assert torch.equal(weights(first), weights(single.network_))


def test_an_interrupted_ensemble_goes_on_from_its_checkpoints(tmp_path, monkeypatch):
    class StopError(Exception):
        pass

    def stop(bar, history, member=0):
        if member == 1 and history.epochs == 2:
            raise StopError

    settings = {**FAST, "members": 2, "epochs": 3}
    whole = lfds.LFDSClassifier(**settings).fit(graphs())
    with monkeypatch.context() as patch:
        patch.setattr(module.FitBar, "after_epoch", stop)
        with pytest.raises(StopError):
            lfds.LFDSClassifier(**settings).fit(graphs(), checkpoints=tmp_path / "here")
    again = lfds.LFDSClassifier(**settings).fit(graphs(), checkpoints=tmp_path / "here")
    for one, other in zip(whole.networks_, again.networks_, strict=True):
        assert torch.equal(weights(one), weights(other))


def test_vectors_of_the_members_are_concatenated():
    model = ensemble()
    vectors = model.transform(graphs())
    width = model.network_.vector_channels
    assert vectors.shape == (24, 3 * width)
    assert np.array_equal(vectors[:, width : 2 * width], alone(model, 1).transform(graphs()))


@KINDS
def test_metrics_and_scores_are_those_of_the_average(kind):
    model = ensemble(kind)
    y = values() if kind == "amounts" else TARGETS if kind == "labels" else labels()
    wanted = np.asarray(y)
    found = model.predict(graphs())
    if kind == "amounts":
        residual = ((found - wanted) ** 2).sum() / ((wanted - wanted.mean()) ** 2).sum()
        assert model.score(graphs(), y) == pytest.approx(1 - residual)
    else:
        assert model.score(graphs(), y) == pytest.approx((found == wanted).mean())
    if kind == "classes":
        assert evaluate(model, graphs()).accuracy == pytest.approx(model.score(graphs(), y))
    assert np.isfinite(model.validation_score_)


@pytest.mark.parametrize("members", [0, -1, 1.5, "3", True, None, 1001])
def test_a_wrong_number_of_members_is_one_line(members):
    with pytest.raises(SpecError, match=r"^members: needs an integer from 1 to 1000, not "):
        lfds.LFDSRegressor(**{**FAST, "members": members}).fit(graphs(), values())


def test_an_error_in_a_process_is_raised_here():
    with pytest.raises(DivergedError, match="learning rate"):
        make("amounts", learning_rate=1e30, workers=2, epochs=4)
    assert not active_children()


def test_a_killed_process_is_one_line(monkeypatch):
    def killed(tasks, work, workers, on_step, on_end):
        on_end(tasks[1], Died(-9))

    monkeypatch.setattr(module, "run_in_processes", killed)
    wanted = r"^workers: the process that fitted member 1 ended by signal 9; memory may be short; u"
    with pytest.raises(DataError, match=wanted):
        make("classes", workers=2)


def test_an_interrupt_leaves_no_process_and_no_file(monkeypatch, tmp_path):
    monkeypatch.setattr(tempfile, "gettempdir", lambda: str(tmp_path))

    def interrupt(*_):
        assert len(list(tmp_path.iterdir())) == 1
        raise KeyboardInterrupt

    monkeypatch.setattr(module.FitBar, "after_epoch", interrupt)
    with pytest.raises(KeyboardInterrupt):
        make("classes", workers=2, epochs=300)
    assert not active_children()
    assert not list(tmp_path.iterdir())


def test_a_progress_bar_counts_all_members(capsys):
    make("classes", progress=True)
    err = capsys.readouterr().err
    assert "6/6" in err
    assert "of 3: loss" in err


@KINDS
def test_an_onnx_file_averages(kind, tmp_path):
    pytest.importorskip("onnxruntime")
    from lfds.estimator.onnx import check_onnx, export_onnx

    export_onnx(ensemble(kind), tmp_path / "model.onnx")
    assert check_onnx(ensemble(kind), tmp_path / "model.onnx", graphs()) < 1e-5
    # The check can fail: it is not the file of a single member.
    assert check_onnx(alone(ensemble(kind), 1), tmp_path / "model.onnx", graphs()) > 1e-4


def test_an_atlas_shows_a_chosen_member():
    model = ensemble()
    first, third = (lfds.atlas(model, graphs(), member=k).numbers for k in (0, 2))
    # Up to rounding: predictions are those of a folded copy.
    assert third.probabilities == pytest.approx(proba(alone(model, 2)), abs=1e-5)
    assert np.abs(first.probabilities - third.probabilities).max() > 1e-3
    assert not np.array_equal(first.pools[0].mass, third.pools[0].mass)
    find = partial(lfds.atlas, model, graphs())
    for member, text in ((3, "no member 3; they are numbered 0 to 2"), ("a", "needs the number")):
        with pytest.raises(ValueError, match=rf"^member: .*{text}"):
            find(member=member)
