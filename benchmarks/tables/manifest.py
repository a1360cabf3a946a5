"""Read the manifest: which rows, datasets and options belong to a table."""

import tomllib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lfds.config.comparison import CompareSpec, make_spec
from lfds.data.datasets.catalog import TU_DATASETS

MANIFEST = Path(__file__).with_name("manifest.toml")
DATA = Path("data")
_NO_OPTIONS = ("budget", "baseline", "measure", "pool")
"""What a row has beside options of ``lfds compare``."""


@dataclass(frozen=True)
class Row:
    """One row of a table.

    Attributes:
        name: What the row is called.
        pool: Its pooling.
        baseline: Name of the row that it is compared with; empty for none.
        measure: ``test``, or ``validation`` for the accuracy on validation graphs.
        options: Options of ``lfds compare``, by dataset.
        edge_data: Whether edges have labels or attributes, by dataset.
    """

    name: str
    pool: str
    baseline: str
    measure: str
    options: Mapping[str, Mapping[str, Any]] = field(repr=False)
    edge_data: Mapping[str, bool] = field(repr=False)

    def spec(self, dataset: str, root: Path = DATA) -> CompareSpec:
        """Return the comparison that trains this row on a dataset."""
        options = dict(self.options[dataset])
        folder = options.pop("data", None)
        options["data"] = [str(root / folder) if folder else dataset]
        options["splits"] = [str(root / splits) for splits in options.get("splits", ())]
        return make_spec({**options, "pools": [self.pool]})


@dataclass(frozen=True)
class Planned:
    """Comparisons that a table is about, corrected for their number.

    Attributes:
        row: Name of a row.
        baselines: Names of the rows that it is compared with.
        without: Datasets that are left out of the comparisons over datasets.
        each: Datasets to compare on one by one, over folds, instead of over datasets.
    """

    row: str
    baselines: Sequence[str]
    without: Sequence[str] = ()
    each: Sequence[str] = ()


@dataclass(frozen=True)
class Summary:
    """The part of a table that README shows.

    Attributes:
        rows: Names of rows.
        datasets: Names of datasets.
    """

    rows: Sequence[str] = ()
    datasets: Sequence[str] = ()


@dataclass(frozen=True)
class Table:
    """One table.

    Attributes:
        name: What the table is called.
        rows: Its rows.
        datasets: Its columns.
        planned: The comparisons that it is about.
        summary: The part of it that README shows.
    """

    name: str
    rows: tuple[Row, ...]
    datasets: tuple[str, ...]
    planned: tuple[Planned, ...] = ()
    summary: Summary = Summary()

    def specs(
        self, rows: Collection[str], datasets: Iterable[str], root: Path = DATA
    ) -> list[CompareSpec]:
        """Return the comparisons that train some rows; equal but for the pooling, they are one."""
        groups: dict[str, list[CompareSpec]] = {}
        for dataset in datasets:
            for row in (row for row in self.rows if row.name in rows):
                spec = row.spec(dataset, root)
                groups.setdefault(spec.model_dump_json(exclude={"pools"}), []).append(spec)
        return [
            some[0].model_copy(update={"pools": tuple(pool for one in some for pool in one.pools)})
            for some in groups.values()
        ]


def read_manifest(path: Path = MANIFEST) -> dict[str, Table]:
    """Return the tables by name."""
    content = tomllib.loads(path.read_text(encoding="utf-8"))
    tables = {}
    for name, common in content["tables"].items():
        rows = common.pop("rows").items()
        planned, summary = common.pop("planned", ()), common.pop("summary", {})
        made = tuple(_row(row, {**common, **own}, content["budgets"]) for row, own in rows)
        tables[name] = Table(
            name=name,
            rows=made,
            datasets=tuple(content["budgets"][common["budget"]]),
            planned=tuple(Planned(**some) for some in planned),
            summary=Summary(**summary),
        )
    return tables


def _row(name: str, given: Mapping[str, Any], budgets: Mapping[str, Any]) -> Row:
    shared = {key: value for key, value in given.items() if key not in _NO_OPTIONS}
    baseline = given.get("baseline", "")
    budget = {data: dict(own) for data, own in budgets[given["budget"]].items()}
    edge_data = {data: own.pop("edge_data", _has_edge_labels(data)) for data, own in budget.items()}
    return Row(
        name=name,
        pool=given.get("pool", name),
        baseline="" if baseline == name else baseline,
        measure=given.get("measure", "test"),
        options={data: {**own, **shared} for data, own in budget.items()},
        edge_data=edge_data,
    )


def _has_edge_labels(dataset: str) -> bool:
    return dataset in TU_DATASETS and TU_DATASETS[dataset].edge_labels
