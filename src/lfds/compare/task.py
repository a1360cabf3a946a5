"""One fold to be run: everything that decides its numbers, and where its data are."""

from functools import cached_property
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from lfds.compare.versions import versions
from lfds.config.encoding import EncodingSettings
from lfds.config.network import NetworkSettings
from lfds.config.training import TrainingSettings
from lfds.results.record import Failure, Fold, Outcome, Record, key_of


class Candidate(BaseModel):
    """One way to make and fit a model.

    Attributes:
        training: How it is fitted.
        network: What it is.
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
        validation: Share of the training folds on which ``fair`` chooses, where folds are dealt.
        splits: The hash of the splits, where they are given and not dealt.
        splits_file: Where those are saved.
        encoding: What the nodes are known by.
        candidates: What is tried; several only under ``fair``, which chooses on validation graphs.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    fold: Fold
    data: Path
    content: str
    validation: float
    splits: str | None = None
    splits_file: Path | None = None
    encoding: EncodingSettings
    candidates: tuple[Candidate, ...] = Field(min_length=1)

    @cached_property
    def settings(self) -> dict[str, Any]:
        """Everything that decides the numbers, the fold apart; where files are does not."""
        # Given splits and the share of dealt ones exclude each other; what says nothing stays out,
        # so that adding a way to split renames no record of the others.
        silent = "splits" if self.splits is None else "validation"
        told = self.model_dump(mode="json", exclude={"fold", "data", "splits_file", silent})
        for named, candidate in zip(told["candidates"], self.candidates, strict=True):
            # As it was before one could choose: such records keep their names.
            if candidate.training.keep == "best":
                del named["training"]["keep"]
            named["network"] = candidate.network.as_recorded()
        return told

    @cached_property
    def key(self) -> str:
        """The name of the fold's record and checkpoint."""
        return key_of(self.fold, self.settings)

    @property
    def epochs(self) -> int:
        """Epochs of all candidates together."""
        return sum(candidate.training.epochs for candidate in self.candidates)

    def at_home(self) -> "FoldTask":
        """Return the same task with paths that hold in every folder of a machine."""
        splits = None if self.splits_file is None else self.splits_file.resolve()
        return self.model_copy(update={"data": self.data.resolve(), "splits_file": splits})

    def record(self, end: Outcome | Failure) -> Record:
        """Return what is to be written down when the fold has come to an end."""
        return Record(
            key=self.key,
            fold=self.fold,
            settings=self.settings,
            outcome=end if isinstance(end, Outcome) else None,
            failure=end if isinstance(end, Failure) else None,
            versions=versions(),
        )
