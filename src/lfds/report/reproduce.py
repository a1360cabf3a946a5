"""How a run is run again: the spec to save, and the command that reads it."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lfds.report.load import Source
from lfds.results.record import Record


@dataclass(frozen=True)
class Again:
    """How one source came about.

    Attributes:
        source: Its path.
        spec: The content of ``spec.json``, or None where no single one says it all.
        remark: What else must be known.
    """

    source: str
    spec: str | None
    remark: str

    @property
    def command(self) -> str:
        """What to type once the spec is saved."""
        return "lfds compare --spec spec.json --root data --out run"


def again(source: Source) -> Again:
    """Return the way to run a source again."""
    if source.wish is not None:
        told: Mapping[str, Any] | None = source.wish.told
        remark = "As the run itself wrote it down."
    else:
        told = _told_by(source.met)
        remark = (
            "Put together from the records, which do not say whether --graphs took a part of the "
            "datasets."
            if told is not None
            else "Its folds were run with several settings, and there is no spec.json beside it."
        )
    text = None if told is None else json.dumps(told, indent=2, ensure_ascii=False)
    return Again(str(source.path), text, remark)


def _told_by(records: Sequence[Record]) -> dict[str, Any] | None:
    """Return the one spec that all records agree with, if there is one."""
    specs = [_spec_of(record) for record in records]
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
    network = {n: v for n, v in candidates[0].get("network", {}).items() if n != "pool"}
    return {
        "protocol": record.fold.protocol,
        "folds": record.fold.folds,
        **{n: record.settings[n] for n in ("validation", "encoding") if n in record.settings},
        **candidates[0].get("training", {}),
        "options": network,
    }
