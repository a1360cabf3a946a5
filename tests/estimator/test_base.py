"""The conventions of scikit-learn, for both estimators."""

import pickle
import warnings
from dataclasses import replace

import numpy as np
import pytest
import torch
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer

import lfds
from lfds.config.comparison import CompareSpec, TrainingSettings
from lfds.config.errors import DivergedError, SpecError
from lfds.data.encodings import RWSE
from lfds.data.encodings.encoder import EncodingSettings
from lfds.data.errors import DataError
from lfds.estimator import UnseenLabelsWarning
from lfds.nn import NetworkSettings
from tests.estimator.small import FAST, amounts, classifier, drawn, graphs, names, regressor

BOTH = [lfds.LFDSClassifier, lfds.LFDSRegressor]


def targets(kind):
    return names() if kind is lfds.LFDSClassifier else amounts()


@pytest.mark.parametrize("kind", BOTH)
def test_the_constructor_stores_and_does_nothing_else(kind):
    options = {"structure": ["loop", "image"], "epochs": -3, "encoding": "nonsense"}
    made = kind(**options)
    for name, value in options.items():
        assert made.get_params()[name] is value
    copy = clone(made)
    assert copy.get_params() == made.get_params()
    assert copy is not made
    assert made.set_params(seed=7).seed == 7


def test_defaults_are_decided_in_one_place():
    made = lfds.LFDSClassifier()
    training, network = TrainingSettings(), NetworkSettings(pool="loop")
    assert (made.epochs, made.batch_size) == (training.epochs, training.batch_size)
    assert made.learning_rate == training.learning_rate
    assert (made.slots, made.reduction) == (network.slots, network.reduction)
    assert made.validation == CompareSpec().validation


def test_each_says_what_it_is():
    assert is_classifier(lfds.LFDSClassifier())
    assert is_regressor(lfds.LFDSRegressor())


@pytest.mark.parametrize("kind", BOTH)
@pytest.mark.parametrize("use", ["predict", "score", "outputs"])
def test_what_was_never_fitted_says_so(kind, use):
    with pytest.raises(NotFittedError):
        getattr(kind(), use)(graphs())
    with pytest.raises(NotFittedError):
        kind().save("nowhere")
    with pytest.raises(NotFittedError):
        _ = kind().n_iter_


@pytest.mark.parametrize("kind", BOTH)
@pytest.mark.parametrize("form", ["set", "pyg", "networkx"])
def test_cross_validation_takes_sets_and_lists(kind, form):
    given = {"set": graphs(), "pyg": graphs().to_pyg(), "networkx": drawn()}[form]
    options = {"node_attributes": ["weight"], "node_label": "kind"} if form == "networkx" else {}
    found = cross_val_score(kind(**FAST, **options), given, targets(kind), cv=2)
    assert found.shape == (2,)
    assert np.isfinite(found).all()


def test_every_form_of_the_same_graphs_gives_the_same_model():
    by_name = lfds.LFDSClassifier(
        **FAST, seed=1, node_attributes=["weight"], node_label="kind"
    ).fit(drawn(), names())
    of_data = lfds.LFDSClassifier(**FAST, seed=1).fit(graphs().to_pyg(), names())
    expected = classifier().predict_proba(graphs())
    assert np.array_equal(by_name.predict_proba(drawn()), expected)
    assert np.array_equal(of_data.predict_proba(graphs().to_pyg()), expected)


def test_a_search_over_options_in_a_pipeline():
    steps = [("same", FunctionTransformer()), ("model", lfds.LFDSClassifier(**FAST))]
    grid = {"model__structure": ["loop", "array"], "model__slots": np.array([4, 5])}
    search = GridSearchCV(Pipeline(steps), grid, cv=2).fit(graphs().to_pyg(), names())
    assert len(search.cv_results_["params"]) == 4
    assert set(search.predict(graphs().to_pyg())) <= {"path", "ring"}
    best = search.best_estimator_["model"]
    assert best.network_.settings.slots in (4, 5)


@pytest.mark.parametrize("fitted", [classifier, regressor])
def test_a_pickled_copy_predicts_the_same(fitted):
    """Processes of scikit-learn hand estimators around like this."""
    copy = pickle.loads(pickle.dumps(fitted()))
    assert np.array_equal(copy.predict(graphs()), fitted().predict(graphs()))


@pytest.mark.parametrize("kind", BOTH)
def test_fitting_again_forgets_and_a_warm_start_does_not(kind):
    cold = kind(**FAST).fit(graphs(), targets(kind))
    first = cold.history_.loss[0]
    assert cold.fit(graphs(), targets(kind)).history_.loss[0] == first
    warm = kind(**FAST, warm_start=True).fit(graphs(), targets(kind))
    assert warm.history_.loss[0] == first
    for _ in range(4):
        warm.fit(graphs(), targets(kind))
    assert warm.history_.loss[0] < first


def test_a_warm_start_needs_the_same_network_and_classes():
    warm = lfds.LFDSClassifier(**FAST, warm_start=True).fit(graphs(), names())
    with pytest.raises(DataError, match="label 'other' is none of the classes"):
        warm.fit(graphs(), ["other", "ring"] * 12)
    with pytest.raises(DataError, match="warm_start: the network is another"):
        warm.set_params(slots=9).fit(graphs(), names())


@pytest.mark.parametrize("kind", BOTH)
def test_pieces_are_learned_one_after_the_other(kind):
    calm = {"width": 8, "head_dropout": 0.0, "node_dropout": 0.0}
    made = kind(**{**FAST, "options": calm})
    for _ in range(6):
        for start in (0, 12):
            part = slice(start, start + 12)
            made.partial_fit(graphs()[part], targets(kind)[part])
    losses = made.history_.loss
    assert made.n_iter_ == len(losses) == 12
    assert sum(losses[-4:]) < sum(losses[:4])
    assert made.predict(graphs()).shape == (24,)


@pytest.mark.parametrize("kind", BOTH)
def test_a_fit_may_be_followed_by_pieces(kind):
    made = kind(**FAST).fit(graphs(), targets(kind))
    before = made.predict(graphs()) if kind is lfds.LFDSRegressor else made.outputs(graphs())
    made.partial_fit(graphs(), targets(kind))
    after = made.predict(graphs()) if kind is lfds.LFDSRegressor else made.outputs(graphs())
    assert not np.array_equal(before, after)
    assert made.n_iter_ == FAST["epochs"] + 1


def test_graphs_of_another_kind_are_refused_before_anything_is_done():
    three = torch.ones(graphs().num_nodes, 3)
    wider = replace(graphs(), attributes=three, x=three)
    for use in (classifier().predict, classifier().predict_proba, regressor().predict):
        with pytest.raises(DataError, match="node attributes: the model was fitted on 1"):
            use(wider)


def test_unseen_labels_are_nodes_of_no_kind_and_there_is_one_warning():
    known = graphs()
    strange = replace(known, labels=torch.full_like(known.labels, 99))
    with pytest.warns(UnseenLabelsWarning, match=f"{known.num_nodes} nodes .*99") as told:
        found = classifier().predict_proba(strange)
    assert len(told) == 1
    assert told[0].filename == __file__
    other = replace(known, labels=torch.full_like(known.labels, 55))
    with warnings.catch_warnings(action="ignore"):
        assert np.array_equal(classifier().predict_proba(other), found)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"structure": "lop"}, "did you mean 'loop'"),
        ({"epochs": 0}, "epochs: "),
        ({"batch_size": 1}, "batch_size: "),
        ({"learning_rate": -1.0}, "learning_rate: "),
        ({"encoding": "walks"}, "no encoding is called 'walks'"),
        ({"options": {"wide": 3}}, "no option is called 'wide'"),
        ({"class_weight": {"star": 2.0}}, "class_weight: label 'star' is none of the classes"),
    ],
)
def test_options_that_cannot_be_are_one_line(options, message):
    with pytest.raises((DataError, SpecError), match=message) as caught:
        lfds.LFDSClassifier(**{**FAST, **options}).fit(graphs())
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("way", ["fit", "partial_fit"])
def test_a_network_without_room_is_one_line_before_graphs_are_encoded(way, monkeypatch):
    made = lfds.LFDSClassifier(slots=10**12)
    monkeypatch.setattr("lfds.data.encodings.encoder.Encoder.fit", None)
    with pytest.raises(SpecError, match=r"^slots: 1000000000000 makes .* choose a smaller one$"):
        getattr(made, way)(graphs())
    assert not hasattr(made, "network_")


@pytest.mark.parametrize("way", ["the loss became nan", "values inside the network became inf"])
def test_a_piece_that_diverges_says_which_and_the_way_out(way, monkeypatch):
    made = lfds.LFDSClassifier(**FAST, learning_rate=0.25).partial_fit(graphs())

    def diverged(*_):
        raise DivergedError(way)

    monkeypatch.setattr("lfds.train.epoch.outputs_of", diverged)
    said = f"^{way} in piece 2; begin again with a lower learning rate than 0.25$"
    with pytest.raises(DivergedError, match=said):
        made.partial_fit(graphs())
    assert made.n_iter_ == 1


@pytest.mark.parametrize("way", ["fit", "partial_fit"])
def test_batches_without_room_are_one_line(way, monkeypatch):
    monkeypatch.setattr("lfds.nn.GraphNetwork.penalty", lambda _: torch.empty(2**60))
    with pytest.raises(SpecError, match=r"memory ran out .* slots 4, batch_size 8; lower one"):
        getattr(lfds.LFDSClassifier(**FAST), way)(graphs())


def test_a_failed_fit_leaves_the_last_one():
    made = lfds.LFDSClassifier(**FAST).fit(graphs())
    before = made.predict_proba(graphs())
    for wrong in (names()[:-1], ["same"] * 24, [1.5] * 24):
        with pytest.raises(DataError):
            made.fit(graphs(), wrong)
    assert np.array_equal(made.predict_proba(graphs()), before)


def test_settings_of_encodings_are_taken():
    settings = EncodingSettings(labels=False, attributes=False, structure=(RWSE(steps=3),))
    made = lfds.LFDSClassifier(**FAST, encoding=settings).fit(graphs())
    assert made.encoder_.names == ("rwse0", "rwse1", "rwse2")


def test_progress_is_shown_when_asked_for(capsys):
    lfds.LFDSClassifier(**FAST, progress=True).fit(graphs())
    assert "fitting" in capsys.readouterr().err
