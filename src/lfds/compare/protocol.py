"""The protocols: ``fair``, which never uses test graphs to select, and ``paper``, which does.

Under ``fair`` the model is selected on validation graphs. The function that trains is given the
training and validation graphs and no others; :func:`assess` is the only one that is given test
graphs, together with weights that are final.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import torch
from torch import Tensor

from lfds.compare.given_splits import saved_splits
from lfds.compare.task import FoldTask
from lfds.config.training import Protocol
from lfds.data.encodings.encoder import Encoder
from lfds.data.graphset import GraphSet
from lfds.data.splits import Split, stratified_folds
from lfds.nn import GraphNetwork
from lfds.nn.models.ensemble import Ensemble
from lfds.nn.randomness import initialize_from
from lfds.results.record import MAX_CONFUSED, Confusion, Curve, Outcome
from lfds.seeds import member_seed, seed_for
from lfds.train.checkpoint import restore_checkpoint, save_checkpoint
from lfds.train.device import on_device
from lfds.train.epoch import count_predictions, evaluate
from lfds.train.forest import Forest
from lfds.train.loop import Training
from lfds.train.memory_limit import build_network


@dataclass(frozen=True)
class Selected:
    """A model that was selected without test graphs.

    Attributes:
        model: With the weights of the selected epoch; an ensemble if there are several members.
        encoder: Fitted on the training graphs.
        training: Its training; of several members that of the first.
        candidate: Which of the task's candidates it is.
        seconds: Time spent on training all of them.
    """

    model: GraphNetwork | Ensemble
    encoder: Encoder
    training: Training
    candidate: int
    seconds: float


@dataclass(frozen=True)
class FoldContext:
    """What a fold needs to run.

    Attributes:
        encodings: Cache of structural encodings.
        checkpoint: Returns the checkpoint file of a training, by its number in the task.
        after_epoch: Called with the number of a training and itself after each epoch.
    """

    encodings: Path | None
    checkpoint: Callable[[int], Path]
    after_epoch: Callable[[int, Training], None]


def fair(task: FoldTask, graphs: GraphSet, split: Split, context: FoldContext) -> Outcome:
    """Select on the validation part, then test once."""
    selected = select(task, graphs[split.train], graphs[split.validation], context)
    return assess(selected, graphs[split.test], context)


def select(task: FoldTask, train: GraphSet, validation: GraphSet, context: FoldContext) -> Selected:
    """Train every candidate, and return the best on the validation graphs.

    The best has the highest accuracy, then the lowest loss, then it is the first. The setting
    ``keep`` says which epoch of each candidate is kept. Members of an ensemble choose their epochs
    by themselves; accuracy and loss of the candidate are those of the averaged probabilities.
    """
    best: tuple[tuple[float, float], Selected] | None = None
    seconds = 0.0
    for candidate in range(len(task.candidates)):
        parts = _encoded(task, candidate, train, validation, context)
        trainings = [
            _train(task, number, parts, context) for number in task.trainings_of(candidate)
        ]
        seconds += sum(training.progress.seconds for training in trainings)
        model, score = _chosen(trainings, parts.validation)
        if best is None or score > best[0]:
            best = score, Selected(model, parts.encoder, trainings[0], candidate, 0.0)
    assert best is not None
    return replace(best[1], seconds=seconds)


def _chosen(
    trainings: Sequence[Training], validation: GraphSet
) -> tuple[GraphNetwork | Ensemble, tuple[float, float]]:
    """Return the model of a candidate with its best weights, and its order on validation graphs."""
    first = trainings[0]
    for training in trainings:
        training.model.load_state_dict(training.best)
    if len(trainings) == 1:
        return first.model, first.progress.best_score
    model, settings = Ensemble([training.model for training in trainings]), first.settings
    graphs = on_device(validation, first.device)
    accuracy, loss = evaluate(model, graphs, settings.batch_size, precision=settings.precision)
    return model, (accuracy, -loss)


def assess(selected: Selected, test: GraphSet, context: FoldContext) -> Outcome:
    """Test a selected model; the only function of ``fair`` that is given test graphs."""
    encoded = selected.encoder.transform(test, cache=context.encodings)
    training, settings = selected.training, selected.training.settings
    graphs = on_device(encoded, training.device)
    counts = count_predictions(
        selected.model, graphs, settings.batch_size, test.num_classes, settings.precision
    )
    progress = training.progress
    return Outcome(
        curve=Curve(
            loss=tuple(progress.loss),
            train=tuple(progress.train),
            validation=tuple(progress.validation),
            validation_loss=tuple(progress.validation_loss),
        ),
        epoch=progress.best,
        accuracy=int(counts.trace()) / len(test),
        candidate=selected.candidate,
        parameters=_parameters(selected.model),
        tested=len(test),
        seconds=selected.seconds,
        confusion=_confusion(test, counts),
    )


def paper(task: FoldTask, graphs: GraphSet, split: Split, context: FoldContext) -> Outcome:
    """Train on all graphs but the test part, and record the test accuracy after each epoch."""
    train = graphs[sorted(split.train + split.validation)]
    test = graphs[split.test]
    encoded = _encoded(task, 0, train, test, context)
    training = _train(task, 0, encoded, context)
    progress, settings = training.progress, training.settings
    counts = count_predictions(
        training.ema.model,
        on_device(encoded.validation, training.device),
        settings.batch_size,
        test.num_classes,
        settings.precision,
    )
    return Outcome(
        curve=Curve(
            loss=tuple(progress.loss),
            train=tuple(progress.train),
            test=tuple(progress.validation),
        ),
        parameters=_parameters(training.model),
        tested=len(test),
        seconds=progress.seconds,
        confusion=_confusion(test, counts),
    )


def reference(task: FoldTask, graphs: GraphSet, split: Split, context: FoldContext) -> Outcome:
    """Fit a random forest on all graphs but the test part, then test once, under any protocol.

    It selects nothing, so that it needs no validation graphs.
    """
    assert task.forest is not None
    start, which = time.process_time(), task.fold
    train, test = graphs[sorted(split.train + split.validation)], graphs[split.test]
    scope = (which.dataset, which.pool, "folds", which.folds, "fold", which.fold)
    forest = Forest(task.forest, seed_for(which.seed, *scope))
    forest.fit(train, train.y.numpy(), classes=graphs.num_classes, cache=context.encodings)
    seconds = time.process_time() - start
    predicted = forest.predict(test, context.encodings)[:, 0].argmax(axis=1)
    pairs = test.y * graphs.num_classes + torch.from_numpy(predicted)
    counts = torch.bincount(pairs, minlength=graphs.num_classes**2)
    accuracy = float((torch.from_numpy(predicted) == test.y).sum()) / len(test)
    once = which.protocol == "fair"
    return Outcome(
        curve=Curve() if once else Curve(test=(accuracy,)),
        epoch=0 if once else None,
        accuracy=accuracy if once else None,
        parameters=forest.nodes,
        tested=len(test),
        seconds=seconds,
        confusion=_confusion(test, counts.view(graphs.num_classes, -1)),
    )


def _confusion(test: GraphSet, counts: Tensor) -> Confusion | None:
    if len(test.classes) > MAX_CONFUSED:
        return None
    return Confusion(
        classes=tuple(map(str, test.classes)), counts=tuple(map(tuple, counts.tolist()))
    )


RUNS: Mapping[Protocol, Callable[[FoldTask, GraphSet, Split, FoldContext], Outcome]] = {
    "fair": fair,
    "paper": paper,
}


def split_of(task: FoldTask, graphs: GraphSet) -> Split:
    """Return the parts of the task's fold: the same for every pooling and both protocols."""
    which = task.fold
    if task.splits_file is not None and task.splits is not None:
        return saved_splits(task.splits_file, task.splits)[which.fold]
    folds = stratified_folds(
        graphs.y.numpy(), folds=which.folds, seed=which.seed, validation=task.validation
    )
    return folds[which.fold]


@dataclass(frozen=True)
class Parts:
    """Encoded graphs to train on, and to evaluate on after each epoch; and their encoder."""

    train: GraphSet
    validation: GraphSet
    encoder: Encoder


def _encoded(
    task: FoldTask, candidate: int, train: GraphSet, validation: GraphSet, context: FoldContext
) -> Parts:
    encoder = _encoder(task, candidate, train)
    return Parts(
        encoder.transform(train, cache=context.encodings),
        encoder.transform(validation, cache=context.encodings),
        encoder,
    )


def _train(task: FoldTask, number: int, parts: Parts, context: FoldContext) -> Training:
    """Run a training of the task, from its checkpoint if there is one."""
    which = task.fold
    candidate, member = task.trainings[number]
    settings, seed = task.candidates[candidate], member_seed(which.seed, member)
    scope = (which.dataset, which.pool, "folds", which.folds, "fold", which.fold)
    with initialize_from(seed_for(seed, *scope, "weights")):
        model = build_network(
            parts.encoder.width,
            parts.train.num_classes,
            settings.network,
            edge_features=parts.encoder.edge_width,
            train=parts.train,
        )
    training = Training(model, parts.train, parts.validation, settings.training, seed, scope)
    checkpoint = context.checkpoint(number)
    restore_checkpoint(training, checkpoint, task.key)
    training.run(partial(context.after_epoch, number))
    # Also after the last epoch: if the record is lost, no epoch is repeated.
    save_checkpoint(training, checkpoint, task.key)
    return training


def _encoder(task: FoldTask, number: int, train: GraphSet) -> Encoder:
    """Return the encoder of a candidate: not every network uses features of edges."""
    network = task.candidates[number].network
    return Encoder(task.encoding, edges=network.uses_edges).fit(train)


def _parameters(model: GraphNetwork | Ensemble) -> int:
    return sum(parameter.numel() for parameter in model.parameters())
