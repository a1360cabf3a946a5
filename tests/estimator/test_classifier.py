import numpy as np
import pytest

import lfds
from lfds.data.errors import DataError
from lfds.estimator import ManyClassesWarning
from tests.estimator.small import FAST, classifier, graphs, names


@pytest.mark.parametrize(
    "labels", [["b", "a"], [7, -2], [True, False], np.array(["x", "y"], dtype=object), [0.0, 1.0]]
)
def test_classes_are_the_users_own_labels(labels):
    y = np.array(list(labels) * 12)
    made = lfds.LFDSClassifier(**FAST).fit(graphs(), y)
    assert made.classes_.tolist() == sorted(labels)
    found = made.predict(graphs())
    assert set(found.tolist()) <= set(labels)
    assert made.score(graphs(), y) == (found == y.astype(found.dtype)).mean()


def test_it_learns():
    told = {**FAST, "epochs": 15, "options": {"width": 16, "head_dropout": 0.0}}
    made = lfds.LFDSClassifier(**told, learning_rate=0.02).fit(graphs())
    assert made.score(graphs()) == made.score(graphs(), names()) > 0.9
    assert made.score(graphs(), names()[::-1]) < 0.2


def test_probabilities_belong_to_the_classes_in_their_order():
    shares = classifier().predict_proba(graphs())
    assert shares.shape == (24, 2)
    assert np.allclose(shares.sum(axis=1), 1)
    best = classifier().classes_[shares.argmax(axis=1)]
    assert best.tolist() == classifier().predict(graphs()).tolist()


def test_probabilities_are_those_of_the_temperature():
    outputs = classifier().outputs(graphs()).astype(np.float64) / classifier().temperature_
    odds = np.exp(outputs[:, 1] - outputs[:, 0])
    assert np.allclose(classifier().predict_proba(graphs())[:, 1], odds / (1 + odds))
    assert classifier().temperature_ != 1.0


def test_balanced_weights_help_the_rare_class():
    rare = graphs(24)[[*range(0, 24, 2), *range(0, 24, 2), *range(0, 24, 2), 1, 3]]
    told = {**FAST, "epochs": 6, "validation": 0.0, "options": {"width": 8, "head_dropout": 0.0}}
    plain = lfds.LFDSClassifier(**told).fit(rare)
    fair = lfds.LFDSClassifier(**told, class_weight="balanced").fit(rare)
    by_hand = lfds.LFDSClassifier(**told, class_weight={"path": 38 / 72, "ring": 38 / 4}).fit(rare)
    rings = graphs()[[1, 3]]
    mean = [made.predict_proba(rings)[:, 1].mean() for made in (plain, fair, by_hand)]
    assert mean[1] > mean[0]
    assert mean[1] == pytest.approx(mean[2], rel=1e-4)


@pytest.mark.parametrize("patience", [1, 2, None])
def test_patience_ends_the_fit(patience):
    told = {**FAST, "epochs": 12, "patience": patience, "learning_rate": 1e-12}
    made = lfds.LFDSClassifier(**told).fit(graphs())
    seen = made.history_
    if patience is None:
        assert made.n_iter_ == 12
    else:
        assert made.n_iter_ == seen.best + 1 + patience < 12


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (["a", "b"], "y: needs one label for each of 24 graphs, not 2"),
        (["a"] * 24, "all 24 graphs are of class 'a'; .*at least 2 classes"),
        ([float("nan")] * 24, "label 0 is nan"),
        (np.linspace(0, 1, 24), "use LFDSRegressor"),
    ],
)
def test_labels_that_cannot_be_learned_are_named(y, message):
    with pytest.raises(DataError, match=message):
        lfds.LFDSClassifier(**FAST).fit(graphs(), y)
    with pytest.raises(DataError):
        lfds.LFDSClassifier(**FAST).partial_fit(graphs(), y)


def test_graphs_that_carry_no_labels_are_neither_learned_nor_judged():
    sets = [np.random.default_rng(k).normal(size=(3, 2)) for k in range(8)]
    numbers = lfds.LFDSClassifier(**FAST).fit(sets, [0, 1] * 4)
    amounts = lfds.LFDSRegressor(**FAST).fit(sets, range(8))
    for call in (numbers.fit, numbers.score, numbers.partial_fit, amounts.fit, amounts.score):
        with pytest.raises(DataError, match=r"^y: the graphs carry no labels; pass y"):
            call(sets)


# The second piece has kinds of nodes that the first one lacks.
@pytest.mark.filterwarnings("ignore::lfds.estimator.UnseenLabelsWarning")
def test_pieces_may_lack_classes_that_were_announced():
    paths = graphs()[0::2]
    made = lfds.LFDSClassifier(**FAST)
    made.partial_fit(paths, classes=["ring", "path"])
    assert made.classes_.tolist() == ["path", "ring"]
    made.partial_fit(graphs()[1::2])
    assert made.n_iter_ == 2
    with pytest.raises(DataError, match="classes: other classes than in the first call"):
        made.partial_fit(paths, classes=["path", "star"])
    with pytest.raises(DataError, match="at least 2 classes"):
        lfds.LFDSClassifier(**FAST).partial_fit(paths)


def test_graphs_may_count_differently_in_a_score():
    right = classifier().predict(graphs()) == np.array(names())
    weight = 1.0 + right
    expected = (weight * right).sum() / weight.sum()
    assert classifier().score(graphs(), names(), weight) == pytest.approx(expected)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        classifier().score(graphs(), names(), [1.0, 2.0])


def test_two_graphs_are_enough():
    made = lfds.LFDSClassifier(**FAST).fit(graphs()[:2])
    assert made.predict(graphs()[:2]).shape == (2,)
    assert made.temperature_ == 1.0


def test_several_structures_stand_side_by_side():
    told = {**FAST, "epochs": 1}
    one = lfds.LFDSClassifier("loop", **told).fit(graphs())
    both = lfds.LFDSClassifier(["loop", "image"], **told).fit(graphs())
    assert both.network_.settings.pool == "loop+image"
    assert both.network_.pool.out_channels == 2 * one.network_.pool.out_channels
    assert both.predict_proba(graphs()).shape == (24, 2)


def test_labels_that_are_no_classes_are_not_scored():
    with pytest.raises(DataError, match="label 'wheel' is none of the classes path, ring"):
        classifier().score(graphs(), ["wheel"] * 24)


def test_whole_numbers_that_look_like_quantities_are_told_of_once():
    made = lfds.LFDSClassifier(**{**FAST, "epochs": 1})
    with pytest.warns(ManyClassesWarning, match="LFDSRegressor predicts those") as told:
        made.fit(graphs(), np.arange(24) // 2)
    assert [one.filename for one in told] == [__file__]
