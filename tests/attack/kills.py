"""Kills at random moments: nothing lost, nothing doubled, nothing left behind, the same bits."""

import shutil
import sys
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from lfds.results.store import RECORDS, read_records
from tests.attack.commands import Command, contents
from tests.attack.processes import Ended, Moment, run_group

MAX_KILLS = 3  # of one run, before it may end
PROMISES = {
    "lost": "what was there before is gone",
    "doubled": "a fold is stored twice",
    "left behind": "files remain that an undisturbed run does not leave",
    "other bits": "the result differs from an undisturbed run",
    "failed": "the same command does not end well",
}


@dataclass
class Kills:
    """What became of all kills.

    Attributes:
        killed: How many by command and kind of moment.
        missed: Runs that ended before they were killed.
        broken: Promises that were broken, with the name of the trial and what was found.
    """

    killed: Counter[tuple[str, str]] = field(default_factory=Counter)
    missed: int = 0
    broken: list[tuple[str, str, str]] = field(default_factory=list)

    def table(self) -> str:
        names = sorted({name for name, _ in self.killed})
        rows = [
            f"{name:20}{self.killed[name, 'clock']:8}{self.killed[name, 'change']:8}"
            for name in names
        ]
        head = f"{'killed':20}{'by clock':>8}{'by file':>8}"
        total = f"{sum(self.killed.values())} kills, {self.missed} runs ended before"
        return "\n".join([head, *rows, total])

    def report(self) -> str:
        return "\n".join(
            f"FAILED {trial}: {promise} ({PROMISES[promise]})\n    {detail}\n"
            f"    again: python -m tests.attack kills --trial {trial}"
            for trial, promise, detail in self.broken
        )


class Site:
    """A folder to start from, and for each command what an undisturbed run makes of it."""

    def __init__(self, module: str, folder: Path) -> None:
        found = import_module(module)
        self.commands: Mapping[str, Command] = found.commands()
        self.folder, self.log = folder, folder / "log"
        self.log.mkdir()
        self.base = folder / "base"
        self.base.mkdir()
        made = self._run(lambda: found.base(self.base), self.base)
        if made.code:
            raise RuntimeError(f"the base could not be made: {made.errors[-2000:]}")
        self.undisturbed = {name: self._undisturbed(name) for name in self.commands}

    def _run(self, work: Callable[[], int], place: Path, kill: Moment | None = None) -> Ended:
        return run_group(work, place, self.log, kill)

    def _undisturbed(self, name: str) -> tuple[Ended, dict[str, str]]:
        """Run a command twice, which must agree: otherwise no comparison means anything."""
        ends = []
        for _ in range(2):
            place = self._copy()
            ended = self._run(self.commands[name].work, place)
            if ended.code:
                raise RuntimeError(f"{name} fails undisturbed: {ended.errors[-2000:]}")
            ends.append((ended, contents(place)))
            shutil.rmtree(place)
        (_, first), (_, second) = ends
        if first != second:
            raise RuntimeError(f"{name} is not reproducible: {difference(first, second)}")
        return ends[1]

    def _copy(self) -> Path:
        # Always the same path: it may be part of what is written.
        place = self.folder / "site"
        shutil.copytree(self.base, place)
        return place

    def trial(self, trial: str, found: Kills) -> int:
        """Kill a run one to three times, let it end, and check; return the number of kills."""
        name, _, _ = trial.partition("/")
        command, random = self.commands[name], Random(trial)
        place, count = self._copy(), 0
        usual, wanted = self.undisturbed[name]
        earlier = contents(self.base)
        for _ in range(random.randint(1, MAX_KILLS)):
            moment = _moment(random, usual)
            ended = self._run(command.work, place, moment)
            if not ended.killed:
                found.missed += 1
                break
            count += 1
            found.killed[name, "change" if moment.change else "clock"] += 1
            for promise, detail in after_kill(command, place, earlier, wanted):
                found.broken.append((trial, promise, f"killed at {moment}: {detail}"))
        ended = self._run(command.work, place)
        if ended.code:
            found.broken.append((trial, "failed", ended.errors.strip()[-600:]))
        for promise, detail in after_end(place, wanted):
            found.broken.append((trial, promise, detail))
        shutil.rmtree(place)
        return count


def _moment(random: Random, usual: Ended) -> Moment:
    if random.random() < 0.5 and usual.changes:
        return Moment(change=random.randint(1, usual.changes))
    return Moment(seconds=random.uniform(0, usual.seconds))


def after_kill(
    command: Command, place: Path, earlier: Mapping[str, str], wanted: Mapping[str, str]
) -> list[tuple[str, str]]:
    """Return the promises that are broken right after a kill."""
    now = contents(place)
    broken = []
    # What is replaced may be aside for a moment, but some path must have every byte of it.
    kept = set(now.values())
    for path, content in earlier.items():
        mine = path == command.output or path.startswith(f"{command.output}/")
        if now.get(path) == content or (mine and now.get(path) == wanted.get(path)):
            continue
        if not mine or content not in kept:
            broken.append(("lost", f"{path} is {'changed' if path in now else 'gone'}"))
    for path, content in now.items():
        is_new = path in wanted and path not in earlier and not path.endswith(RECORDS)
        if is_new and content != wanted[path]:
            broken.append(("lost", f"{path} is half-written"))
    return broken + _doubled(place)


def after_end(place: Path, wanted: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return the promises that are broken after the same command ran to its end."""
    now = contents(place)
    broken = _doubled(place)
    left = sorted(now.keys() - wanted.keys())
    if left:
        broken.append(("left behind", ", ".join(left[:5])))
    other = {path: now.get(path) for path in wanted if now.get(path) != wanted[path]}
    if other:
        broken.append(("other bits", difference(wanted, {**wanted, **other})))
    return broken


def _doubled(place: Path) -> list[tuple[str, str]]:
    broken = []
    for file in place.rglob(RECORDS):
        keys = Counter(record.key for record in read_records(file).records)
        broken += [("doubled", f"{key} in {file}") for key, n in keys.items() if n > 1]
    return broken


def difference(one: Mapping[str, object], two: Mapping[str, object]) -> str:
    """Return the paths at which two folders differ."""
    return ", ".join(sorted(k for k in one.keys() | two.keys() if one.get(k) != two.get(k))[:5])


def run_kills(count: int, seed: int, module: str, only: str | None = None) -> Kills:
    """Kill until there were ``count`` kills; the commands in turn.

    Args:
        count: Number of kills.
        seed: Of the random moments.
        module: Has ``commands()`` and ``base(folder)``.
        only: A single trial, as ``COMMAND/SEED/NUMBER``.
    """
    found = Kills()
    with TemporaryDirectory(prefix="kills-") as folder:
        site = Site(module, Path(folder))
        names = sorted(site.commands)
        done = trials = 0
        while done < count and trials < 10 * count:
            name = only or f"{names[trials % len(names)]}/{seed}/{trials // len(names)}"
            before = len(found.broken)
            done += site.trial(name, found)
            trials += 1
            for _, promise, detail in found.broken[before:]:
                print(f"{name}: {promise}: {detail}", file=sys.stderr)
            print(f"{name}: {done} kills, {len(found.broken)} failures", file=sys.stderr)
            if only:
                break
    return found
