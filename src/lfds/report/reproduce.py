"""How to reproduce a run: the spec, and the command that reads it."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from lfds.config.network import recorded_network
from lfds.report.run_spec import Source
from lfds.report.series import LEGACY_TRAINING
from lfds.results.record import Record

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
