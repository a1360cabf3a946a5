"""Broken readers, one for each failure that the attack must find, and a sound one."""

import os
import signal
import warnings
from collections.abc import Mapping
from pathlib import Path
from random import Random

import numpy as np

from lfds.data.errors import DataError
from tests.attack.outcome import FAILURES
from tests.attack.sanity import check_graphs
from tests.attack.targets import Make, Read
from tests.data.graphs import three_graphs


def sound(folder: Path) -> None:
    check_graphs(three_graphs())


def refuses(folder: Path) -> None:
    raise DataError("is not a graph; write it again", source=folder)


def key_error(folder: Path) -> None:
    {}["nodes"]


class RawError(DataError):
    """An error that shows its message as it is, neither shortened nor escaped."""

    def __init__(self, message: str) -> None:
        super().__init__("raw")
        self.message = message

    def __str__(self) -> str:
        return self.message


def escape_sequence(folder: Path) -> None:
    raise RawError("holds \x1b[2J")


def endless_message(folder: Path) -> None:
    raise RawError("x" * 5000)


def all_memory(folder: Path) -> None:
    np.ones(2**34, dtype=np.uint8)


def all_memory_but_quiet(folder: Path) -> None:
    try:
        np.ones(2**34, dtype=np.uint8)
    except MemoryError as error:
        raise DataError("cannot be read") from error


def endless(folder: Path) -> None:
    while True:
        try:
            sum(range(1000))
        except Exception:  # a reader that catches everything does not catch the timer
            continue


def waits(folder: Path) -> None:
    os.mkfifo(folder.parent / "pipe")
    (folder.parent / "pipe").read_bytes()


def overflow(folder: Path) -> None:
    warnings.warn("overflow in cast", RuntimeWarning, stacklevel=1)


def writes(folder: Path) -> None:
    (folder / "cache").write_bytes(b"")


def dies(folder: Path) -> None:
    os.kill(os.getpid(), signal.SIGSEGV)


def deaf(folder: Path) -> None:
    """Computes where no signal is handled."""
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGPROF])
    endless(folder)


def wrong_edges(folder: Path) -> None:
    graphs = three_graphs()
    graphs.edge_dst[0] = 7
    check_graphs(graphs)


BROKEN = {
    key_error: "traceback",
    wrong_edges: "insane",
    escape_sequence: "message",
    endless_message: "message",
    all_memory: "memory",
    all_memory_but_quiet: "memory",
    endless: "time",
    waits: "time",
    deaf: "time",
    overflow: "warning",
    writes: "leftover",
    dies: "crash",
}
assert set(BROKEN.values()) == set(FAILURES)


def broken_targets() -> Mapping[str, Make]:
    """Return all of them by name."""
    return {read.__name__: _target(read) for read in (sound, refuses, *BROKEN)}


def _target(read: "object") -> Make:
    def make(random: Random | None, folder: Path) -> Read:
        return lambda: read(folder)  # type: ignore[operator]

    return make
