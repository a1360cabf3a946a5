"""The protocols: ``fair``, which never uses test graphs to select, and ``paper``, which does.

Under ``fair`` the model is selected on validation graphs. The function that trains is given the
training and validation graphs and no others; :func:`assess` is the only one that is given test
graphs, together with weights that are final.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from torch import Tensor

from lfds.compare.given_splits import saved_splits
from lfds.compare.task import FoldTask
from lfds.config.training import Protocol
from lfds.data.encodings.encoder import Encoder
from lfds.data.graphset import GraphSet
from lfds.data.splits import Split, stratified_folds
from lfds.nn import GraphNetwork
from lfds.nn.randomness import initialize_from
from lfds.results.record import MAX_CONFUSED, Confusion, Curve, Outcome
from lfds.seeds import seed_for
from lfds.train.checkpoint import restore_checkpoint, save_checkpoint
from lfds.train.device import on_device
from lfds.train.epoch import count_predictions
from lfds.train.loop import Training
from lfds.train.memory_limit import build_network


@dataclass(frozen=True)
class Selected:
    """A model that was selected without test graphs.

    Attributes:
        model: With the weights of the selected epoch.
        encoder: Fitted on the training graphs.
        training: Its training.
        candidate: Which of the task's candidates it is.
        seconds: Time spent on training all of them.
    """

    model: GraphNetwork
    encoder: Encoder
    training: Training
    candidate: int
    seconds: float


@dataclass(frozen=True)
class FoldContext:
    """What a fold needs to run.

    Attributes:
        encodings: Cache of structural encodings.
        checkpoint: Returns the checkpoint file of a candidate.
        after_epoch: Called with a candidate's number and training after each epoch.
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

    The best has the highest accuracy, then the lowest loss, then it is the first. The same holds
    for the epochs of each candidate, unless the last one is to be kept.
    """
    best: Selected | None = None
    seconds = 0.0
    for number in range(len(task.candidates)):
        encoder = _encoder(task, number, train)
        training = _train(task, number, encoder, train, validation, context)
        seconds += training.progress.seconds
        if best is None or training.progress.best_score > best.training.progress.best_score:
            best = Selected(training.model, encoder, training, number, seconds)
    assert best is not None
    best.model.load_state_dict(best.training.best)
    return replace(best, seconds=seconds)


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
    encoder = _encoder(task, 0, train)
    training = _train(task, 0, encoder, train, test, context)
    progress, settings = training.progress, training.settings
    encoded = on_device(encoder.transform(test, cache=context.encodings), training.device)
    counts = count_predictions(
        training.ema.model, encoded, settings.batch_size, test.num_classes, settings.precision
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


def _train(
    task: FoldTask,
    number: int,
    encoder: Encoder,
    train: GraphSet,
    validation: GraphSet,
    context: FoldContext,
) -> Training:
    """Train a candidate, from its checkpoint if there is one."""
    which, candidate = task.fold, task.candidates[number]
    scope = (which.dataset, which.pool, "folds", which.folds, "fold", which.fold)
    with initialize_from(seed_for(which.seed, *scope, "weights")):
        model = build_network(
            encoder.width,
            train.num_classes,
            candidate.network,
            edge_features=encoder.edge_width,
            train=train,
        )
    training = Training(
        model,
        encoder.transform(train, cache=context.encodings),
        encoder.transform(validation, cache=context.encodings),
        candidate.training,
        which.seed,
        scope,
    )
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


def _parameters(model: GraphNetwork) -> int:
    return sum(parameter.numel() for parameter in model.parameters())
