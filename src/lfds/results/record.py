"""One fold's result as it is written down: what was run, and what came of it."""

import hashlib
import json
from collections.abc import Collection, Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, NonNegativeInt, PositiveInt, model_validator

from lfds.config.training import Protocol

FORMAT = 1
"""Raised when records change their shape or their meaning; others are refused, never guessed."""

Rule = Literal["fair", "last", "common-best", "fold-best"]

PROTOCOLS: Mapping[Protocol, tuple[Rule, ...]] = {
    "fair": ("fair",),
    "paper": ("last", "common-best", "fold-best"),
}
"""The rules by which each protocol's epochs are chosen."""

RULES: Mapping[Rule, str] = {
    "fair": "epoch chosen on validation graphs, test graphs used once",
    "last": "last epoch",
    "common-best": "the one epoch whose mean test accuracy over the folds is best",
    "fold-best": "the best test epoch of each fold: optimistic",
}


def rule_in_words(rule: Rule, kept: Collection[str | None] = ()) -> str:
    """Return what a rule does.

    Args:
        rule: Its name.
        kept: What the runs it was used on say of ``keep``; the best epoch, where they are silent.
    """
    if rule != "fair" or "last" not in kept:
        return RULES[rule]
    chosen = "epoch chosen on validation graphs or, where a row says so, " if len(kept) > 1 else ""
    return f"{chosen}the last epoch, test graphs used once"


Share = Annotated[float, Field(ge=0.0, le=1.0)]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class Fold(_Frozen):
    """Which fold of which run this is.

    Attributes:
        dataset: The name of the dataset.
        pool: The name of the pooling.
        protocol: How the epoch is chosen, and who sees the test graphs.
        folds: How many folds the data were dealt into.
        fold: Which of them was tested, counted from 0.
        seed: Root of all randomness, the dealing included.
    """

    dataset: str
    pool: str
    protocol: Protocol
    folds: PositiveInt
    fold: NonNegativeInt
    seed: int


class Curve(_Frozen):
    """What was seen epoch by epoch; a list stays empty where the protocol does not look.

    Attributes:
        loss: Mean training loss.
        train: Accuracy on the training graphs while they were trained on.
        validation: Accuracy on the validation graphs, under ``fair``.
        validation_loss: Mean cross-entropy of the validation graphs, under ``fair``.
        test: Accuracy on the test graphs, under ``paper``.
    """

    loss: tuple[float, ...] = ()
    train: tuple[Share, ...] = ()
    validation: tuple[Share, ...] = ()
    validation_loss: tuple[float, ...] = ()
    test: tuple[Share, ...] = ()


class Outcome(_Frozen):
    """What a fold that ended well has to say.

    Attributes:
        curve: Epoch by epoch.
        epoch: The epoch chosen on validation graphs, or the last one, counted from 0; only under
            ``fair``.
        accuracy: Its accuracy on the test graphs; only under ``fair``.
        candidate: Which of the candidates was chosen, counted from 0.
        parameters: Numbers the model learns.
        tested: Graphs of the test part.
        seconds: Time spent training, over all interruptions.
        peak_memory: Bytes in use at most, beyond what the process held when the fold began (or was
            gone on with); None where nobody measured.
    """

    curve: Curve
    epoch: NonNegativeInt | None = None
    accuracy: Share | None = None
    candidate: NonNegativeInt = 0
    parameters: NonNegativeInt
    tested: PositiveInt
    seconds: float = 0.0
    peak_memory: NonNegativeInt | None = None


class Failure(_Frozen):
    """Why a fold did not end well.

    Attributes:
        reason: One line for people.
        traceback: Everything for those who look for the cause.
    """

    reason: str
    traceback: str = ""


class Record(_Frozen):
    """One line of a file of results.

    Attributes:
        format: The version of this shape.
        key: The hash of everything that decides the numbers.
        fold: Which fold of which run.
        settings: Everything that decides the numbers, spelt out.
        outcome: What came of it, if it ended well.
        failure: What went wrong, if it did not.
        versions: Of the programs that made it, by name; older records do not say.
    """

    format: int = FORMAT
    key: str
    fold: Fold
    settings: dict[str, Any]
    outcome: Outcome | None = None
    failure: Failure | None = None
    versions: dict[str, str] = {}

    @model_validator(mode="after")
    def _one_end(self) -> Self:
        if (self.outcome is None) == (self.failure is None):
            raise ValueError("needs either an outcome or a failure")
        if self.outcome is not None:
            _check_protocol(self.fold.protocol, self.outcome)
        return self


def _check_protocol(protocol: Protocol, outcome: Outcome) -> None:
    chosen = outcome.accuracy is not None and outcome.epoch is not None
    if protocol == "fair" and (not chosen or outcome.curve.test):
        raise ValueError("a fair outcome has one test accuracy and no curve of them")
    if protocol == "paper" and (outcome.accuracy is not None or not outcome.curve.test):
        raise ValueError("an outcome of the paper's protocol is a curve of test accuracy")


def key_of(fold: Fold, settings: Mapping[str, Any]) -> str:
    """Return the name of a fold: the hash of everything that decides its numbers."""
    content = {"format": FORMAT, "fold": fold.model_dump(mode="json"), "settings": settings}
    written = json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(written.encode()).hexdigest()[:24]
