"""The stored result of one fold: what was run, and the outcome."""

import hashlib
import json
from collections.abc import Collection, Mapping
from os import PathLike
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, NonNegativeInt, PositiveInt, model_validator

from lfds.config.messages import located
from lfds.config.migrations import SCHEMA_VERSION, VERSION_KEY, check_version, version_of
from lfds.config.training import Protocol

if TYPE_CHECKING:
    from pydantic import ValidationError


class ResultsError(ValueError):
    """Results cannot be read, written or evaluated.

    Args:
        problem: What is wrong, and how to fix it.
        source: The file or folder.
        line: The line of the file, counted from 1.
    """

    def __init__(
        self, problem: str, *, source: str | PathLike[str] | None = None, line: int | None = None
    ) -> None:
        super().__init__(located(problem, source, line))


class IncompleteRunError(ResultsError):
    """Some folds are missing, failed or duplicated, so there is no mean."""


def first_problem(error: "ValidationError") -> str:
    """Return the first problem that pydantic found, as ``field: message``."""
    first = error.errors(include_url=False)[0]
    where = ".".join(str(part) for part in first["loc"])
    return f"{where}: {first['msg']}" if where else first["msg"]


FORMAT = 1
"""Part of every key, so it never changes; what is added to records counts up ``SCHEMA_VERSION``."""

Rule = Literal["fair", "last", "common-best", "fold-best"]

PROTOCOLS: Mapping[Protocol, tuple[Rule, ...]] = {
    "fair": ("fair",),
    "paper": ("last", "common-best", "fold-best"),
}
"""The rules that apply to the records of each protocol."""

RULES: Mapping[Rule, str] = {
    "fair": "epoch chosen on validation graphs, test graphs used once",
    "last": "last epoch",
    "common-best": "the one epoch whose mean test accuracy over the folds is best",
    "fold-best": "the best test epoch of each fold: optimistic",
}


def rule_in_words(rule: Rule, kept: Collection[str | None] = ()) -> str:
    """Return a description of a rule.

    Args:
        rule: Its name.
        kept: The values of the setting ``keep`` in the runs; None stands for ``best``.
    """
    if rule != "fair" or "last" not in kept:
        return RULES[rule]
    chosen = "epoch chosen on validation graphs or, where a row says so, " if len(kept) > 1 else ""
    return f"{chosen}the last epoch, test graphs used once"


MAX_FOLDS = 100_000
"""Most folds, and most seeds: reports list them all."""

_ROUNDING = 1e-6

Accuracy = Annotated[float, Field(ge=0.0, le=1.0)]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class Fold(_Frozen):
    """Which fold of which run this is.

    Attributes:
        dataset: Name of the dataset.
        pool: Name of the pooling.
        protocol: How the epoch is chosen, and how the test graphs are used.
        folds: Number of folds that the dataset was split into.
        fold: The fold that was tested, counted from 0.
        seed: Random seed, of the split into folds too.
    """

    dataset: str
    pool: str
    protocol: Protocol
    folds: Annotated[PositiveInt, Field(le=MAX_FOLDS)]
    fold: NonNegativeInt
    seed: int

    @model_validator(mode="after")
    def _one_of_the_folds(self) -> Self:
        if self.fold >= self.folds:
            raise ValueError(f"fold {self.fold} is none of {self.folds} folds, counted from 0")
        return self


class Curve(_Frozen):
    """Learning curves, one value per epoch; empty where the protocol does not compute them.

    Attributes:
        loss: Mean training loss.
        train: Accuracy on the training graphs during training.
        validation: Accuracy on the validation graphs; protocol ``fair`` only.
        validation_loss: Mean cross-entropy of the validation graphs; ``fair`` only.
        test: Accuracy on the test graphs; protocol ``paper`` only.
    """

    loss: tuple[float, ...] = ()
    train: tuple[Accuracy, ...] = ()
    validation: tuple[Accuracy, ...] = ()
    validation_loss: tuple[float, ...] = ()
    test: tuple[Accuracy, ...] = ()

    @model_validator(mode="after")
    def _as_many_epochs(self) -> Self:
        curves = {name: getattr(self, name) for name in type(self).model_fields}
        lengths = {name: len(curve) for name, curve in curves.items() if curve}
        if len(set(lengths.values())) > 1:
            listed = ", ".join(f"{name} {length}" for name, length in lengths.items())
            raise ValueError(f"all curves need one value per epoch, not {listed}")
        return self


MAX_CONFUSED = 100
"""Most classes of a stored confusion matrix; with more of them a record would be mostly zeros."""


class Confusion(_Frozen):
    """Which classes a model took the test graphs of a fold for.

    Attributes:
        classes: Names of the classes.
        counts: ``counts[i][j]``, the number of test graphs of class i that were predicted as j.
    """

    classes: Annotated[tuple[str, ...], Field(min_length=1, max_length=MAX_CONFUSED)]
    counts: tuple[tuple[NonNegativeInt, ...], ...]

    @model_validator(mode="after")
    def _square(self) -> Self:
        size = len(self.classes)
        if len(self.counts) != size or any(len(row) != size for row in self.counts):
            raise ValueError(f"counts of {size} classes need {size} rows of {size} numbers")
        return self

    @property
    def total(self) -> int:
        """Number of graphs."""
        return sum(map(sum, self.counts))

    @property
    def correct(self) -> int:
        """Number of graphs that were predicted as their own class."""
        return sum(row[place] for place, row in enumerate(self.counts))


class Outcome(_Frozen):
    """The result of a completed fold.

    Attributes:
        curve: Learning curves; of several members those of the first.
        epoch: The epoch chosen on validation graphs, or the last one, counted from 0; protocol
            ``fair`` only.
        accuracy: Test accuracy of that epoch, or of the averaged probabilities of several members;
            ``fair`` only.
        candidate: Index of the candidate of the grid that was chosen.
        parameters: Number of parameters of the model, of all members together.
        tested: Number of test graphs.
        seconds: Training time, interruptions left out.
        peak_memory: Peak memory in bytes, above what the process used when the fold was started (or
            resumed); None if it was not measured.
        cold_start: Whether its process had not run a fold on this dataset before, so that the peak
            memory includes code and data that later folds find loaded; None in older records.
        confusion: Which classes the test graphs were taken for: by the tested weights under
            ``fair``, after the last epoch under ``paper``. None in older records, and with more
            than 100 classes.
    """

    curve: Curve
    epoch: NonNegativeInt | None = None
    accuracy: Accuracy | None = None
    candidate: NonNegativeInt = 0
    parameters: NonNegativeInt
    tested: PositiveInt
    seconds: float = 0.0
    peak_memory: NonNegativeInt | None = None
    cold_start: bool | None = None
    confusion: Confusion | None = None

    @model_validator(mode="after")
    def _confusion_of_the_test_graphs(self) -> Self:
        if self.confusion is None:
            return self
        if self.confusion.total != self.tested:
            raise ValueError(
                f"a confusion matrix of {self.tested} test graphs, not {self.confusion.total}"
            )
        last = self.curve.test[-1] if self.curve.test else None
        accuracy = last if self.accuracy is None else self.accuracy
        if (
            accuracy is not None
            and abs(self.confusion.correct / self.tested - accuracy) > _ROUNDING
        ):
            raise ValueError(f"a confusion matrix of accuracy {accuracy:g}")
        return self


class Failure(_Frozen):
    """Why a fold failed.

    Attributes:
        reason: The cause in one line.
        traceback: The Python traceback.
    """

    reason: str
    traceback: str = ""


class Record(_Frozen):
    """One line of a file of records.

    Attributes:
        format: Version of the keys, 1.
        schema_version: Version of lfds' stored files that it was written with.
        key: Hash of everything that determines the result.
        fold: Which fold of which run.
        settings: Everything else that determines the result.
        outcome: The result, if the fold completed.
        failure: The cause, if it failed.
        versions: Versions of the packages it was run with; empty in older records.
    """

    format: int = FORMAT
    schema_version: PositiveInt = SCHEMA_VERSION
    key: str
    fold: Fold
    settings: dict[str, Any]
    outcome: Outcome | None = None
    failure: Failure | None = None
    versions: dict[str, str] = {}

    @classmethod
    def from_stored(cls, stored: Mapping[str, Any]) -> Self:
        """Return a record that was read from a file; without a schema version it is of version 1.

        Raises:
            ValueError: If it is invalid, or of a later version.
        """
        version = version_of(stored)
        check_version(version)
        record = cls.model_validate({**stored, VERSION_KEY: version})
        _check_candidates(record.settings.get("candidates"))
        return record

    @model_validator(mode="after")
    def _outcome_or_failure(self) -> Self:
        if (self.outcome is None) == (self.failure is None):
            raise ValueError("needs either an outcome or a failure")
        if self.outcome is not None:
            _check_protocol(self.fold.protocol, self.outcome)
        return self


def _check_candidates(candidates: object) -> None:
    """Raise a ValueError if the settings of a record are not those of trainings and networks."""
    if candidates is None:
        return
    if not isinstance(candidates, list) or not candidates:
        raise ValueError("settings.candidates: needs a list")
    for candidate in candidates:
        parts = candidate.values() if isinstance(candidate, dict) else [None]
        if not all(isinstance(part, dict) for part in parts):
            raise ValueError("settings.candidates: needs settings by name")


def _check_protocol(protocol: Protocol, outcome: Outcome) -> None:
    chosen = outcome.accuracy is not None and outcome.epoch is not None
    if protocol == "fair" and (not chosen or outcome.curve.test):
        raise ValueError("a fair outcome has one test accuracy and no curve of them")
    if protocol == "paper" and (outcome.accuracy is not None or not outcome.curve.test):
        raise ValueError("an outcome of the paper's protocol is a curve of test accuracy")


def key_of(fold: Fold, settings: Mapping[str, Any]) -> str:
    """Return the key of a fold: the hash of everything that determines its result."""
    content = {"format": FORMAT, "fold": fold.model_dump(mode="json"), "settings": settings}
    written = json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(written.encode()).hexdigest()[:24]
