"""Many inputs for all readers: a worker reads them, and is started again if it dies."""

import json
import os
import select
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count, islice
from pathlib import Path

from tests.attack.limits import CPU_SECONDS
from tests.attack.outcome import FAILURES, Outcome
from tests.attack.targets import COSTLY

ALL = "tests.attack.targets:all_targets"
ROOT = Path(__file__).parents[2]
_TICK, _IDLE_TICKS = 0.05, 100


@dataclass
class Campaign:
    """What became of all inputs.

    Attributes:
        outcomes: By target and kind.
        failures: By the name of the input.
    """

    outcomes: Counter[tuple[str, str]] = field(default_factory=Counter)
    failures: dict[str, Outcome] = field(default_factory=dict)

    def add(self, name: str, outcome: Outcome) -> None:
        self.outcomes[name.partition("/")[0], outcome.kind] += 1
        if outcome.is_failure:
            self.failures[name] = outcome

    def count(self, kind: str, target: str | None = None) -> int:
        """Return how many inputs ended in this way."""
        found = self.outcomes.items()
        return sum(n for (t, k), n in found if k == kind and target in (None, t))

    @property
    def inputs(self) -> int:
        return sum(self.outcomes.values())

    def table(self) -> str:
        """Return the counts of all targets as text."""
        kinds = ["result", "refused", *(kind for kind in FAILURES if self.count(kind))]
        rows = [["", *kinds]]
        for name in sorted({target for target, _ in self.outcomes}):
            rows.append([name, *(str(self.count(kind, name)) for kind in kinds)])
        rows.append(["all", *(str(self.count(kind)) for kind in kinds)])
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        return "\n".join(
            "  ".join(
                cell.ljust(width) if place == 0 else cell.rjust(width)
                for place, (cell, width) in enumerate(zip(row, widths, strict=True))
            )
            for row in rows
        )

    def report(self) -> str:
        """Return each failure with its name, its last lines and the command that repeats it."""
        return "\n".join(
            f"FAILED {name}: {outcome.kind} ({FAILURES[outcome.kind]})\n"
            f"{_indented(outcome.detail)}\n"
            f"    again: python -m tests.attack replay {name}"
            for name, outcome in sorted(self.failures.items())
        )


def _indented(text: str) -> str:
    return "\n".join(f"    {line}" for line in text.strip().splitlines()[-8:])


def names_of(targets: Sequence[str], inputs: int, seed: int) -> list[str]:
    """Return the names of inputs, the targets in turn."""
    turns = (
        f"{target}/{seed}/{turn}"
        for turn in count()
        for target in targets
        if turn % 5 == 0 or target not in COSTLY
    )
    return list(islice(turns, inputs))


def run(
    names: Sequence[str],
    targets: str = ALL,
    observe: Callable[[Campaign], None] = lambda campaign: None,
    **limits: float,
) -> Campaign:
    """Read all inputs and return what became of them.

    Args:
        names: ``TARGET/SEED/NUMBER`` each.
        targets: Function that returns the readers, as ``module:name``.
        observe: Called after every input.
        limits: Other limits than those of :mod:`tests.attack.limits`.
    """
    campaign = Campaign()
    worker = None
    try:
        for name in names:
            worker = worker or _Worker(targets)
            outcome = worker.ask(name, limits)
            campaign.add(name, outcome)
            observe(campaign)
            if worker.ended:
                worker = None
    finally:
        if worker is not None:
            worker.end()
    return campaign


class _Worker:
    def __init__(self, targets: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.attack.worker", targets],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "PYTHONFAULTHANDLER": "1"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        if self.process.stdout is None or self.process.stdout.readline() != "ready\n":
            raise RuntimeError(f"the worker did not start: {self.end()}")

    @property
    def ended(self) -> bool:
        return self.process.returncode is not None

    def ask(self, name: str, limits: dict[str, float]) -> Outcome:
        """Return what became of an input; a worker that does not answer is ended."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps({"name": name, "limits": limits}) + "\n")
        self.process.stdin.flush()
        most = self._cpu_seconds()[1] + 3 * limits.get("cpu_seconds", CPU_SECONDS)
        idle, before = 0, 0.0
        while not select.select([self.process.stdout], [], [], _TICK)[0]:
            waiting, spent = self._cpu_seconds()
            idle, before = (idle + 1 if waiting and spent == before else 0), spent
            if idle == _IDLE_TICKS or spent > most:
                self.end()
                return Outcome("time", "waits for something" if idle else "does not stop")
        line = self.process.stdout.readline()
        return Outcome(*json.loads(line)) if line else Outcome("crash", self.end())

    def _cpu_seconds(self) -> tuple[bool, float]:
        """Return whether the worker sleeps, and the time it has computed so far.

        A process that only waits for its turn on a busy machine does not sleep.
        """
        try:
            fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            return False, 0.0
        ticks = int(fields[11]) + int(fields[12])
        return fields[0] == "S", ticks / os.sysconf("SC_CLK_TCK")

    def end(self) -> str:
        """End the worker and return how it ended."""
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(0.5)  # it may be about to end by itself
        self.process.kill()
        self.process.communicate()
        return f"exit code {self.process.returncode}"
