"""One fold to run: everything that determines its numbers, and where its data is."""

import platform
from functools import cache, cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, model_validator

from lfds import __version__
from lfds.config.encoding import EncodingSettings
from lfds.config.forest import ForestSettings
from lfds.config.migrations import without_legacy_defaults
from lfds.config.network import NetworkSettings
from lfds.config.training import TrainingSettings
from lfds.results.record import Failure, Fold, Outcome, Record, key_of
from lfds.train.device import backend_of

_PACKAGES = ("torch", "torch-geometric", "numpy", "scipy")


class Candidate(BaseModel):
    """One configuration of a model.

    Attributes:
        training: How it is trained.
        network: What it is made of.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    training: TrainingSettings
    network: NetworkSettings


class FoldTask(BaseModel):
    """One fold of one dataset, pooling and seed.

    Attributes:
        fold: Which one.
        data: Where the graphs are saved.
        content: The hash of the graphs; other graphs under the same name are another task.
        validation: Share of the training folds that is the validation part, unless splits are
            given.
        splits: The hash of the given splits; None where graphs are split into folds.
        splits_file: Where given splits are saved.
        encoding: Which features the nodes get.
        candidates: The configurations to select from; several only under ``fair``, which selects on
            validation graphs. None of a forest.
        forest: The settings of a random forest, which takes the place of a network.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    fold: Fold
    data: Path
    content: str
    validation: float
    splits: str | None = None
    splits_file: Path | None = None
    encoding: EncodingSettings
    candidates: tuple[Candidate, ...] = ()
    forest: ForestSettings | None = None

    @model_validator(mode="after")
    def _networks_or_a_forest(self) -> Self:
        if bool(self.candidates) == (self.forest is not None):
            raise ValueError("needs candidates or a forest, and not both")
        return self

    @cached_property
    def settings(self) -> dict[str, Any]:
        """Everything that determines the numbers, except the fold; no paths."""
        # Given splits and a share of validation exclude each other. What has no effect is left out,
        # so that a new way to split renames no record of the others.
        unused = {"splits" if self.splits is None else "validation"}
        unused |= {"forest"} if self.forest is None else {"candidates", "encoding"}
        settings = self.model_dump(mode="json", exclude={"fold", "data", "splits_file", *unused})
        if self.forest is not None:
            return settings
        for named, candidate in zip(settings["candidates"], self.candidates, strict=True):
            named["training"] = without_legacy_defaults(TrainingSettings, named["training"])
            named["network"] = candidate.network.as_recorded()
        return settings

    @cached_property
    def key(self) -> str:
        """The name of the fold's record and checkpoint."""
        return key_of(self.fold, self.settings)

    @cached_property
    def trainings(self) -> tuple[tuple[int, int], ...]:
        """The candidate and the member that each training of the fold is for."""
        return tuple(
            (number, member)
            for number, candidate in enumerate(self.candidates)
            for member in range(candidate.training.members)
        )

    def trainings_of(self, candidate: int) -> list[int]:
        """Return the numbers of a candidate's trainings."""
        return [number for number, (of, _) in enumerate(self.trainings) if of == candidate]

    def epochs_before(self, training: int) -> int:
        """Return the number of epochs of all trainings before one."""
        before = (self.candidates[candidate] for candidate, _ in self.trainings[:training])
        return sum(candidate.training.epochs for candidate in before)

    @property
    def epochs(self) -> int:
        """Epochs of all trainings together."""
        return self.epochs_before(len(self.trainings))

    def with_absolute_paths(self) -> "FoldTask":
        """Return the same task with paths that do not depend on the working directory."""
        splits = None if self.splits_file is None else self.splits_file.resolve()
        return self.model_copy(update={"data": self.data.resolve(), "splits_file": splits})

    def record(self, end: Outcome | Failure) -> Record:
        """Return the record of the fold's outcome or failure."""
        return Record(
            key=self.key,
            fold=self.fold,
            settings=self.settings,
            outcome=end if isinstance(end, Outcome) else None,
            failure=end if isinstance(end, Failure) else None,
            versions=versions() | ({} if self.forest is None else _forest_versions()),
        )


@cache
def versions() -> dict[str, str]:
    """Return the versions of everything that affects the numbers, and what computes, by name."""
    found = {"lfds": __version__, "python": platform.python_version()}
    found |= {package: version(package) for package in _PACKAGES}
    machine = f"{platform.system()} {platform.machine()}"
    return found | {"machine": machine, "backend": backend_of()}


def _forest_versions() -> dict[str, str]:
    return {"scikit-learn": version("scikit-learn")}
