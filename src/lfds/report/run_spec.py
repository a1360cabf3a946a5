"""What a run was asked for, as its ``spec.json`` says, so that what is missing can be told."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, NonNegativeInt, PositiveInt, ValidationError

from lfds.config.network import IDLE_IN_BASELINES, recorded_network
from lfds.config.registry import is_latent
from lfds.config.training import Protocol, TrainingSettings
from lfds.results.errors import ResultsError
from lfds.results.record import Record

SPEC = "spec.json"
_TRAINING = tuple(TrainingSettings.model_fields)

_NAMED = ("network", "encoding", "graphs")


class RequestedRun(BaseModel):
    """The part of a spec that says which folds there should be.

    A spec has more to say, and that of a later version may have more still; what is not named
    here is in ``told``.

    Attributes:
        data: Names or paths of datasets.
        pools: Names of poolings.
        protocol: Of the whole run.
        folds: Parts the graphs were to be dealt into.
        seeds: How often all was to be repeated.
        seed: The first seed.
    """

    model_config = ConfigDict(frozen=True, extra="allow")
    data: tuple[str, ...]
    pools: tuple[str, ...]
    protocol: Protocol
    folds: PositiveInt
    seeds: PositiveInt = 1
    seed: NonNegativeInt = 0

    @property
    def told(self) -> Mapping[str, Any]:
        """Everything the file says."""
        return self.model_dump(mode="json")

    @property
    def all_seeds(self) -> frozenset[int]:
        """Every seed of the run."""
        return frozenset(range(self.seed, self.seed + self.seeds))

    @property
    def datasets(self) -> tuple[str, ...]:
        """The names that records know the datasets by."""
        return tuple(Path(entry).name.split(".")[0] or entry for entry in self.data)

    def meant(self, record: Record) -> bool:
        """Whether a record is of this run, and not of an earlier one in the same folder."""
        if (record.fold.protocol, record.fold.folds) != (self.protocol, self.folds):
            return False
        told = self.told
        if not self._deals_as(record):
            return False
        candidates = record.settings.get("candidates") or [{}]
        fixed = {name: told[name] for name in _TRAINING if name in told}
        options = dict(told.get("options") or {})
        # What has no effect is not named as asked for.
        idle = () if is_latent(record.fold.pool) else IDLE_IN_BASELINES
        for name in (*(told.get("grid") or {}), *idle):
            fixed.pop(name, None)
            options.pop(name, None)
        training = candidates[0].get("training")
        # Before there was averaging, each epoch stood for itself; the best one goes without saying.
        trained = {"averaging": 0.0, "keep": "best", **training} if training else {}
        network = recorded_network(candidates[0].get("network", {}))
        return _agrees(trained, fixed) and _agrees(network, options)

    def is_like(self, other: "RequestedRun") -> bool:
        """Whether two runs agree in what a record spells out, and a spec only names."""
        return all(self.told.get(name) == other.told.get(name) for name in _NAMED)

    def _deals_as(self, record: Record) -> bool:
        """Whether folds and features came about as they should, as far as both say so."""
        told, found = self.told, record.settings
        if "splits" in told and bool(told["splits"]) != bool(found.get("splits")):
            return False
        fixed = {} if found.get("splits") else {"validation": told.get("validation")}
        if isinstance(told.get("encoding"), Mapping):
            fixed["encoding"] = told["encoding"]
        return _agrees(found, {name: value for name, value in fixed.items() if value is not None})


def read_requested_run(folder: Path) -> RequestedRun | None:
    """Return what the last run in a folder was asked for; None where nothing says so."""
    path = folder / SPEC
    try:
        return RequestedRun.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ResultsError(f"cannot be read ({error.strerror})", source=path) from error
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise ResultsError(
            f"is not what a run was asked for ({where} {first['msg']}); "
            f"restore the file, or remove it to report on the records alone",
            source=path,
        ) from error


def _agrees(found: Mapping[str, Any], told: Mapping[str, Any]) -> bool:
    return all(found.get(name, value) == value for name, value in told.items())
