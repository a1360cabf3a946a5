"""Several targets at once, some of them missing: classifiers, regressors, metrics, files."""

import numpy as np
import pytest
import torch

import lfds
from lfds.data import DataError
from lfds.estimator import ConstantTargetWarning
from lfds.estimator.metrics import evaluate
from lfds.train.objective import ClassifyEach, Regress
from tests.estimator import small
from tests.estimator.small import FAST, graphs


def table(count=24):
    """Three targets: is it a ring, is it large, and one that is mostly missing."""
    ring = np.arange(count) % 2.0
    large = (np.arange(count) % 4 > 1) * 1.0
    rare = np.where(np.arange(count) % 6 < 4, ring, np.nan)
    found = np.stack([ring, large, rare], axis=1)
    found[3, 0] = np.nan
    return found


@pytest.fixture(scope="module")
def classifier():
    return lfds.LFDSClassifier(**FAST).fit(graphs(), table())


def test_a_classifier_has_a_row_of_predictions_for_each_graph(classifier):
    assert classifier.classes_.tolist() == [0, 1]
    probabilities = classifier.predict_proba(graphs())
    assert probabilities.shape == (24, 3)
    predicted = classifier.predict(graphs())
    assert ((probabilities > 0.5) == predicted).all()
    known = ~np.isnan(table())
    accuracy = (predicted == table())[known].mean()
    assert classifier.score(graphs(), table()) == pytest.approx(accuracy)
    assert len(classifier.temperature_) == 3


@pytest.mark.parametrize(
    ("estimator", "targets", "keep"),
    [
        (lfds.LFDSClassifier, slice(1, 2), "mean-loss"),
        (lfds.LFDSClassifier, slice(0, 2), "best"),
        (lfds.LFDSRegressor, slice(1, 2), "best"),
        (lfds.LFDSRegressor, slice(0, 2), "best"),
    ],
)
def test_one_target_with_two_classes_alone_is_kept_by_the_mean_loss(estimator, targets, keep):
    made = estimator(**FAST).fit(graphs(), np.nan_to_num(table())[:, targets])
    assert made._training(made.decoder_).keep == keep


def test_missing_entries_change_nothing(classifier):
    outputs = torch.randn(4, 2, requires_grad=True)
    y = torch.tensor([[0, 1], [-1, 1], [1, -1], [-1, -1]])
    loss = ClassifyEach(1.0).loss(outputs, y)
    loss.backward()
    assert outputs.grad[y < 0].tolist() == [0] * 4
    entries = [(0, 0), (0, 1), (1, 1), (2, 0)]
    each = [torch.nn.functional.softplus(-outputs[e] if y[e] else outputs[e]) for e in entries]
    torch.testing.assert_close(loss, torch.stack(each).mean())


@pytest.mark.parametrize("huber", [False, True])
def test_missing_numbers_change_nothing(huber):
    outputs = torch.randn(3, 2, requires_grad=True)
    y = torch.tensor([[0.5, torch.nan], [torch.nan, 9.0], [torch.nan, torch.nan]])
    objective = Regress(2 / 3, huber=huber)
    loss = objective.loss(outputs, y)
    loss.backward()
    assert outputs.grad[y.isnan()].tolist() == [0] * 4
    errors = torch.stack([outputs[0, 0] - 0.5, outputs[1, 1] - 9.0]).abs()
    wanted = torch.where(errors < 1, errors.square(), 2 * errors - 1) if huber else errors**2
    torch.testing.assert_close(loss, wanted.mean())
    assert objective.total_loss(outputs, y) == pytest.approx(3 * loss.item(), rel=1e-5)
    assert objective.total_score(outputs, y) == pytest.approx(-3 * (errors**2).mean().item())


def test_without_missing_numbers_the_loss_has_the_same_bits():
    outputs, y = torch.randn(5, 2), torch.randn(5, 2)
    assert Regress().loss(outputs, y).equal(torch.nn.functional.mse_loss(outputs, y))
    assert Regress().total_loss(outputs, y) == (outputs - y).square().mean(dim=1).sum().item()


def test_weights_are_balanced_for_each_target():
    y = np.array([[0, 1], [0, 1], [0, -1], [1, 0]])
    classifier = lfds.LFDSClassifier(class_weight="balanced")
    _, _, objective = classifier._prepare(graphs()[:4], np.where(y < 0, np.nan, y), None)
    torch.testing.assert_close(objective.weights, torch.tensor([[4 / 6, 1.5], [2.0, 0.75]]))


def test_a_saved_model_predicts_the_same(classifier, tmp_path):
    classifier.save(tmp_path / "model")
    loaded = lfds.load(tmp_path / "model")
    assert loaded.predict_proba(graphs()).tolist() == classifier.predict_proba(graphs()).tolist()
    assert loaded.decoder_ == classifier.decoder_


def test_a_regressor_fits_several_targets_with_missing_ones():
    y = table() * [1, 10, 100]
    regressor = lfds.LFDSRegressor(**FAST, loss="huber").fit(graphs(), y)
    assert regressor.predict(graphs()).shape == (24, 3)
    assert regressor.decoder_.means == pytest.approx(np.nanmean(y, axis=0))
    assert np.isfinite(regressor.score(graphs(), y))


def test_metrics_are_those_of_each_target_and_their_mean(classifier):
    from dataclasses import replace

    y = np.nan_to_num(table(), nan=-1).astype(int)
    carrying = replace(graphs(), y=torch.from_numpy(y), classes=(0, 1), target_names=tuple("abc"))
    metrics = evaluate(classifier, carrying)
    assert list(metrics.targets) == ["target0", "target1", "target2"]
    assert [one.graphs for one in metrics.targets.values()] == [23, 24, 16]
    each = [one.auc for one in metrics.targets.values()]
    assert metrics.mean["auc"] == pytest.approx(np.mean(each))
    with pytest.raises(DataError, match=r"has 2 targets, and the model 3"):
        evaluate(classifier, replace(carrying, y=carrying.y[:, :2], target_names=()))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda y: y * 0, "y: all 71 known|all 24|needs at least 2 classes|of one class"),
        (lambda y: y + np.arange(24)[:, None], "need the same two classes, not"),
        (lambda y: np.where(np.arange(3) == 1, np.nan, y), "'target1' needs graphs of both"),
        (lambda y: y + 0.5, "classes are names or integers"),
        (lambda y: y * np.nan, "no target of any graph is known"),
        (lambda y: y[:5], "needs one label for each of 24 graphs"),
    ],
)
def test_targets_that_cannot_be_fitted_are_named(change, message):
    with pytest.raises(DataError, match=message):
        lfds.LFDSClassifier(**FAST).fit(graphs(), change(table()))


def test_another_number_of_targets_is_named(classifier):
    with pytest.raises(DataError, match="has 2 targets for each graph, and the model 3"):
        classifier.score(graphs(), table()[:, :2])
    with pytest.raises(DataError, match="has 1 target for each graph, and the model 3"):
        classifier.score(graphs(), [0, 1] * 12)
    several = graphs().with_targets(torch.zeros(24, 2, dtype=torch.int64))
    with pytest.raises(DataError, match="has 2 targets for each graph, and the model 3"):
        classifier.score(several)
    with pytest.raises(DataError, match="has 2 targets for each graph, and the model 1"):
        small.classifier().score(several)
    with pytest.raises(DataError, match="has 2 targets for each graph, and the model 1"):
        small.regressor().score(graphs(), table()[:, :2])


def test_an_onnx_file_gives_the_same_probabilities(classifier, tmp_path):
    pytest.importorskip("onnxruntime")
    from lfds.estimator.onnx import check_onnx, export_onnx

    export_onnx(classifier, tmp_path / "model.onnx")
    assert check_onnx(classifier, tmp_path / "model.onnx", graphs()) < 1e-5


def pyg(y):
    items = graphs().to_pyg()
    for item, row in zip(items, y, strict=True):
        item.y = torch.as_tensor(row)[None]
    return items


def test_graphs_that_carry_numbers_are_classified_as_those_given(classifier):
    carrying = pyg(table())
    made = lfds.LFDSClassifier(**FAST).fit(carrying)
    assert made.classes_.tolist() == [0, 1]
    assert made.decoder_.targets == ("target0", "target1", "target2")
    assert made.predict_proba(carrying).tolist() == classifier.predict_proba(graphs()).tolist()
    assert made.score(carrying) == made.score(graphs(), table())
    assert evaluate(made, lfds.GraphSet.from_pyg(carrying)).targets["target2"].graphs == 16
    again = lfds.LFDSClassifier(**FAST).fit(lfds.GraphSet.from_pyg(carrying))
    assert again.predict_proba(carrying).tolist() == made.predict_proba(carrying).tolist()


def test_pyg_graphs_carry_several_whole_numbers():
    whole = np.nan_to_num(table()).astype(int)
    made = lfds.LFDSClassifier(**FAST).fit(pyg(whole))
    given = lfds.LFDSClassifier(**FAST).fit(graphs(), whole)
    assert made.predict_proba(graphs()).tolist() == given.predict_proba(graphs()).tolist()
    assert lfds.LFDSRegressor(**FAST).fit(pyg(whole)).decoder_.means == pytest.approx(whole.mean(0))


def test_pyg_graphs_carry_numbers_of_which_some_are_missing():
    made = lfds.LFDSRegressor(**FAST).fit(pyg(table() * [1, 10, 100]))
    assert made.decoder_.means == pytest.approx(np.nanmean(table() * [1, 10, 100], axis=0))
    with pytest.raises(DataError, match=r"y: label 0 is 0.5, .*; use LFDSRegressor for numbers"):
        lfds.LFDSClassifier(**FAST).fit(pyg(table() + 0.5))


@pytest.mark.parametrize("form", [np.asarray, torch.as_tensor, np.ndarray.tolist])
def test_the_first_partial_fit_may_name_the_classes(form):
    y = form(table())
    made = lfds.LFDSClassifier(**FAST).partial_fit(graphs(), y, classes=[0, 1])
    plain = lfds.LFDSClassifier(**FAST).partial_fit(graphs(), y)
    assert made.decoder_ == plain.decoder_
    assert made.predict_proba(graphs()).tolist() == plain.predict_proba(graphs()).tolist()
    made.partial_fit(graphs(), y, classes=[1, 0])
    assert made.n_iter_ == 2
    with pytest.raises(DataError, match=r"y: the model has 3 targets, and y has one"):
        made.partial_fit(graphs(), [0, 1] * 12, classes=[0, 1])


def test_the_first_partial_fit_may_have_one_class_of_a_target():
    zeros = np.zeros((24, 2))
    made = lfds.LFDSClassifier(**FAST).partial_fit(graphs(), zeros, classes=[0, 1])
    assert made.classes_.tolist() == [0, 1]
    carrying = lfds.LFDSClassifier(**FAST).partial_fit(pyg(zeros), classes=[0, 1])
    assert carrying.predict_proba(graphs()).shape == (24, 2)
    message = r"classes: several targets need the same two labels, not 3: \[0, 1, 2\]"
    with pytest.raises(DataError, match=message):
        lfds.LFDSClassifier(**FAST).partial_fit(graphs(), zeros, classes=[0, 1, 2])


def test_rows_of_different_lengths_are_one_line():
    with pytest.raises(DataError, match="y: needs one row of labels"):
        lfds.LFDSClassifier(**FAST).fit(graphs(), [[0, 1]] * 23 + [[1]])


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (np.ones(24), "y: the target has one value only, 1; there is nothing to fit: use other"),
        (table() * [1, 0, 1], "y: target 'target1' has one value only, 0; .*: leave it out"),
        (
            np.where(np.arange(72).reshape(24, 3) == 3, 2.5, table() * [np.nan, 1, 1]),
            "y: target 'target0' is known for one graph only; there is nothing to fit: leave",
        ),
    ],
)
def test_a_target_with_one_value_gives_a_warning(y, message):
    with pytest.warns(ConstantTargetWarning, match=message) as caught:
        made = lfds.LFDSRegressor(**FAST).fit(graphs(), y)
    assert caught[0].filename == __file__
    assert np.isfinite(made.predict(graphs())).all()


@pytest.mark.parametrize("kind", [lfds.LFDSClassifier, lfds.LFDSRegressor])
def test_columns_of_data_frames_are_matched_by_name(kind):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(table(), columns=["A", "B", "C"])
    model = kind(**FAST).fit(graphs(), frame)
    expected = model.score(graphs(), frame)
    assert model.score(graphs(), frame[["C", "A", "B"]]) == expected
    # Other names, and no names, say nothing.
    assert model.score(graphs(), table()) == expected
    assert model.score(graphs(), frame.set_axis(["x", "y", "z"], axis=1)) == expected
    first, _, _ = model._prepare(graphs(), frame, model.decoder_)
    again, _, _ = model._prepare(graphs(), frame[["B", "C", "A"]], model.decoder_)
    assert torch.equal(first.nan_to_num(-1), again.nan_to_num(-1))
    assert model.decoder_.target_names == ("A", "B", "C")


@pytest.mark.parametrize("kind", [lfds.LFDSClassifier, lfds.LFDSRegressor])
def test_metrics_of_some_targets_are_those_of_the_same_name(kind):
    from dataclasses import replace

    def carrying(columns, names):
        y = torch.from_numpy(table()[:, columns])
        if kind is lfds.LFDSClassifier:
            codes = y.nan_to_num(-1).long()
            return replace(graphs(), y=codes, classes=(0, 1), target_names=names)
        return replace(graphs(), y=y.float(), classes=(), target_names=names)

    model = kind(**FAST).fit(carrying([0, 1, 2], ("A", "B", "C")))
    expected = evaluate(model, carrying([0, 1, 2], ("A", "B", "C")))
    assert evaluate(model, carrying([2, 0, 1], ("C", "A", "B"))) == expected
    assert model.score(carrying([2, 0, 1], ("C", "A", "B"))) == pytest.approx(
        model.score(carrying([0, 1, 2], ("A", "B", "C")))
    )
    found = evaluate(model, carrying([2, 0], ("C", "A")))
    assert found.targets == {name: expected.targets[name] for name in "AC"}
    alone = carrying([1], ("B",))
    assert evaluate(model, alone).targets == {"B": expected.targets["B"]}
    flat = replace(alone, y=alone.y[:, 0])
    assert evaluate(model, flat).targets == {"B": expected.targets["B"]}
    with pytest.raises(DataError, match=r"has 2 targets \(C, x\), and the model 3 \(A, B, C\)"):
        evaluate(model, carrying([2, 0], ("C", "x")))
