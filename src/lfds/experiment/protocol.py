"""How a fold is judged: ``fair``, which cannot see a test label, and ``paper``, which says it does.

Under ``fair`` the epoch is chosen on validation graphs. The function that trains is given the
training and validation graphs and no others; :func:`assess` is the only one that takes a test part,
and it is handed weights that nothing can change any more.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import torch

from lfds.data.encodings.encoder import Encoder
from lfds.data.graphset import GraphSet
from lfds.data.splits import Split, stratified_folds
from lfds.experiment.checkpoint import restore_checkpoint, save_checkpoint
from lfds.experiment.task import FoldTask
from lfds.experiment.training import Training, evaluate
from lfds.nn import GraphClassifier
from lfds.results.record import Curve, Outcome, Protocol
from lfds.seeds import seed_for

AfterEpoch = Callable[[Training], None]


@dataclass(frozen=True)
class Chosen:
    """A model that was chosen without a look at the test graphs.

    Attributes:
        model: With the weights of the chosen epoch.
        encoder: Learned from the training graphs.
        training: How it came about.
    """

    model: GraphClassifier
    encoder: Encoder
    training: Training


@dataclass(frozen=True)
class Workshop:
    """What a fold is run with.

    Attributes:
        encodings: Cache of structural encodings.
        checkpoint: The file to go on from and to write to.
        after_epoch: Called after each epoch.
    """

    encodings: Path | None
    checkpoint: Path
    after_epoch: AfterEpoch


def fair(task: FoldTask, graphs: GraphSet, split: Split, workshop: Workshop) -> Outcome:
    """Choose on the validation part, then judge once."""
    chosen = choose(task, graphs[split.train], graphs[split.validation], workshop)
    return assess(task, chosen, graphs[split.test], workshop)


def choose(task: FoldTask, train: GraphSet, validation: GraphSet, workshop: Workshop) -> Chosen:
    """Train, and keep the weights of the epoch that did best on the validation graphs."""
    encoder = Encoder(task.encoding).fit(train)
    training = _trained(task, encoder, train, validation, workshop)
    training.model.load_state_dict(training.best)
    return Chosen(training.model, encoder, training)


def assess(task: FoldTask, chosen: Chosen, test: GraphSet, workshop: Workshop) -> Outcome:
    """Judge a chosen model; the only function of ``fair`` that is given test graphs."""
    encoded = chosen.encoder.transform(test, cache=workshop.encodings)
    accuracy, _ = evaluate(chosen.model, encoded, task.training.batch_size)
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
        parameters=_parameters(chosen.model),
        tested=len(test),
        seconds=seen.seconds,
    )


def paper(task: FoldTask, graphs: GraphSet, split: Split, workshop: Workshop) -> Outcome:
    """Train on all that is not tested, and follow the accuracy on the test graphs."""
    rest = graphs[sorted(split.train + split.validation)]
    test = graphs[split.test]
    encoder = Encoder(task.encoding).fit(rest)
    training = _trained(task, encoder, rest, test, workshop)
    seen = training.progress
    return Outcome(
        curve=Curve(loss=tuple(seen.loss), train=tuple(seen.train), test=tuple(seen.watched)),
        parameters=_parameters(training.model),
        tested=len(test),
        seconds=seen.seconds,
    )


RUNS: Mapping[Protocol, Callable[[FoldTask, GraphSet, Split, Workshop], Outcome]] = {
    "fair": fair,
    "paper": paper,
}


def split_of(task: FoldTask, graphs: GraphSet) -> Split:
    """Return the parts of the task's fold: the same for every pooling and both protocols."""
    which = task.fold
    folds = stratified_folds(
        graphs.y.numpy(), folds=which.folds, seed=which.seed, validation=task.validation
    )
    return folds[which.fold]


def _trained(
    task: FoldTask, encoder: Encoder, train: GraphSet, watched: GraphSet, workshop: Workshop
) -> Training:
    which = task.fold
    scope = (which.dataset, which.pool, "folds", which.folds, "fold", which.fold)
    # Layers draw their first weights from torch's global generator: it is set here and, for
    # dropout, at the beginning of every epoch.
    torch.manual_seed(seed_for(which.seed, *scope, "weights"))
    model = GraphClassifier(encoder.width, train.num_classes, task.network)
    training = Training(
        model,
        encoder.transform(train, cache=workshop.encodings),
        encoder.transform(watched, cache=workshop.encodings),
        task.training,
        which.seed,
        scope,
    )
    restore_checkpoint(training, workshop.checkpoint, task.key)
    training.run(workshop.after_epoch)
    # The end is kept as well: where the record is lost, no epoch is run again.
    save_checkpoint(training, workshop.checkpoint, task.key)
    return training


def _parameters(model: GraphClassifier) -> int:
    return sum(parameter.numel() for parameter in model.parameters())
