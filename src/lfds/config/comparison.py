"""What a comparison consists of; unknown options are refused."""

import re
import tomllib
from collections.abc import Mapping
from itertools import product
from math import prod
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import (
    BeforeValidator,
    Field,
    NonNegativeInt,
    PositiveInt,
    ValidationError,
    model_validator,
)

from lfds.config.encoding import EncodingSettings
from lfds.config.messages import SpecError, choose_from, is_text, one_line, shortened
from lfds.config.migrations import (
    DEFAULTS_KEY,
    SCHEMA_VERSION,
    VERSION_KEY,
    check_version,
    earlier_defaults,
    migrate_spec,
    version_of,
)
from lfds.config.network import NetworkSettings
from lfds.config.presets import PRESETS
from lfds.config.registry import POOLINGS, REFERENCES, TGP_PREFIX
from lfds.config.strict_json import strict_json
from lfds.config.training import Protocol, TrainingSettings

Value = bool | int | float | str
Names = Annotated[tuple[str, ...], Field(min_length=1)]


def _one_or_many(value: object) -> object:
    return [value] if isinstance(value, str) else value


_MAX_SIZE, _MAX_PARTS, _MAX_COMBINATIONS = 10**6, 20, 10_000
# A key of many parts, wherever it is; parts are bare or quoted. Every part is looked at once.
_PART = r"""(?:(?<![\w-])[\w-]++|"(?:[^"\\\n]|\\.)*+"|'[^'\n]*+')[ \t]*+"""
_DEEP_KEY = re.compile(rf"(?:{_PART}\.[ \t]*+){{{_MAX_PARTS},}}")
_TRAINING = frozenset(TrainingSettings.model_fields)


class CompareSpec(TrainingSettings):
    """Which poolings are compared, on which data, under which protocol."""

    data: Names = ("pc-graphs",)
    """Datasets: names of the catalog, or paths of anything that ``lfds data info`` reads."""
    pools: Names = ("max", "loop")
    """Poolings to compare; ``tgp:NAME`` is one of torch-geometric-pool, and ``random-forest`` a
    reference without a network."""
    protocol: Protocol = "fair"
    """``fair`` selects epochs on validation graphs and tests once; ``paper`` tests every epoch."""
    folds: int = Field(default=10, ge=2, le=100_000)
    """Number of folds that the graphs are split into."""
    seeds: int = Field(default=1, ge=1, le=100_000)
    """Number of seeds; every fold is trained once per seed."""
    seed: NonNegativeInt = 0
    """The first seed; the others follow it."""
    validation: float = Field(default=0.1, gt=0.0, lt=1.0)
    """Share of the training folds that is used for validation under ``fair``."""
    graphs: PositiveInt | None = None
    """Use at most this many graphs of each dataset, of each class in proportion."""
    splits: Annotated[tuple[str, ...], BeforeValidator(_one_or_many)] = ()
    """Read the folds from files: folders of ``NAME_splits.json``, ``NAME=FILE`` or, for one
    dataset, ``FILE``. They determine the number of folds and the validation graphs. Or
    ``scaffold``: molecules with the same scaffold stay in one part; or ``random``, the default."""
    group_column: str | None = None
    """Column of a .csv file; graphs with the same cell there stay in one part of every fold."""
    target: str | None = None
    """Column of classes in .csv files; needed where a file has several that could be meant."""
    skip_bad: bool = False
    """Skip rows of .csv files with an invalid SMILES or without a target."""
    smiles_column: str | None = None
    """Column with SMILES in .csv files; ``smiles`` if it is not given."""
    task: Literal["auto", "classification"] = "auto"
    """What targets are; ``classification`` takes numbers for classes also where there are many."""
    largest_fragment: bool = False
    """Keep the largest part of salts and mixtures in .csv files only."""
    atom_features: Literal["full", "basic"] = "full"
    """Features of atoms and bonds in .csv files."""
    encoding: Literal["auto"] | EncodingSettings = "auto"
    """Which features the nodes get; ``auto`` is labels and attributes, and random-walk return
    probabilities where the graphs have neither."""
    network: Literal["default", "paper"] = "default"
    """The settings of the network to start from; ``paper`` is the network of the paper."""
    options: dict[str, Value] = Field(default={})
    """Settings of all networks, by name."""
    grid: dict[str, Annotated[tuple[Value, ...], Field(min_length=1)]] = Field(default={})
    """Values to select from on the validation graphs of each fold, by the names of settings of
    training or network; every combination is trained. Only under ``fair``."""

    @model_validator(mode="after")
    def _check_grid(self) -> Self:
        combinations = prod(map(len, self.grid.values()))
        if combinations > _MAX_COMBINATIONS:
            raise ValueError(
                f"grid: has {combinations:,} combinations, of which each fold trains all, and at "
                f"most {_MAX_COMBINATIONS:,} are allowed; give fewer values"
            )
        return self

    @model_validator(mode="after")
    def _check_protocol(self) -> Self:
        if self.grid and self.protocol != "fair":
            raise ValueError("grid: selects on validation graphs, and needs protocol='fair'")
        if "keep" in self.grid:
            raise ValueError(
                "grid: keep cannot be selected on validation graphs, on which the last epoch is "
                "never better than the best; set it outside of the grid"
            )
        if "device" in self.grid:
            raise ValueError("grid: device is where all candidates are trained; set it outside")
        if self.members > 1 and self.protocol != "fair":
            raise ValueError(
                f"members={self.members} needs protocol='fair'; under 'paper' every epoch of one "
                "network is tested"
            )
        if self.keep != "best" and self.protocol != "fair":
            raise ValueError(
                f"keep={self.keep!r} needs protocol='fair'; under 'paper' every epoch is tested"
            )
        return self

    @model_validator(mode="after")
    def _check_names(self) -> Self:
        for pool in self.networks:
            if not (pool.startswith(TGP_PREFIX) or set(pool.split("+")) <= set(POOLINGS)):
                way = choose_from(pool, (*POOLINGS, *REFERENCES))
                raise ValueError(f"pools: no pooling is called {pool!r}; {way}")
        for what, names in (("data", self.data), ("pools", self.pools)):
            twice = next((name for name in names if names.count(name) > 1), None)
            if twice is not None:
                raise ValueError(f"{what}: names {twice!r} twice; once is enough")
        for candidate in self.candidates() if self.grid else [self]:
            for pool in self.networks:
                candidate.network_for(pool)
        return self

    @model_validator(mode="after")
    def _check_text(self) -> Self:
        columns = (self.group_column or "", self.target or "", self.smiles_column or "")
        for text in (*self.data, *self.splits, *columns):
            if not is_text(text):
                raise ValueError(
                    f"{text!r} is not valid Unicode, as paths in another encoding are, and "
                    "cannot be stored; rename it"
                )
        return self

    @model_validator(mode="after")
    def _check_splits(self) -> Self:
        if self.splits and self.graphs is not None:
            raise ValueError(
                f"splits: needs all graphs of a dataset; leave out it or graphs={self.graphs}"
            )
        if self.splits and self.group_column is not None:
            raise ValueError(f"splits: excludes group_column={self.group_column}; leave one out")
        if len(self.splits) > 1 and set(self.splits) & {"scaffold", "random"}:
            raise ValueError("splits: 'scaffold' and 'random' stand alone, without other splits")
        return self

    def candidates(self) -> "list[CompareSpec]":
        """Return the spec of each combination of the grid's values; without a grid, this one."""
        common = self.model_dump(exclude={"grid"})
        found = []
        for values in product(*self.grid.values()):
            chosen = dict(zip(self.grid, values, strict=True))
            training = {name: chosen.pop(name) for name in self.grid if name in _TRAINING}
            options = {**self.options, **chosen}
            found.append(CompareSpec.model_validate({**common, **training, "options": options}))
        return found

    @property
    def networks(self) -> tuple[str, ...]:
        """The poolings of networks: all rows but references."""
        return tuple(pool for pool in self.pools if pool not in REFERENCES)

    def network_for(self, pool: str) -> NetworkSettings:
        """Return the settings of the network of a pooling."""
        base = NetworkSettings.paper if self.network == "paper" else _default_network
        for name in self.options:
            if name == "pool" or name not in NetworkSettings.model_fields:
                known = {key: None for key in NetworkSettings.model_fields if key != "pool"}
                way = choose_from(name, known)
                raise ValueError(f"options: no network has the option {name!r}; {way}")
        return NetworkSettings.model_validate({**base(pool).model_dump(), **self.options})

    @property
    def groups(self) -> str | None:
        """What molecules are grouped by: a column, ``"scaffold"``, or ``None``."""
        return "scaffold" if self.splits == ("scaffold",) else self.group_column

    def as_stored(self) -> dict[str, Any]:
        """The spec as ``spec.json`` holds it."""
        return {VERSION_KEY: SCHEMA_VERSION, **self.model_dump(mode="json")}

    @property
    def training(self) -> TrainingSettings:
        """How each model is trained."""
        return TrainingSettings(**self.model_dump(include=set(_TRAINING)))

    @property
    def all_seeds(self) -> tuple[int, ...]:
        """All seeds of the comparison."""
        return tuple(range(self.seed, self.seed + self.seeds))


def _default_network(pool: str) -> NetworkSettings:
    return NetworkSettings.model_validate({"pool": pool})


def make_spec(options: Mapping[str, Any]) -> CompareSpec:
    """Return the spec of some options, which may include ``preset``; errors are one line."""
    given = dict(options)
    preset = given.pop("preset", "default")
    if not isinstance(preset, str) or preset not in PRESETS:
        raise SpecError(
            f"preset: no preset is called {shortened(preset)}; "
            f"{choose_from(str(preset)[:99], PRESETS)}"
        )
    try:
        return CompareSpec.model_validate({**PRESETS[preset], **given})
    except ValidationError as error:
        raise SpecError(one_line(error, CompareSpec.model_fields)) from error


def defaults_version(path: Path) -> int:
    """Return whose defaults the run of a ``spec.json`` keeps; those of today if there is none."""
    try:
        if not path.is_file():  # missing, or a device, which may have no end
            return SCHEMA_VERSION
        stored = strict_json(path.read_text(encoding="utf-8"))
        version = stored.get(DEFAULTS_KEY, version_of(stored))
        check_version(version)
    except (OSError, ValueError, RecursionError, AttributeError):
        return SCHEMA_VERSION  # the file is written anew
    return int(version)


def with_earlier_defaults(options: Mapping[str, Any], version: int) -> dict[str, Any]:
    """Return the options of a comparison, completed by the defaults of a schema version."""
    found = dict(options)
    preset, chosen = found.get("preset", ""), found.get("options") or {}
    if not isinstance(preset, str) or not isinstance(chosen, Mapping):
        return found  # invalid, which `make_spec` says
    if {**PRESETS.get(preset, {}), **found}.get("network") != "paper":
        found["options"] = {**earlier_defaults(NetworkSettings, version), **chosen}
    return found


def _without_deep_keys(text: str) -> str:
    """Return a text, unless it has a key of so many parts that reading it would take hours."""
    deep = _DEEP_KEY.search(text)
    if deep is not None:
        line = text.count("\n", 0, deep.start()) + 1
        raise ValueError(f"line {line}: a key has more than {_MAX_PARTS} parts")
    return text


def read_options(path: Path) -> dict[str, Any]:
    """Read the options of a TOML file, or of a ``spec.json`` that an earlier run wrote."""
    kind, loads = ("JSON", strict_json) if path.suffix == ".json" else ("TOML", tomllib.loads)
    try:
        with path.open("rb") as file:  # not more of it: it may be a device, which has no end
            text = file.read(_MAX_SIZE + 1)
        if len(text) > _MAX_SIZE:
            raise SpecError(f"{path}: is larger than {_MAX_SIZE // 10**6} MB; give a TOML file")
        options = loads(_without_deep_keys(text.decode("utf-8")))
    except SpecError:
        raise
    except OSError as error:
        raise SpecError(f"{path}: cannot be read ({error.strerror})") from error
    except (ValueError, RecursionError) as error:
        raise SpecError(f"{path}: invalid {kind}: {error}") from error
    if not isinstance(options, dict):
        raise SpecError(f"{path}: must hold options by name, not a {type(options).__name__}")
    if kind == "TOML":
        return options
    try:
        return migrate_spec(options, NetworkSettings, TrainingSettings)
    except ValueError as error:
        raise SpecError(f"{path}: {error}") from error
