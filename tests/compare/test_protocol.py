from dataclasses import replace

import pytest
import torch

from lfds.compare import protocol
from lfds.compare.protocol import FoldContext, fair, paper, select, split_of
from lfds.config.messages import SpecError
from lfds.data.graphset import GraphSet
from lfds.train.epoch import outputs_of
from lfds.train.ranks import OneRank
from tests.compare.small import graphs, tasks_for


@pytest.fixture
def task(tmp_path):
    return tasks_for(tmp_path, validation=0.3)[0]


def context(tmp_path, name="checkpoint"):
    return FoldContext(None, lambda number: tmp_path / f"{name}-{number}", lambda *_: None)


def garbage(whole, rows):
    """Return the graphs with wrong classes, labels and attributes in some rows."""
    y = whole.y.clone()
    y[list(rows)] = 1 - y[list(rows)]
    labels = whole.labels.clone()
    for row in rows:
        labels[whole.ptr[row] : whole.ptr[row + 1]] = 1000 + row
    return replace(whole, y=y, labels=labels)


def weights_by_fair(task, whole, split, tmp_path, name, monkeypatch):
    found = {}
    assess = protocol.assess

    def keep(selected, test, context):
        found.update({name: value.clone() for name, value in selected.model.state_dict().items()})
        return assess(selected, test, context)

    monkeypatch.setattr(protocol, "assess", keep)
    outcome = fair(task, whole, split, context(tmp_path, name))
    monkeypatch.undo()
    return outcome, found


def test_fair_trains_the_same_weights_whatever_the_test_part_holds(task, tmp_path, monkeypatch):
    split = split_of(task, graphs())
    wrong = garbage(graphs(), split.test)
    outcome, weights = weights_by_fair(task, graphs(), split, tmp_path, "a", monkeypatch)
    other, others = weights_by_fair(task, wrong, split, tmp_path, "b", monkeypatch)
    assert weights.keys() == others.keys()
    assert all(torch.equal(weights[name], others[name]) for name in weights)
    assert outcome.curve == other.curve
    assert outcome.epoch == other.epoch


@pytest.mark.parametrize("part", ["train", "validation"])
def test_the_same_garbage_in_another_part_changes_the_curve(task, tmp_path, monkeypatch, part):
    split = split_of(task, graphs())
    wrong = garbage(graphs(), getattr(split, part))
    outcome, _ = weights_by_fair(task, graphs(), split, tmp_path, "a", monkeypatch)
    other, _ = weights_by_fair(task, wrong, split, tmp_path, "b", monkeypatch)
    assert outcome.curve != other.curve


@pytest.mark.parametrize(("keep", "same"), [("last", True), ("best", False)])
def test_keep_last_does_not_depend_on_the_validation_part(tmp_path, monkeypatch, keep, same):
    task = tasks_for(tmp_path, validation=0.3, epochs=8, learning_rate=0.02, keep=keep)[0]
    split = split_of(task, graphs())
    wrong = garbage(graphs(), split.validation)
    outcome, weights = weights_by_fair(task, graphs(), split, tmp_path, "a", monkeypatch)
    other, others = weights_by_fair(task, wrong, split, tmp_path, "b", monkeypatch)
    assert all(torch.equal(weights[name], others[name]) for name in weights) is same
    assert (outcome.epoch == other.epoch == 7) is same
    assert outcome.curve != other.curve


def test_candidates_that_keep_the_last_epoch_are_compared_by_it(tmp_path, monkeypatch):
    grid = {"width": [8, 4]}
    task = tasks_for(tmp_path, validation=0.3, keep="last", grid=grid)[0]
    ends = iter([(0.9, 1.0), (0.2, 1.0), (0.1, 1.0), (0.3, 1.0)])  # the first had the best epoch
    monkeypatch.setattr(OneRank, "evaluate", lambda *_: next(ends))
    split = split_of(task, graphs())
    selected = select(task, graphs()[split.train], graphs()[split.validation], context(tmp_path))
    assert selected.candidate == 1


def test_the_paper_protocol_records_test_accuracies_without_training_on_them(tmp_path):
    task = tasks_for(tmp_path, learning_rate=0.02, epochs=8)[0]
    split = split_of(task, graphs())
    whole = paper(task, graphs(), split, context(tmp_path, "a"))
    wrong = paper(task, garbage(graphs(), split.test), split, context(tmp_path, "b"))
    assert whole.curve.test != wrong.curve.test
    assert whole.curve.loss == wrong.curve.loss
    assert len(whole.curve.test) == 8
    assert whole.accuracy is None


def test_the_paper_protocol_trains_on_all_that_is_not_tested(task, tmp_path, monkeypatch):
    seen = {}

    def spy(model, train, validation, *rest):
        seen.update(train=len(train), validation=len(validation))
        return protocol_training(model, train, validation, *rest)

    protocol_training = protocol.Training
    monkeypatch.setattr(protocol, "Training", spy)
    split = split_of(task, graphs())
    paper(task, graphs(), split, context(tmp_path, "a"))
    assert seen == {"train": 6, "validation": 6}
    fair(task, graphs(), split, context(tmp_path, "b"))
    assert seen == {"train": 4, "validation": 2}


def test_the_weights_of_the_selected_epoch_are_tested(task, tmp_path, monkeypatch):
    split = split_of(task, graphs())
    falling = iter([(0.9, 1.0), (0.1, 1.0)])  # the first epoch is the best, the last is not
    monkeypatch.setattr(OneRank, "evaluate", lambda *_: next(falling))
    selected = select(task, graphs()[split.train], graphs()[split.validation], context(tmp_path))
    assert selected.training.progress.best == 0
    trained_on = selected.model.state_dict()["base.layers.0.activation.norm.num_batches_tracked"]
    assert trained_on == 1  # one batch of four graphs: the first epoch
    for name, value in selected.model.state_dict().items():
        assert torch.equal(value, selected.training.best[name])


def test_encodings_are_fitted_on_the_training_part_only(task, tmp_path):
    split = split_of(task, graphs())
    strange = garbage(graphs(), split.validation)
    selected = select(task, strange[split.train], strange[split.validation], context(tmp_path))
    # The labels of the validation graphs, 1000 and more, have no columns.
    assert not any("100" in name for name in selected.encoder.names)


def test_every_pooling_and_protocol_has_the_same_splits(tmp_path):
    tasks = tasks_for(tmp_path, pools=["max", "loop"])
    others = tasks_for(tmp_path, pools=["max", "loop"], protocol="paper", epochs=9)
    splits = {split_of(task, graphs()) for task in tasks + others if task.fold.fold == 1}
    assert len(splits) == 1
    again = tasks_for(tmp_path, seed=1)[1]
    assert split_of(again, graphs()) not in splits


def test_identical_graphs_are_classified_by_chance(task, tmp_path):
    same = GraphSet.from_arrays(
        [2] * 12, [[2 * k for k in range(12)], [2 * k + 1 for k in range(12)]], [0, 1] * 6
    )
    outcome = fair(task, same, split_of(task, same), context(tmp_path))
    assert outcome.accuracy == 0.5


def test_selection_from_a_grid_does_not_depend_on_the_test_part(tmp_path, monkeypatch):
    grid = {"learning_rate": [1e-9, 0.05], "slots": [4, 8]}
    task = tasks_for(tmp_path, validation=0.4, epochs=6, final_learning_rate=1e-9, grid=grid)[0]
    assert [(one.training.learning_rate, one.network.slots) for one in task.candidates] == [
        (1e-9, 4),
        (1e-9, 8),
        (0.05, 4),
        (0.05, 8),
    ]
    split = split_of(task, graphs())
    outcome, weights = weights_by_fair(task, graphs(), split, tmp_path, "a", monkeypatch)
    wrong = garbage(graphs(), split.test)
    other, others = weights_by_fair(task, wrong, split, tmp_path, "b", monkeypatch)
    assert (outcome.candidate, outcome.epoch) == (other.candidate, other.epoch)
    assert all(torch.equal(weights[name], others[name]) for name in weights)
    # The best candidate on the validation part, each trained by itself.
    alone = [
        fair(
            task.model_copy(update={"candidates": (one,)}),
            graphs(),
            split,
            context(tmp_path, f"one{number}"),
        ).curve
        for number, one in enumerate(task.candidates)
    ]
    scores = [max(zip(c.validation, [-v for v in c.validation_loss], strict=True)) for c in alone]
    assert outcome.candidate == scores.index(max(scores))
    assert outcome.curve == alone[outcome.candidate]


@pytest.mark.parametrize("run", [fair, paper])
def test_confusion_matrix_is_of_the_test_graphs_and_has_their_accuracy(tmp_path, run, monkeypatch):
    task = tasks_for(tmp_path, protocol=run.__name__)[0]
    split = split_of(task, graphs())
    predicted = []
    original = protocol.count_predictions

    def watched(model, *arguments):
        counts = original(model, *arguments)
        predicted.append(model)
        return counts

    monkeypatch.setattr(protocol, "count_predictions", watched)
    outcome = run(task, graphs(), split, context(tmp_path))
    (model,) = predicted
    confusion = outcome.confusion
    assert confusion.classes == ("0", "1")
    true = graphs().y[list(split.test)]
    assert [sum(row) for row in confusion.counts] == true.bincount(minlength=2).tolist()
    accuracy = outcome.accuracy if run is fair else outcome.curve.test[-1]
    assert confusion.correct / len(split.test) == accuracy
    assert not model.training


def test_datasets_with_very_many_classes_record_no_matrix():
    few, many = graphs(), replace(graphs(), classes=tuple(range(101)))
    counts = torch.zeros(2, 2, dtype=torch.int64)
    assert protocol._confusion(few, counts).counts == ((0, 0), (0, 0))
    assert protocol._confusion(many, counts) is None


def test_an_ensemble_is_tested_by_its_averaged_probabilities(tmp_path):
    task = tasks_for(tmp_path, validation=0.3, members=3, epochs=3)[0]
    single = tasks_for(tmp_path, validation=0.3, epochs=3)[0]
    assert task.key != single.key
    assert task.epochs == 9
    split = split_of(task, graphs())
    parts = graphs()[split.train], graphs()[split.validation]
    seen = []
    here = replace(context(tmp_path), after_epoch=lambda number, _: seen.append(number))
    selected = select(task, *parts, here)
    assert seen == [0, 0, 0, 1, 1, 1, 2, 2, 2]
    one = select(single, *parts, context(tmp_path, "single"))
    first, *others = selected.model.members
    # The first member is the network that is trained alone; the others are not.
    for name, value in one.model.state_dict().items():
        assert torch.equal(value, first.state_dict()[name])
    assert all(
        not torch.equal(other.head.layers[-1].weight, first.head.layers[-1].weight)
        for other in others
    )
    encoded = selected.encoder.transform(graphs()[split.test])
    batch = encoded.batch(slice(0, len(encoded)))
    with torch.no_grad():
        each = [
            outputs_of(member.eval(), batch).softmax(dim=1) for member in selected.model.members
        ]
    right = (torch.stack(each).mean(dim=0).argmax(dim=1) == batch.y).float().mean()
    outcome = protocol.assess(selected, graphs()[split.test], context(tmp_path))
    assert outcome.accuracy == pytest.approx(float(right))
    assert (
        outcome.parameters
        == 3 * protocol.assess(one, graphs()[split.test], context(tmp_path)).parameters
    )


def test_an_ensemble_resumes_at_the_member_it_was_stopped_at(tmp_path):
    task = tasks_for(tmp_path, validation=0.3, members=2)[0]
    split = split_of(task, graphs())
    whole = fair(task, graphs(), split, context(tmp_path, "whole"))

    def stop(number, training):
        if number == 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fair(task, graphs(), split, replace(context(tmp_path, "again"), after_epoch=stop))
    seen = []
    here = replace(context(tmp_path, "again"), after_epoch=lambda number, _: seen.append(number))
    again = fair(task, graphs(), split, here)
    assert set(seen) == {1}
    assert again.accuracy == whole.accuracy
    assert again.curve == whole.curve


def test_candidates_with_several_members_are_compared_by_their_average(tmp_path):
    task = tasks_for(tmp_path, validation=0.3, grid={"members": [1, 2]})[0]
    assert task.trainings == ((0, 0), (1, 0), (1, 1))
    assert [task.trainings_of(k) for k in (0, 1)] == [[0], [1, 2]]
    assert [task.epochs_before(k) for k in range(4)] == [0, 2, 4, 6]
    split = split_of(task, graphs())
    outcome = fair(task, graphs(), split, context(tmp_path))
    assert outcome.candidate in (0, 1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"members": 0}, "members"),
        ({"members": 5, "protocol": "paper"}, "members=5 needs protocol='fair'"),
    ],
)
def test_wrong_members_are_one_line(options, message, tmp_path):
    with pytest.raises(SpecError, match=message):
        tasks_for(tmp_path, **options)
