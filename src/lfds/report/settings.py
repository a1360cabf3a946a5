"""The settings of a record as flat names and values, and which of them tell two records apart."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from lfds.config.network import recorded_network
from lfds.results.record import Record

Settings = Mapping[str, str]
"""Values as people read them, by name; equal where the settings are equal."""

# They name the row, the column and the graphs, not how something was done.
_ELSEWHERE = ("content", "pool")
# A network may have a setting called like one of the run, which is another thing: gmt has seeds.
_OF_THE_RUN = ("folds", "protocol", "seeds", "splits", "validation", "encoding")


def settings_of(record: Record) -> Settings:
    """Return everything that was chosen for a fold, the pooling and the graphs apart.

    >>> from lfds.results.record import Fold
    >>> fold = Fold(dataset="A", pool="max", protocol="fair", folds=10, fold=0, seed=0)
    >>> told = {"content": "c0ffee", "candidates": [{"training": {"epochs": 5}}]}
    >>> settings_of(Record(key="k", fold=fold, settings=told, failure={"reason": "-"}))
    {'folds': '10', 'epochs': '5', 'keep': 'best'}
    """
    flat = {"folds": str(record.fold.folds)}
    told = dict(record.settings)
    candidates = [_spelt_out(record, candidate) for candidate in told.pop("candidates", [])]
    for name, value in told.items():
        _put(flat, name, [value])
    for part in ("training", "network"):
        names = {name: None for candidate in candidates for name in candidate.get(part, {})}
        for name in names:
            apart = f"{part} {name}" if name in _OF_THE_RUN else name
            _put(flat, apart, [candidate.get(part, {}).get(name) for candidate in candidates])
    return flat


def _spelt_out(record: Record, candidate: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what a candidate was, with what goes without saying: fair keeps the best epoch."""
    told = dict(candidate)
    if "network" in told:
        told["network"] = recorded_network(told["network"])
    if record.fold.protocol == "fair" and "training" in told:
        told["training"] = {**told["training"], "keep": told["training"].get("keep", "best")}
    return told


def differing(variants: Iterable[Settings]) -> list[str]:
    """Return the names whose values are not the same in all variants, in the order met."""
    variants = list(variants)
    names = {name: None for settings in variants for name in settings}
    return [name for name in names if len({settings.get(name) for settings in variants}) > 1]


def _put(flat: dict[str, str], name: str, values: list[Any]) -> None:
    """Add a setting; where candidates differ in it, all the values there were."""
    if name in _ELSEWHERE:
        return
    texts = list(dict.fromkeys(_text(value) for value in values))
    flat[name] = " or ".join(texts)


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, float):
        return f"{value:g}"
    return json.dumps(value, separators=(", ", ": "))
