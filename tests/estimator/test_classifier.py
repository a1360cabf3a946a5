import numpy as np
import pytest

import lfds
from lfds.data.errors import DataError
from lfds.estimator import ManyClassesWarning
from tests.estimator.small import FAST, classifier, graphs, labels


@pytest.mark.parametrize(
    "names", [["b", "a"], [7, -2], [True, False], np.array(["x", "y"], dtype=object), [0.0, 1.0]]
)
def test_classes_are_the_labels_of_the_user(names):
    y = np.array(list(names) * 12)
    made = lfds.LFDSClassifier(**FAST).fit(graphs(), y)
    assert made.classes_.tolist() == sorted(names)
    found = made.predict(graphs())
    assert set(found.tolist()) <= set(names)
    assert made.score(graphs(), y) == (found == y.astype(found.dtype)).mean()


def test_fit_reaches_a_high_training_accuracy():
    options = {**FAST, "epochs": 15, "options": {"width": 16, "head_dropout": 0.0}}
    made = lfds.LFDSClassifier(**options, learning_rate=0.02).fit(graphs())
    assert made.score(graphs()) == made.score(graphs(), labels()) > 0.9
    assert made.score(graphs(), labels()[::-1]) < 0.2


def test_probabilities_have_the_order_of_the_classes():
    probabilities = classifier().predict_proba(graphs())
    assert probabilities.shape == (24, 2)
    assert np.allclose(probabilities.sum(axis=1), 1)
    best = classifier().classes_[probabilities.argmax(axis=1)]
    assert best.tolist() == classifier().predict(graphs()).tolist()


def test_probabilities_use_the_temperature():
    outputs = classifier().outputs(graphs()).astype(np.float64) / classifier().temperature_
    odds = np.exp(outputs[:, 1] - outputs[:, 0])
    assert np.allclose(classifier().predict_proba(graphs())[:, 1], odds / (1 + odds))
    assert classifier().temperature_ != 1.0


def test_balanced_weights_raise_the_probability_of_a_rare_class():
    rare = graphs(24)[[*range(0, 24, 2), *range(0, 24, 2), *range(0, 24, 2), 1, 3]]
    options = {**FAST, "epochs": 6, "validation": 0.0}
    options["options"] = {"width": 8, "head_dropout": 0.0}
    plain = lfds.LFDSClassifier(**options).fit(rare)
    balanced = lfds.LFDSClassifier(**options, class_weight="balanced").fit(rare)
    weights = {"path": 38 / 72, "ring": 38 / 4}
    by_label = lfds.LFDSClassifier(**options, class_weight=weights).fit(rare)
    rings = graphs()[[1, 3]]
    mean = [made.predict_proba(rings)[:, 1].mean() for made in (plain, balanced, by_label)]
    assert mean[1] > mean[0]
    assert mean[1] == pytest.approx(mean[2], rel=1e-4)


def test_the_most_accurate_epoch_is_kept_or_that_with_the_lowest_loss_or_the_last():
    options = {**FAST, "epochs": 12, "patience": None, "validation": 0.4, "seed": 1}
    rules = ("best", "loss", "mean-loss", "auto")
    made = {k: lfds.LFDSClassifier(**options, keep=k).fit(graphs()) for k in rules}
    history = made["best"].history_
    assert made["loss"].history_.validation_loss == history.validation_loss
    assert history.validation[history.best] == max(history.validation)
    assert made["loss"].history_.best == np.argmin(history.validation_loss) != history.best
    losses = history.validation_loss
    smooth = [np.mean(losses[max(0, end - 5) : end]) for end in range(1, 13)]
    assert made["mean-loss"].history_.best == np.argmin(smooth)
    assert made["auto"].history_.best == made["mean-loss"].history_.best
    assert lfds.LFDSClassifier(**options, keep="last").fit(graphs()).history_.best == 11
    accuracy = history.validation[made["loss"].history_.best]
    assert made["loss"].validation_score_ == accuracy < made["best"].validation_score_


@pytest.mark.parametrize(
    ("names", "seed", "rule", "other"),
    [(["a", "b"], 5, "mean-loss", "best"), (["a", "b", "c"], 2, "best", "mean-loss")],
)
def test_the_epoch_of_two_classes_is_chosen_by_the_mean_loss(names, seed, rule, other):
    y = (names * 24)[:24]
    options = {**FAST, "epochs": 12, "patience": None, "validation": 0.4, "seed": seed}

    def chosen(**keep):
        return lfds.LFDSClassifier(**options, **keep).fit(graphs(), y).history_.best

    assert chosen() == chosen(keep=rule) != chosen(keep=other)


@pytest.mark.parametrize("patience", [1, 2, None])
def test_patience_ends_the_fit(patience):
    options = {**FAST, "epochs": 12, "patience": patience, "learning_rate": 1e-12}
    made = lfds.LFDSClassifier(**options).fit(graphs())
    if patience is None:
        assert made.n_iter_ == 12
    else:
        assert made.n_iter_ == made.history_.best + 1 + patience < 12


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (["a", "b"], "y: needs one label for each of 24 graphs, not 2"),
        (["a"] * 24, "all 24 graphs are of class 'a', .*at least 2 classes"),
        ([float("nan")] * 24, "label 0 is nan"),
        (np.linspace(0, 1, 24), "use LFDSRegressor"),
    ],
)
def test_invalid_labels_are_refused(y, message):
    with pytest.raises(DataError, match=message):
        lfds.LFDSClassifier(**FAST).fit(graphs(), y)
    with pytest.raises(DataError):
        lfds.LFDSClassifier(**FAST).partial_fit(graphs(), y)


def test_graphs_without_labels_are_neither_fitted_nor_scored():
    sets = [np.random.default_rng(k).normal(size=(3, 2)) for k in range(8)]
    clf = lfds.LFDSClassifier(**FAST).fit(sets, [0, 1] * 4)
    reg = lfds.LFDSRegressor(**FAST).fit(sets, range(8))
    for method in (clf.fit, clf.score, clf.partial_fit, reg.fit, reg.score):
        with pytest.raises(DataError, match=r"^y: the graphs have no labels; pass y="):
            method(sets)


# The second call has node labels that the first one lacks.
@pytest.mark.filterwarnings("ignore::lfds.estimator.UnseenLabelsWarning")
def test_partial_fit_with_classes_given_in_advance():
    paths = graphs()[0::2]
    made = lfds.LFDSClassifier(**FAST)
    made.partial_fit(paths, classes=["ring", "path"])
    assert made.classes_.tolist() == ["path", "ring"]
    made.partial_fit(graphs()[1::2])
    assert made.n_iter_ == 2
    with pytest.raises(DataError, match=r"^classes: differ from those of the first call"):
        made.partial_fit(paths, classes=["path", "star"])
    with pytest.raises(DataError, match="at least 2 classes"):
        lfds.LFDSClassifier(**FAST).partial_fit(paths)


def test_sample_weights_of_a_score():
    right = classifier().predict(graphs()) == np.array(labels())
    weight = 1.0 + right
    expected = (weight * right).sum() / weight.sum()
    assert classifier().score(graphs(), labels(), weight) == pytest.approx(expected)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        classifier().score(graphs(), labels(), [1.0, 2.0])


def test_two_graphs_are_enough_to_fit():
    made = lfds.LFDSClassifier(**FAST).fit(graphs()[:2])
    assert made.predict(graphs()[:2]).shape == (2,)
    assert made.temperature_ == 1.0


def test_vectors_of_several_structures_are_concatenated():
    options = {**FAST, "epochs": 1}
    one = lfds.LFDSClassifier("loop", **options).fit(graphs())
    both = lfds.LFDSClassifier(["loop", "image"], **options).fit(graphs())
    assert both.network_.settings.pool == "loop+image"
    assert both.network_.pool.out_channels == 2 * one.network_.pool.out_channels
    assert both.predict_proba(graphs()).shape == (24, 2)


def test_an_unknown_label_is_not_scored():
    with pytest.raises(DataError, match="label 'wheel' is none of the classes path, ring"):
        classifier().score(graphs(), ["wheel"] * 24)


def test_many_numeric_classes_give_one_warning():
    made = lfds.LFDSClassifier(**{**FAST, "epochs": 1})
    with pytest.warns(ManyClassesWarning, match="to predict numbers use LFDSRegressor") as caught:
        made.fit(graphs(), np.arange(24) // 2)
    assert [one.filename for one in caught] == [__file__]
