"""What matters: one factor at a time, judged on validation graphs alone.

Run: python -m benchmarks.factors DATA RUN [DATASET ...] [--factor FACTOR ...]
Goes on with the comparisons in the folder RUN, on the datasets of the folder DATA and the splits
beside them where there are any; keeps what is needed of the records in
results/factors/validation.jsonl, and writes the tables of docs/factors.md.
With --as-it-is nothing is run: what was kept is shown. Of the studies "before", "bare" and
"normed", of how the library came earlier, there is what was kept of them.
"""

import argparse
import json
from collections.abc import Iterator, Mapping
from itertools import product
from pathlib import Path
from statistics import mean
from typing import Any, NamedTuple

import numpy as np

from lfds.compare import CompareSpec, compare
from lfds.compare.progress import ProgressLines
from lfds.config.comparison import make_spec
from lfds.report.formatting import p_text, points
from lfds.results import compare as paired
from lfds.results.record import Record

ROOT = Path(__file__).parents[1]
KEPT = ROOT / "results" / "factors" / "validation.jsonl"
PAGE = ROOT / "docs" / "factors.md"
EPOCHS = {"ENZYMES": 40, "PROTEINS": 15, "Synthie": 30}
PUBLISHED = ("ENZYMES", "PROTEINS")
"""Sets with published splits; folds of the others are dealt."""
# The mean over the last epochs: a best epoch is chosen, and so looks better than it is.
LAST = 5


def embedded(kind: str, **settings: Any) -> dict[str, Any]:
    return {"encoding": {"structure": [{"kind": kind, **settings}]}}


def option(name: str, *values: Any) -> dict[str, dict[str, Any]]:
    return {str(value): {"options": {name: value}} for value in values}


def training(name: str, *values: Any) -> dict[str, dict[str, Any]]:
    return {str(value): {name: value} for value in values}


class Study(NamedTuple):
    """What is run beside what.

    Attributes:
        base: What all runs are told.
        factors: For each factor its values, as what a run is told beside the base.
    """

    base: dict[str, Any]
    factors: Mapping[str, Mapping[str, dict[str, Any]]]


def pooling(*names: str) -> dict[str, dict[str, Any]]:
    return {name: {"pools": [name]} for name in names}


# What every state of the library was asked about.
FACTORS: dict[str, Mapping[str, dict[str, Any]]] = {
    "encoding beside labels and attributes": {
        "rwse": embedded("rwse"),
        "distances": embedded("distances"),
        "laplacian": embedded("laplacian"),
        "netmf": embedded("netmf"),
        "deepwalk": embedded("deepwalk"),
    },
    "reduction": option("reduction", "sum", "mass"),
    "node dropout": option("node_dropout", 0.0, 0.4),
    "batch size": training("batch_size", 16, 64),
    "depth": option("depth", 1, 3),
    "slots": option("slots", 32, 64),
    "anchors": option("anchors", "generated", "mixture"),
    "slot dropout": option("slot_dropout", 0.4),
    "blend with the maximum": option("blend", True),
    "readout": option("readout", "max+mean"),
    "counts": option("counts", False),
    "head dropout": option("head_dropout", 0.25),
    "normed head": option("head_norm", False),
    "weight decay": training("weight_decay", 0.1),
    "learning rate": training("learning_rate", 0.01, 0.002),
    "decay": training("decay", "exponential", "cosine"),
    "weights": {"of single epochs": {"averaging": 0.0}},
    "pooling": pooling(
        *("max", "max+mean", "image", "array", "sequence", "learned-spatial"),
        *("learned-spectral", "loop+image"),
    ),
    "learned adjacency": {
        "as it is": {"pools": ["learned-spatial"], "options": {"normalized_adjacency": False}}
    },
    "epochs": {"twice as many": {"epochs": 2}},
    "many slots": option("slots", 128, 256),
}

BARE: dict[str, Any] = {"readout": "max", "node_norm": False, "pooled_layers": "last"}
"""Nodes of the last layer as they come, and of the slots their maxima."""

NORMED: dict[str, Any] = {"readout": "max+weighted", "node_norm": True, "pooled_layers": "last"}
"""Normed nodes of the last layer, and slots read by weights as well."""

STUDIES = {
    # How the library came before these tables were read.
    "before": Study(
        {
            "pools": ["loop"],
            "decay": "exponential",
            "averaging": 0.0,
            "options": {"slots": 64, "counts": False, **BARE},
        },
        {
            "decay": training("decay", "cosine", "linear"),
            "slots": option("slots", 16),
            "linear decay, and": {
                "16 slots": {"decay": "linear", "options": {"slots": 16}},
                "counts": {"decay": "linear", "options": {"counts": True}},
                "16 slots, counts": {"decay": "linear", "options": {"slots": 16, "counts": True}},
                "16 slots, no node dropout": {
                    "decay": "linear",
                    "options": {"slots": 16, "node_dropout": 0.0},
                },
                "max": {"decay": "linear", "pools": ["max"]},
            },
            "node dropout": option("node_dropout", 0.0),
            "pooling": pooling("max", "max+mean", "image", "array"),
        },
    ),
    # How it came of them.
    "bare": Study(
        {
            "pools": ["loop"],
            "decay": "linear",
            "averaging": 0.8,
            "options": {"slots": 16, "counts": True, **BARE},
        },
        FACTORS,
    ),
    # How it came when nodes were normed and slots read by weights.
    "normed": Study(
        {
            "pools": ["loop"],
            "decay": "linear",
            "averaging": 0.8,
            "options": {"slots": 16, "counts": True, **NORMED},
        },
        {
            "normed nodes": option("node_norm", False),
            "readout": option("readout", "max", "max+mean"),
        },
    ),
    # How it comes, since all layers of the base are mixed.
    "now": Study(
        {
            "pools": ["loop"],
            "decay": "linear",
            "averaging": 0.8,
            "options": {"slots": 16, "counts": True, **NORMED, "pooled_layers": "all"},
        },
        {
            "pooled layers": option("pooled_layers", "last"),
            "normed nodes": option("node_norm", False),
            **FACTORS,
            "readout": option("readout", "max", "max+mean"),
        },
    ),
}


class Run(NamedTuple):
    """A value of a factor, on a dataset."""

    dataset: str
    study: str
    factor: str
    value: str

    def spec(self, data: Path) -> CompareSpec:
        base, factors = STUDIES[self.study]
        told = dict(factors[self.factor][self.value]) if self.factor else {}
        epochs = round(EPOCHS[self.dataset] * told.pop("epochs", 1))
        splits = [str(data / "splits" / "fair")] if self.dataset in PUBLISHED else []
        given = {"data": [self.dataset], "epochs": epochs, "splits": splits}
        options = {**base["options"], **told.pop("options", {})}
        return make_spec({**base, **given, **told, "options": options})


def runs(dataset: str, study: str) -> Iterator[Run]:
    yield Run(dataset, study, "", "")
    for factor, values in STUDIES[study].factors.items():
        yield from (Run(dataset, study, factor, value) for value in values)


def seen(record: Record) -> tuple[float, float] | None:
    """Return the validation accuracy of the best epoch, and of the last ones."""
    if record.outcome is None:
        return None
    curve = record.outcome.curve.validation
    return max(curve), mean(curve[-LAST:])


def run_and_keep(run: Run, data: Path, folder: Path) -> None:
    result = compare(run.spec(data), folder, ProgressLines(), root=data)
    folds = [seen(record) for record in sorted(result.records, key=lambda r: r.fold.fold)]
    seconds = [r.outcome.seconds for r in result.records if r.outcome is not None]
    row = {**run._asdict(), "folds": folds, "seconds": float(np.median(seconds))}
    with KEPT.open("a") as file:
        file.write(json.dumps(row) + "\n")


def kept() -> dict[Run, dict[str, Any]]:
    lines = KEPT.read_text().splitlines() if KEPT.exists() else []
    rows = map(json.loads, lines)
    return {Run(*(row[part] for part in Run._fields)): row for row in rows}


def cells(row: Mapping[str, Any], base: Mapping[str, Any]) -> str:
    """Return best and last accuracies, and what is gained beside the base, with its p value."""
    mine, others = (np.array(r["folds"], dtype=float).T for r in (row, base))
    best, last = 100 * mine.mean(axis=1)
    gain = paired(mine[1][None], others[1][None], "fair")
    shown = "" if row is base else f"{points(gain.difference)} (p {p_text(gain.p)})"
    return f"{last:.1f} | {best:.1f} | {shown} | {row['seconds']:.0f}"


def table(dataset: str, study: str, rows: Mapping[Run, Mapping[str, Any]]) -> str:
    base = rows[Run(dataset, study, "", "")]
    lines = [
        "| factor | value | last epochs | best epoch | gain, last epochs | s |",
        "|---|---|--:|--:|--:|--:|",
        f"| as it {'comes' if study == 'now' else 'came'} | | {cells(base, base)} |",
    ]
    missing: dict[str, list[str]] = {}
    for run in runs(dataset, study):
        if run not in rows:
            missing.setdefault(run.factor, []).append(run.value)
        elif run.factor:
            lines.append(f"| {run.factor} | {run.value} | {cells(rows[run], base)} |")
    named = "; ".join(f"{factor} ({', '.join(values)})" for factor, values in missing.items())
    return "\n".join(lines) + (f"\n\nNot run: {named}." if named else "")


def write_page(rows: Mapping[Run, Mapping[str, Any]]) -> None:
    """Put the tables between the marks of the page."""
    text = PAGE.read_text()
    for dataset, study in product(EPOCHS, STUDIES):
        if Run(dataset, study, "", "") in rows:
            text = between_marks(text, f"{dataset}, {study}", table(dataset, study, rows))
    PAGE.write_text(text)


def between_marks(text: str, name: str, shown: str) -> str:
    """Replace what a page shows between the mark of a name and the next end."""
    if text.count(mark := f"<!-- {name} -->\n") != 1:
        raise ValueError(f"the page needs one line {mark.strip()!r} where the table is to stand")
    before, rest = text.split(mark)
    _, after = rest.split("<!-- end -->\n", 1)
    return f"{before}<!-- {name} -->\n{shown}\n<!-- end -->\n{after}"


def main() -> None:
    factors = STUDIES["now"].factors
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, help="folder of datasets, with splits/fair in it")
    parser.add_argument("run", type=Path, help="folder of records, gone on with")
    parser.add_argument("datasets", nargs="*", default=[*EPOCHS], help=", ".join(EPOCHS))
    parser.add_argument("--factor", nargs="+", default=[*factors], help="; ".join(factors))
    parser.add_argument("--as-it-is", action="store_true", help="run nothing")
    told = parser.parse_args()
    if unknown := set(told.datasets) - set(EPOCHS):
        parser.error(
            f"no epochs are set for {', '.join(sorted(unknown))}; known are {', '.join(EPOCHS)}"
        )
    if unknown := set(told.factor) - set(factors):
        parser.error(
            f"no such factor: {', '.join(sorted(unknown))}; there are {', '.join(factors)}"
        )
    KEPT.parent.mkdir(parents=True, exist_ok=True)
    for dataset in () if told.as_it_is else told.datasets:
        for run in runs(dataset, "now"):
            if run.factor in ("", *told.factor) and run not in kept():
                run_and_keep(run, told.data, told.run)
    write_page(kept())


if __name__ == "__main__":
    main()
