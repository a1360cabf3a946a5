"""What searches, pipelines and users of scikit-learn expect of the estimators."""

import warnings

import matplotlib as mpl
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

import lfds
from lfds.config.messages import SpecError
from lfds.data.errors import DataError
from lfds.estimator.input_conversion import UnseenLabelsWarning
from tests.estimator.small import FAST, classifier, graphs, labels, networkx_graphs, regressor

mpl.use("Agg")


def test_settings_of_the_network_are_nested_parameters():
    estimator = lfds.LFDSRegressor(options={"width": 8})
    params = estimator.get_params()
    assert (params["network__width"], params["network__head_dropout"]) == (8, 0.0)
    assert "network__slots" not in params  # an option of its own
    assert not any("__" in name for name in estimator.get_params(deep=False))
    assert estimator.set_params(network__layers=2, slots=9).options == {"width": 8, "layers": 2}
    assert estimator.set_params(**estimator.get_params()).options == {"width": 8, "layers": 2}
    assert lfds.LFDSClassifier().set_params(**lfds.LFDSClassifier().get_params()).options is None
    copy = clone(estimator)
    assert (copy.options, copy.slots) == (estimator.options, 9)


def test_wrong_nested_parameters_are_one_line():
    with pytest.raises(
        SpecError, match=r"^network__widht: .*did you mean 'network__width'"
    ) as caught:
        lfds.LFDSClassifier().set_params(network__widht=3)
    assert "\n" not in str(caught.value)
    wrong = lfds.LFDSClassifier(epochs=1).set_params(network__width="wide")
    with pytest.raises(SpecError, match=r"^width: .* not 'wide'$"):
        wrong.fit(graphs())
    assert wrong.get_params()["network__width"] == "wide"


def test_a_search_over_nested_parameters_with_weights():
    search = GridSearchCV(
        lfds.LFDSClassifier(epochs=1, slots=4, node_label="kind"),
        {"network__width": [4, 8], "network__head_width": [4]},
        cv=2,
        error_score="raise",
    )
    search.fit(networkx_graphs(), labels(), sample_weight=np.ones(24))
    width = search.best_params_["network__width"]
    assert search.best_estimator_.network_.settings.width == width
    assert search.best_estimator_.network_.settings.head_width == 4


def test_log_probabilities_and_decisions_agree_with_probabilities():
    model = classifier()
    probabilities = model.predict_proba(graphs())
    np.testing.assert_allclose(np.exp(model.predict_log_proba(graphs())), probabilities)
    decisions = model.decision_function(graphs())
    assert decisions.shape == (24,)
    np.testing.assert_allclose(1 / (1 + np.exp(-decisions)), probabilities[:, 1])
    assert np.array_equal(model.classes_[(decisions > 0).astype(int)], model.predict(graphs()))
    three = lfds.LFDSClassifier(**FAST).fit(graphs(), [k % 3 for k in range(24)])
    decisions = three.decision_function(graphs())
    assert decisions.shape == (24, 3)
    assert np.array_equal(three.classes_[decisions.argmax(axis=1)], three.predict(graphs()))
    several = np.stack([np.arange(24) % 2, np.arange(24) // 12], axis=1)
    both = lfds.LFDSClassifier(**FAST).fit(graphs(), several)
    np.testing.assert_allclose(
        np.exp(both.predict_log_proba(graphs())), both.predict_proba(graphs())
    )
    assert both.decision_function(graphs()).shape == (24, 2)


def test_a_model_warns_once_of_unseen_labels():
    model = lfds.LFDSClassifier(**FAST, node_label="kind").fit(networkx_graphs(), labels())
    strange = networkx_graphs()
    for node in strange[0]:
        strange[0].nodes[node]["kind"] = 99
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        for _ in range(5):
            model.predict(strange)
            model.score(strange, labels())
    assert [one.category for one in given] == [UnseenLabelsWarning]
    with pytest.warns(UnseenLabelsWarning):
        model.fit(networkx_graphs(), labels()).predict(strange)


@pytest.mark.parametrize(("verbose", "count"), [(False, 0), (True, 4), (1, 4), (2, 2), (9, 0)])
def test_verbose_prints_lines_on_standard_error(verbose, count, capsys):
    options = {**FAST, "epochs": 4}
    lfds.LFDSClassifier(**options, verbose=verbose).fit(graphs())
    out, err = capsys.readouterr()
    assert (out, err.count("epoch "), err.count("\n")) == ("", count, count)
    if count:
        assert err.splitlines()[-1].startswith("epoch 4/4: loss ")


def test_verbose_needs_a_count():
    with pytest.raises(SpecError, match=r"^verbose: needs True, False or an integer of at least 0"):
        lfds.LFDSClassifier(verbose=-1).fit(graphs())


def test_histories_are_plotted():
    from matplotlib import pyplot

    loss, accuracy = classifier().plot_history()
    assert (loss.get_ylabel(), accuracy.get_ylabel()) == ("loss", "accuracy")
    history = classifier().history_
    dashed, solid, kept = loss.lines
    assert dashed.get_ydata().tolist() == history.loss
    assert solid.get_ydata().tolist() == history.validation_loss
    assert kept.get_xdata() == [history.best + 1]
    assert [line.get_ydata().tolist() for line in accuracy.lines[:2]] == [
        history.train, history.validation,
    ]  # fmt: skip
    _, r2 = regressor().plot_history()
    assert r2.get_ylabel() == "R2"
    np.testing.assert_allclose(r2.lines[0].get_ydata(), 1 + np.array(regressor().history_.train))
    _, axes = pyplot.subplots(1, 2)
    assert classifier().plot_history(axes)[0] is axes[0]
    with pytest.raises(DataError, match=r"^axes: needs 2 axes \(loss, accuracy\), not 1"):
        classifier().plot_history(axes[0])
    pyplot.close("all")


def test_histories_of_members_and_of_partial_fits():
    from matplotlib import pyplot

    both = lfds.LFDSClassifier(**FAST, members=2, validation=0.0).fit(graphs())
    assert len(both.plot_history()[0].lines) == 4
    parts = lfds.LFDSClassifier(**FAST).partial_fit(graphs())
    assert len(parts.plot_history()[0].lines) == 1
    pyplot.close("all")
