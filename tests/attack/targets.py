"""The readers under attack, by name: each makes an input from random numbers, and reads it."""

from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random

Read = Callable[[], None]
Make = Callable[[Random | None, Path], Read]
"""Write an input to a folder, mutated by the random numbers, or as it should be without them;
return what reads it and checks the result."""

TARGETS: dict[str, Make] = {}
COSTLY = frozenset({"page"})
"""Targets that take a hundred times as long as others: they get a fifth of the inputs."""


def target(name: str) -> Callable[[Make], Make]:
    """Enter a reader under a name."""

    def enter(make: Make) -> Make:
        assert name not in TARGETS
        TARGETS[name] = make
        return make

    return enter


def all_targets() -> Mapping[str, Make]:
    """Return all readers."""
    from tests.attack import graph_files, objects, stored_files  # noqa: F401

    return dict(sorted(TARGETS.items()))
