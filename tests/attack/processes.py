"""Process groups that are killed for real: by the clock, or before a change of files."""

import os
import signal
import sys
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

CHANGES = frozenset(
    ("os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.truncate", "os.link", "os.symlink",
     "os.chmod", "shutil.rmtree", "shutil.move")
)  # fmt: skip
DEADLINE = 3600


@dataclass(frozen=True)
class Moment:
    """When a process group is killed.

    Attributes:
        seconds: After so many seconds, or
        change: before the change of files of this number, counted from 1.
    """

    seconds: float | None = None
    change: int | None = None

    def __str__(self) -> str:
        return f"change {self.change}" if self.change else f"{self.seconds:.3f} s"


@dataclass(frozen=True)
class Ended:
    """How a process group ended.

    Attributes:
        code: Exit code; minus the signal where it was killed.
        seconds: How long it ran.
        changes: How many changes of files it began.
        errors: What it wrote to stderr.
    """

    code: int
    seconds: float
    changes: int
    errors: str

    @property
    def killed(self) -> bool:
        return self.code == -signal.SIGKILL


def run_group(work: Callable[[], int], folder: Path, log: Path, kill: Moment | None) -> Ended:
    """Run ``work`` in a forked process that leads a group of its own; kill the group on time.

    Args:
        work: Returns an exit code. The modules it needs are imported already.
        folder: Its working directory; changes of files below it are counted.
        log: Folder for what it prints, outside of ``folder``.
        kill: When to kill; None to let it end.
    """
    start = time.monotonic()
    counter = log / "changes"
    counter.write_bytes(b"")
    child = os.fork()
    if child == 0:
        _lead(work, folder, log, counter, kill)
    code = _wait(child, start, None if kill is None else kill.seconds)
    seconds = time.monotonic() - start
    _await_group_end(child)
    errors = (log / "err").read_text(errors="replace")
    return Ended(code, seconds, len(counter.read_bytes()), errors)


def _lead(
    work: Callable[[], int], folder: Path, log: Path, counter: Path, kill: Moment | None
) -> None:
    code = 70
    try:
        os.setsid()
        os.chdir(folder)
        for name, number in (("out", 1), ("err", 2)):
            os.dup2(os.open(log / name, os.O_CREAT | os.O_WRONLY | os.O_TRUNC), number)
        _count_changes(folder, os.open(counter, os.O_WRONLY | os.O_APPEND), kill)
        code = work()
    except SystemExit as left:
        code = left.code if isinstance(left.code, int) else int(left.code is not None)
    except BaseException:
        traceback.print_exc()
    finally:
        with suppress(Exception):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)


def _count_changes(folder: Path, counter: int, kill: Moment | None) -> None:
    """Write a byte for each change of files, and kill the group before the one that is due."""
    home, due, count = str(folder), None if kill is None else kill.change, 0

    def hook(event: str, arguments: tuple[object, ...]) -> None:
        nonlocal count
        writing = event == "open" and isinstance(arguments[2], int) and arguments[2] & 3
        if not (writing or event in CHANGES):
            return
        path = os.path.abspath(os.fsdecode(arguments[0])) if _is_path(arguments[0]) else home
        if not path.startswith(home):
            return
        count += 1
        os.write(counter, b".")
        if count == due:
            os.killpg(0, signal.SIGKILL)

    sys.addaudithook(hook)


def _is_path(value: object) -> bool:
    return isinstance(value, str | bytes | os.PathLike)


def _wait(child: int, start: float, kill_after: float | None) -> int:
    while True:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        elapsed = time.monotonic() - start
        if (kill_after is not None and elapsed >= kill_after) or elapsed > DEADLINE:
            # Before it has a group of its own there is only the process.
            with suppress(ProcessLookupError):
                (os.killpg if os.getpgid(child) == child else os.kill)(child, signal.SIGKILL)
            return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        time.sleep(0.002)


def _await_group_end(group: int) -> None:
    """Wait until no process of the group is left; kill and complain if they do not end."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return
        time.sleep(0.01)
    os.killpg(group, signal.SIGKILL)
    raise AssertionError("a process outlived its group by a minute")
