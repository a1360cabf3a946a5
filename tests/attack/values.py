"""Mutations of plain values, as JSON and TOML hold them: what was written, but other content."""

import json
from random import Random
from typing import Any

SCALARS = (
    None, True, False, 0, 1, -1, 2, 7, 10**4, 2**31, 2**63, -(2**63) - 1, 10**30, 0.0, -0.0, 0.5,
    1e-320, 1e308, float("nan"), float("inf"), float("-inf"), "", " ", "x", "nan", "1", "loop",
    "max", "a" * 3000, "\0", "\n", "\x1b[2J", "\ud800", "\u202e", "=1+1", "<script>", "../..",
    "/etc/passwd", "{{7*7}}", "%s",
)  # fmt: skip
KEYS = ("", "x", "__class__", "extra", "nodes", "a" * 300, "\ud800", "1", "format", "classes")


def another_value(random: Random, depth: int = 0) -> Any:
    """Return any value: mostly a scalar, sometimes a list or a mapping."""
    kind = random.random()
    if kind < 0.75 or depth > 2:
        return random.choice(SCALARS)
    if kind < 0.78:
        nested: Any = []
        for _ in range(random.choice((5, 50, 300))):
            nested = [nested]
        return nested
    if kind < 0.9:
        return [another_value(random, depth + 1) for _ in range(random.choice((0, 1, 2, 40)))]
    return {random.choice(KEYS): another_value(random, depth + 1) for _ in range(2)}


def mutate_value(value: Any, random: Random) -> Any:
    """Return a copy of ``value`` in which one to three places are changed."""
    copy = json.loads(json.dumps(value))
    for _ in range(random.choice((1, 1, 1, 2, 3))):
        copy = _changed(copy, random)
    return copy


def _changed(value: Any, random: Random) -> Any:
    if not isinstance(value, dict | list) or not value or random.random() < 0.04:
        return _other(value, random)
    if isinstance(value, dict):
        return _changed_mapping(value, random)
    place = random.randrange(len(value))
    how = random.random()
    if how < 0.06:
        del value[place]
    elif how < 0.12:
        value.insert(place, value[place])
    elif how < 0.16:
        value.append(another_value(random))
    elif how < 0.2:
        random.shuffle(value)
    else:
        value[place] = _changed(value[place], random)
    return value


def _changed_mapping(value: dict[str, Any], random: Random) -> dict[str, Any]:
    key = random.choice(list(value))
    how = random.random()
    if how < 0.08:
        del value[key]
    elif how < 0.14:
        value[random.choice(KEYS)] = value.pop(key)
    elif how < 0.2:
        value[random.choice(KEYS)] = another_value(random)
    elif how < 0.24:
        value[key] = value[random.choice(list(value))]
    else:
        value[key] = _changed(value[key], random)
    return value


def _other(value: Any, random: Random) -> Any:
    """Return another value, often of the same type: it comes further than one of another."""
    if random.random() < 0.5:
        if type(value) in (int, float):
            return random.choice((value + 1, -value, value * 10**6, value / 3, value - 1))
        if isinstance(value, str):
            return random.choice((value + "x", value[:-1], value.upper(), value * 50))
    return another_value(random)
