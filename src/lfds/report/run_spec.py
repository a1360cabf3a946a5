"""Stored runs: what each was requested to do (``spec.json``), recorded, and how to repeat it."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    NonNegativeInt,
    PositiveInt,
    ValidationError,
)

from lfds.config.migrations import migrate_spec
from lfds.config.network import NetworkSettings, idle_settings, recorded_network
from lfds.config.registry import REFERENCES
from lfds.config.strict_json import strict_json
from lfds.config.training import Protocol, TrainingSettings
from lfds.report.series import LEGACY_TRAINING
from lfds.results.record import MAX_FOLDS, Record, ResultsError, first_problem
from lfds.results.store import RECORDS, check_regular_file, one_per_fold, read_records

SPEC = "spec.json"
_EDGES = "edge_features"


class RequestedRun(BaseModel):
    """The part of a stored spec that determines which folds there should be.

    Other options are kept as they are, known or not: a report of a run of any version can be made.

    Attributes:
        data: Names or paths of datasets.
        pools: Names of poolings.
        protocol: Protocol of the run.
        folds: Number of folds.
        seeds: Number of seeds.
        seed: The first seed.
    """

    model_config = ConfigDict(frozen=True, extra="allow")
    data: tuple[str, ...]
    pools: tuple[str, ...]
    protocol: Protocol
    folds: Annotated[PositiveInt, Field(le=MAX_FOLDS)]
    seeds: Annotated[PositiveInt, Field(le=MAX_FOLDS)] = 1
    seed: NonNegativeInt = 0
    options: dict[str, Any] | None = None
    grid: dict[str, Any] | None = None

    @property
    def stored(self) -> dict[str, Any]:
        """The full spec, as stored."""
        given = self.model_fields_set
        spec = self.model_dump(mode="json")
        return {name: value for name, value in spec.items() if value is not None or name in given}

    @property
    def all_seeds(self) -> frozenset[int]:
        """Every seed of the run."""
        return frozenset(range(self.seed, self.seed + self.seeds))

    @property
    def datasets(self) -> tuple[str, ...]:
        """The names of the datasets in records."""
        return tuple(Path(entry).name.split(".")[0] or entry for entry in self.data)

    def includes(self, record: Record) -> bool:
        """Whether a record is of this run, and not of an earlier one in the same folder."""
        if (record.fold.protocol, record.fold.folds) != (self.protocol, self.folds):
            return False
        spec = self._migrated()
        if not _same_split_and_features(spec, record.settings):
            return False
        candidates = record.settings.get("candidates") or [{}]
        training = {name: spec[name] for name in TrainingSettings.model_fields if name in spec}
        options = dict(spec.get("options") or {})
        # Records do not name options without effect as the spec does.
        idle = idle_settings(record.fold.pool)
        if options.get(_EDGES) is True:  # without effect on graphs without edge data
            del options[_EDGES]
        for name in (*(spec.get("grid") or {}), *idle):
            training.pop(name, None)
            options.pop(name, None)
        trained = candidates[0].get("training")
        network = recorded_network(candidates[0].get("network", {}))
        return _agrees({**LEGACY_TRAINING, **trained} if trained else {}, training) and _agrees(
            network, options
        )

    def same_setup(self, other: "RequestedRun") -> bool:
        """Whether two specs agree in options that records store in another form."""
        mine, theirs = self.stored, other.stored
        return all(mine.get(n) == theirs.get(n) for n in ("network", "encoding", "graphs"))

    def _migrated(self) -> dict[str, Any]:
        try:
            return migrate_spec(self.stored, NetworkSettings, TrainingSettings)
        except ValueError:  # of a later version
            return self.stored


def _same_split_and_features(spec: Mapping[str, Any], settings: Mapping[str, Any]) -> bool:
    """Whether folds and node features agree with the spec, as far as both name them."""
    if "splits" in spec and bool(spec["splits"]) != bool(settings.get("splits")):
        return False
    fixed = {} if settings.get("splits") else {"validation": spec.get("validation")}
    if isinstance(spec.get("encoding"), Mapping):
        fixed["encoding"] = spec["encoding"]
    return _agrees(settings, {name: value for name, value in fixed.items() if value is not None})


def _agrees(found: Mapping[str, Any], requested: Mapping[str, Any]) -> bool:
    return all(found.get(name, value) == value for name, value in requested.items())


def read_requested_run(folder: Path) -> RequestedRun | None:
    """Return what the last run in a folder was requested to do; None without a ``spec.json``."""
    path = folder / SPEC
    try:
        check_regular_file(path)
        requested = RequestedRun.model_validate(strict_json(path.read_bytes()))
        _ = requested.stored  # raises if it is nested too deeply to be written again
        return requested
    except ResultsError:
        raise
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ResultsError(f"cannot be read ({error.strerror})", source=path) from error
    except (ValueError, RecursionError) as error:
        problem = first_problem(error) if isinstance(error, ValidationError) else error
        raise ResultsError(
            f"invalid spec ({problem}); "
            f"restore the file, or remove it to report on the records alone",
            source=path,
        ) from error


@dataclass(frozen=True)
class Source:
    """One folder or file of results.

    Attributes:
        path: Its path, as given.
        records: The records used from here; each fold is used from one source only.
        finished: One record per fold that finished here, used or not.
        requested: What the last run there was requested to do, if there is a ``spec.json``.
        torn: Bytes of an interrupted last line, which is ignored.
    """

    path: Path
    records: tuple[Record, ...]
    finished: tuple[Record, ...]
    requested: RequestedRun | None = None
    torn: int = 0

    def requests(self, record: Record, origin: "Source") -> bool:
        """Whether a record of this or another source was requested here."""
        if self.requested is None or not self.requested.includes(record):
            return False
        if origin is self or origin.requested is None or not origin.requested.includes(record):
            return True
        return self.requested.same_setup(origin.requested)


def read_sources(paths: Sequence[Path]) -> tuple[Source, ...]:
    """Read folders and files of results; a fold that is in several is used once."""
    if not paths:
        raise ResultsError("a report needs a folder of results, as lfds compare --out writes it")
    readings = [read_records(path) for path in paths]
    used = {id(r) for r in one_per_fold(r for one in readings for r in one.records).values()}
    sources = tuple(
        Source(
            path,
            tuple(record for record in reading.records if id(record) in used),
            tuple(one_per_fold(reading.records).values()),
            _requested_at(path),
            len(reading.torn),
        )
        for path, reading in zip(paths, readings, strict=True)
    )
    if not any(source.records or source.requested for source in sources):
        names = ", ".join(str(path) for path in paths)
        raise ResultsError("no fold has finished yet; run lfds compare first", source=names)
    return sources


def _requested_at(path: Path) -> RequestedRun | None:
    """A file belongs to the spec beside it only if it has the name of records in a folder."""
    if path.is_dir():
        return read_requested_run(path)
    return read_requested_run(path.parent) if path.name.startswith(RECORDS) else None


COMMAND = "lfds compare --spec spec.json --root data --out run"


@dataclass(frozen=True)
class Reproduction:
    """How to reproduce one source.

    Attributes:
        source: Its path.
        spec: The content of ``spec.json``, or None if no single spec describes it.
        remark: Where the spec is from, or why there is none.
    """

    source: str
    spec: str | None
    remark: str


def reproduce(source: Source) -> Reproduction:
    """Return how to reproduce a source, from its ``spec.json`` or else its records."""
    if source.requested is not None:
        spec: dict[str, Any] | None = source.requested.stored
        remark = "As stored by the run."
    else:
        spec = _spec_from(source.finished)
        remark = (
            "Derived from the records, which do not say whether --graphs selected a part of the "
            "datasets."
            if spec is not None
            else "Its folds have different settings, and there is no spec.json beside it."
        )
    text = None if spec is None else json.dumps(spec, indent=2, ensure_ascii=False)
    return Reproduction(str(source.path), text, remark)


def _spec_from(records: Sequence[Record]) -> dict[str, Any] | None:
    """Return the spec that all records agree with, if there is one."""
    # Of a reference without a network the name says all.
    networks = [record for record in records if record.fold.pool not in REFERENCES]
    specs = [_spec_of(record) for record in networks]
    # Graphs without edge data have the same records, whether edge data were to be used or not.
    used = any(spec["options"].get(_EDGES) for spec in specs if spec is not None)
    for spec in specs if used else ():
        if spec is not None:
            spec["options"][_EDGES] = True
    if not specs or any(spec is None or spec != specs[0] for spec in specs):
        return None
    seeds = sorted({record.fold.seed for record in records})
    if seeds != list(range(seeds[0], seeds[0] + len(seeds))):
        return None
    return {
        "data": list(dict.fromkeys(record.fold.dataset for record in records)),
        "pools": list(dict.fromkeys(record.fold.pool for record in records)),
        "seeds": len(seeds),
        "seed": seeds[0],
        **(specs[0] or {}),
    }


def _spec_of(record: Record) -> dict[str, Any] | None:
    candidates = record.settings.get("candidates", [])
    if len(candidates) != 1:
        return None
    training = candidates[0].get("training", {})
    network = recorded_network(candidates[0].get("network", {}))
    return {
        "protocol": record.fold.protocol,
        "folds": record.fold.folds,
        **{n: record.settings[n] for n in ("validation", "encoding") if n in record.settings},
        # Named in full: today's defaults may be others than those in effect then.
        **({**LEGACY_TRAINING, **training} if training else {}),
        "options": {name: value for name, value in network.items() if name != "pool"},
    }
