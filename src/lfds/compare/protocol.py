"""How a fold is judged: ``fair``, which cannot see a test label, and ``paper``, which says it does.

Under ``fair`` what is chosen is chosen on validation graphs. The function that trains is given the
training and validation graphs and no others; :func:`assess` is the only one that takes a test part,
and it is handed weights that nothing can change any more.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import torch

from lfds.compare.given_splits import saved_splits
from lfds.compare.task import FoldTask
from lfds.config.training import Protocol
from lfds.data.encodings.encoder import Encoder
from lfds.data.graphset import GraphSet
from lfds.data.splits import Split, stratified_folds
from lfds.nn import GraphNetwork
from lfds.results.record import Curve, Outcome
from lfds.seeds import seed_for
from lfds.train.checkpoint import restore_checkpoint, save_checkpoint
from lfds.train.epoch import evaluate
from lfds.train.loop import Training
from lfds.train.memory_limit import build_network

AfterEpoch = Callable[[int, Training], None]


@dataclass(frozen=True)
class Chosen:
    """A model that was chosen without a look at the test graphs.

    Attributes:
        model: With the weights of the chosen epoch.
        encoder: Learned from the training graphs.
        training: How it came about.
        candidate: Which of the task's candidates it is.
        seconds: Time spent on all of them.
    """

    model: GraphNetwork
    encoder: Encoder
    training: Training
    candidate: int
    seconds: float


@dataclass(frozen=True)
class FoldContext:
    """What a fold is run with.

    Attributes:
        encodings: Cache of structural encodings.
        checkpoint: Returns the file a candidate goes on from and is written to.
        after_epoch: Called with a candidate's number and training after each epoch.
    """

    encodings: Path | None
    checkpoint: Callable[[int], Path]
    after_epoch: AfterEpoch


def fair(task: FoldTask, graphs: GraphSet, split: Split, workshop: FoldContext) -> Outcome:
    """Choose on the validation part, then judge once."""
    chosen = choose(task, graphs[split.train], graphs[split.validation], workshop)
    return assess(task, chosen, graphs[split.test], workshop)


def choose(task: FoldTask, train: GraphSet, validation: GraphSet, workshop: FoldContext) -> Chosen:
    """Train every candidate, and keep the one that did best on the validation graphs.

    The best is the most accurate, then the one with the lower loss, then the earlier one; so it is
    with the epochs of each, unless the last one is to be kept.
    """
    encoder = Encoder(task.encoding).fit(train)
    best: Training | None = None
    which, seconds = 0, 0.0
    for number in range(len(task.candidates)):
        training = _trained(task, number, encoder, train, validation, workshop)
        seconds += training.progress.seconds
        if best is None or training.progress.best_score > best.progress.best_score:
            best, which = training, number
    assert best is not None
    best.model.load_state_dict(best.best)
    return Chosen(best.model, encoder, best, which, seconds)


def assess(task: FoldTask, chosen: Chosen, test: GraphSet, workshop: FoldContext) -> Outcome:
    """Judge a chosen model; the only function of ``fair`` that is given test graphs."""
    encoded = chosen.encoder.transform(test, cache=workshop.encodings)
    accuracy, _ = evaluate(chosen.model, encoded, chosen.training.settings.batch_size)
    seen = chosen.training.progress
    return Outcome(
        curve=Curve(
            loss=tuple(seen.loss),
            train=tuple(seen.train),
            validation=tuple(seen.watched),
            validation_loss=tuple(seen.watched_loss),
        ),
        epoch=seen.best,
        accuracy=accuracy,
        candidate=chosen.candidate,
        parameters=_parameters(chosen.model),
        tested=len(test),
        seconds=chosen.seconds,
    )


def paper(task: FoldTask, graphs: GraphSet, split: Split, workshop: FoldContext) -> Outcome:
    """Train on all that is not tested, and follow the accuracy on the test graphs."""
    rest = graphs[sorted(split.train + split.validation)]
    test = graphs[split.test]
    encoder = Encoder(task.encoding).fit(rest)
    training = _trained(task, 0, encoder, rest, test, workshop)
    seen = training.progress
    return Outcome(
        curve=Curve(loss=tuple(seen.loss), train=tuple(seen.train), test=tuple(seen.watched)),
        parameters=_parameters(training.model),
        tested=len(test),
        seconds=seen.seconds,
    )


RUNS: Mapping[Protocol, Callable[[FoldTask, GraphSet, Split, FoldContext], Outcome]] = {
    "fair": fair,
    "paper": paper,
}


def split_of(task: FoldTask, graphs: GraphSet) -> Split:
    """Return the parts of the task's fold: the same for every pooling and both protocols."""
    which = task.fold
    if task.splits_file is not None:
        return saved_splits(task.splits_file)[which.fold]
    folds = stratified_folds(
        graphs.y.numpy(), folds=which.folds, seed=which.seed, validation=task.validation
    )
    return folds[which.fold]


def _trained(
    task: FoldTask,
    number: int,
    encoder: Encoder,
    train: GraphSet,
    watched: GraphSet,
    workshop: FoldContext,
) -> Training:
    which, candidate = task.fold, task.candidates[number]
    scope = (which.dataset, which.pool, "folds", which.folds, "fold", which.fold)
    # Layers draw their first weights from torch's global generator: it is set here and, for
    # dropout, at the beginning of every epoch.
    torch.manual_seed(seed_for(which.seed, *scope, "weights"))
    model = build_network(encoder.width, train.num_classes, candidate.network)
    training = Training(
        model,
        encoder.transform(train, cache=workshop.encodings),
        encoder.transform(watched, cache=workshop.encodings),
        candidate.training,
        which.seed,
        scope,
    )
    checkpoint = workshop.checkpoint(number)
    restore_checkpoint(training, checkpoint, task.key)
    training.run(partial(workshop.after_epoch, number))
    # The end is kept as well: where the record is lost, no epoch is run again.
    save_checkpoint(training, checkpoint, task.key)
    return training


def _parameters(model: GraphNetwork) -> int:
    return sum(parameter.numel() for parameter in model.parameters())
