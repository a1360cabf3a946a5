"""The conventions of scikit-learn, for both estimators."""

import pickle
import subprocess
import sys
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
import lfds.estimator
from lfds.config.messages import SpecError
from lfds.data.encodings import RWSE, Degree
from lfds.data.encodings.encoder import EncodingSettings
from lfds.data.errors import DataError
from lfds.estimator import UnseenLabelsWarning
from lfds.estimator.base import encoding_settings
from lfds.train import DivergedError
from tests.estimator.small import (
    FAST,
    classifier,
    graphs,
    labels,
    networkx_graphs,
    regressor,
    values,
)

BOTH = [lfds.LFDSClassifier, lfds.LFDSRegressor]


def targets(estimator):
    return labels() if estimator is lfds.LFDSClassifier else values()


def test_public_names_exist():
    for name in dir(lfds.estimator):
        assert getattr(lfds.estimator, name).__name__ == name
    with pytest.raises(AttributeError, match="it offers ConstantTargetWarning, LFDSClassifier"):
        _ = lfds.estimator.Classifier


def test_options_and_commands_are_imported_without_torch():
    code = (
        "import sys, lfds.estimator.options, lfds.cli\n"
        "print([m for m in ('torch', 'numpy', 'scipy') if m in sys.modules])"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout == "[]\n"


@pytest.mark.parametrize("estimator", BOTH)
def test_the_constructor_only_stores_its_arguments(estimator):
    options = {"structure": ["loop", "image"], "epochs": -3, "encoding": "nonsense"}
    made = estimator(**options)
    for name, value in options.items():
        assert made.get_params()[name] is value
    copy = clone(made)
    assert copy.get_params() == made.get_params()
    assert copy is not made
    assert made.set_params(seed=7).seed == 7


def test_estimator_types():
    assert is_classifier(lfds.LFDSClassifier())
    assert is_regressor(lfds.LFDSRegressor())


@pytest.mark.parametrize("estimator", BOTH)
@pytest.mark.parametrize("method", ["predict", "score", "outputs", "transform"])
def test_methods_need_a_fitted_estimator(estimator, method):
    with pytest.raises(NotFittedError):
        getattr(estimator(), method)(graphs())
    with pytest.raises(NotFittedError):
        estimator().save("nowhere")
    with pytest.raises(NotFittedError):
        _ = estimator().n_iter_


@pytest.mark.parametrize("estimator", BOTH)
@pytest.mark.parametrize("form", ["set", "pyg", "networkx"])
def test_cross_validation_on_sets_and_lists(estimator, form):
    given = {"set": graphs(), "pyg": graphs().to_pyg(), "networkx": networkx_graphs()}[form]
    options = {"node_attributes": ["weight"], "node_label": "kind"} if form == "networkx" else {}
    found = cross_val_score(estimator(**FAST, **options), given, targets(estimator), cv=2)
    assert found.shape == (2,)
    assert np.isfinite(found).all()


def test_every_form_of_the_same_graphs_gives_the_same_model():
    from_networkx = lfds.LFDSClassifier(
        **FAST, seed=1, node_attributes=["weight"], node_label="kind"
    ).fit(networkx_graphs(), labels())
    from_pyg = lfds.LFDSClassifier(**FAST, seed=1).fit(graphs().to_pyg(), labels())
    expected = classifier().predict_proba(graphs())
    assert np.array_equal(from_networkx.predict_proba(networkx_graphs()), expected)
    assert np.array_equal(from_pyg.predict_proba(graphs().to_pyg()), expected)


def test_grid_search_in_a_pipeline():
    steps = [("same", FunctionTransformer()), ("model", lfds.LFDSClassifier(**FAST))]
    grid = {"model__structure": ["loop", "array"], "model__slots": np.array([4, 5])}
    search = GridSearchCV(Pipeline(steps), grid, cv=2).fit(graphs().to_pyg(), labels())
    assert len(search.cv_results_["params"]) == 4
    assert set(search.predict(graphs().to_pyg())) <= {"path", "ring"}
    best = search.best_estimator_["model"]
    assert best.network_.settings.slots in (4, 5)


@pytest.mark.parametrize("fitted", [classifier, regressor])
def test_a_pickled_copy_predicts_the_same(fitted):
    """scikit-learn passes estimators to other processes like this."""
    copy = pickle.loads(pickle.dumps(fitted()))
    assert np.array_equal(copy.predict(graphs()), fitted().predict(graphs()))


@pytest.mark.parametrize("fitted", [classifier, regressor])
def test_transform_returns_the_input_of_the_head(fitted):
    vectors = fitted().transform(graphs())
    assert vectors.shape == (24, fitted().network_.vector_channels)
    with torch.no_grad():
        outputs = fitted().network_.eval().head(torch.from_numpy(vectors))
    np.testing.assert_allclose(outputs, fitted().outputs(graphs()), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("estimator", BOTH)
def test_a_warm_start_continues_and_another_fit_does_not(estimator):
    cold = estimator(**FAST).fit(graphs(), targets(estimator))
    first = cold.history_.loss[0]
    assert cold.fit(graphs(), targets(estimator)).history_.loss[0] == first
    warm = estimator(**FAST, warm_start=True).fit(graphs(), targets(estimator))
    assert warm.history_.loss[0] == first
    for _ in range(4):
        warm.fit(graphs(), targets(estimator))
    assert warm.history_.loss[0] < first


def test_a_warm_start_needs_the_same_network_and_classes():
    warm = lfds.LFDSClassifier(**FAST, warm_start=True).fit(graphs(), labels())
    with pytest.raises(DataError, match="label 'other' is none of the classes"):
        warm.fit(graphs(), ["other", "ring"] * 12)
    with pytest.raises(DataError, match=r"^warm_start: the settings of the network have changed"):
        warm.set_params(slots=9).fit(graphs(), labels())


@pytest.mark.parametrize("estimator", BOTH)
def test_partial_fit_lowers_the_loss(estimator):
    no_dropout = {"width": 8, "head_dropout": 0.0, "node_dropout": 0.0}
    made = estimator(**{**FAST, "options": no_dropout})
    for _ in range(6):
        for start in (0, 12):
            part = slice(start, start + 12)
            made.partial_fit(graphs()[part], targets(estimator)[part])
    losses = made.history_.loss
    assert made.n_iter_ == len(losses) == 12
    assert sum(losses[-4:]) < sum(losses[:4])
    assert made.predict(graphs()).shape == (24,)


@pytest.mark.parametrize("estimator", BOTH)
def test_partial_fit_after_fit(estimator):
    made = estimator(**FAST).fit(graphs(), targets(estimator))
    before = made.outputs(graphs())
    made.partial_fit(graphs(), targets(estimator))
    assert not np.array_equal(before, made.outputs(graphs()))
    assert made.n_iter_ == FAST["epochs"] + 1


def test_graphs_with_other_node_data_are_refused():
    three = torch.ones(graphs().num_nodes, 3)
    wider = replace(graphs(), attributes=three, x=three)
    for method in (classifier().predict, classifier().predict_proba, regressor().predict):
        with pytest.raises(DataError, match="node attributes: the model was fitted on 1"):
            method(wider)


def test_unseen_node_labels_are_ignored_with_one_warning():
    data = graphs()
    strange = replace(data, labels=torch.full_like(data.labels, 99))
    with pytest.warns(UnseenLabelsWarning, match=f"{data.num_nodes} nodes .*99") as caught:
        found = classifier().predict_proba(strange)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    other = replace(data, labels=torch.full_like(data.labels, 55))
    with warnings.catch_warnings(action="ignore"):
        assert np.array_equal(classifier().predict_proba(other), found)


@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_the_warning_about_unseen_labels_points_at_the_caller(method):
    data = graphs()
    made = lfds.LFDSClassifier(**FAST, warm_start=True).fit(data)
    strange = replace(data, labels=data.labels + 50)
    with pytest.warns(UnseenLabelsWarning) as caught:
        getattr(made, method)(strange)
    assert [one.filename for one in caught] == [__file__]


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
def test_invalid_options_are_one_line(options, message):
    with pytest.raises((DataError, SpecError), match=message) as caught:
        lfds.LFDSClassifier(**{**FAST, **options}).fit(graphs())
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_a_network_too_large_for_memory_is_refused_before_graphs_are_encoded(method, monkeypatch):
    made = lfds.LFDSClassifier(slots=10**12)
    monkeypatch.setattr("lfds.data.encodings.encoder.Encoder.fit", None)
    with pytest.raises(SpecError, match=r"^slots: 1000000000000 makes .* choose a smaller one$"):
        getattr(made, method)(graphs())
    assert not hasattr(made, "network_")


@pytest.mark.parametrize("problem", ["the loss became nan", "values inside became inf"])
def test_a_diverging_partial_fit_names_the_call_and_the_fix(problem, monkeypatch):
    made = lfds.LFDSClassifier(**FAST, learning_rate=0.25).partial_fit(graphs())

    def diverged(*_):
        raise DivergedError(problem)

    monkeypatch.setattr("lfds.train.epoch.outputs_of", diverged)
    message = f"^{problem} in call 2; start again with a learning rate below 0.25$"
    with pytest.raises(DivergedError, match=message):
        made.partial_fit(graphs())
    assert made.n_iter_ == 1


@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_batches_too_large_for_memory_are_one_line(method, monkeypatch):
    monkeypatch.setattr("lfds.nn.GraphNetwork.penalty", lambda _: torch.empty(2**60))
    with pytest.raises(SpecError, match=r"memory ran out .* slots 4, batch_size 8; lower one"):
        getattr(lfds.LFDSClassifier(**FAST), method)(graphs())


def test_a_failed_fit_keeps_the_fitted_model():
    made = lfds.LFDSClassifier(**FAST).fit(graphs())
    before = made.predict_proba(graphs())
    for wrong in (labels()[:-1], ["same"] * 24, [1.5] * 24):
        with pytest.raises(DataError):
            made.fit(graphs(), wrong)
    assert np.array_equal(made.predict_proba(graphs()), before)


def test_encoding_by_settings():
    settings = EncodingSettings(labels=False, attributes=False, structure=(RWSE(steps=3),))
    made = lfds.LFDSClassifier(**FAST, encoding=settings).fit(graphs())
    assert made.encoder_.names == ("rwse0", "rwse1", "rwse2")


def test_encoding_by_one_name_by_several_and_by_settings():
    data = graphs()
    assert encoding_settings("auto", data) == EncodingSettings()
    bare = data.with_features(data.x[:, :0])
    bare = replace(bare, attributes=bare.x, labels=bare.labels[:, :0], label_values=())
    assert encoding_settings("auto", bare) == EncodingSettings(structure=(RWSE(),))
    assert encoding_settings("none", bare) == EncodingSettings()
    both = EncodingSettings(structure=(Degree(), RWSE()))
    assert encoding_settings(["degree", "rwse"], data) == both
    assert encoding_settings(both, data) is both
    with pytest.raises(SpecError, match="no encoding is called 'rws'; did you mean 'rwse'"):
        encoding_settings("rws", data)
    with pytest.raises(SpecError, match="encoding: 'auto' stands alone"):
        encoding_settings(["auto", "rwse"], data)


def test_a_progress_bar_is_shown_on_request(capsys):
    lfds.LFDSClassifier(**FAST, progress=True).fit(graphs())
    assert "fitting" in capsys.readouterr().err
