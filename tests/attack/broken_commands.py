"""Broken commands, one for each promise that a kill must not break, and a sound one."""

import os
import time
from collections.abc import Mapping
from pathlib import Path

from tests.attack.commands import Command
from tests.results.records import fair_record

_STEPS, _PAUSE = 10, 0.01
NEW = "new " * _STEPS


def base(folder: Path) -> int:
    for name in ("sound", "in_place", "leaves", "resumes"):
        (folder / name).write_text("old")
    (folder / "run").mkdir()
    return 0


def _write_slowly(path: Path) -> None:
    with path.open("w") as file:
        for _ in range(_STEPS):
            file.write("new ")
            file.flush()
            time.sleep(_PAUSE)


def sound() -> int:
    for left in Path().glob(".sound-*"):
        left.unlink()
    _write_slowly(Path(".sound-1"))
    os.replace(".sound-1", "sound")
    return 0


def in_place() -> int:
    """Lose the earlier file while the new one is written."""
    _write_slowly(Path("in_place"))
    return 0


def leaves() -> int:
    """Leave a temporary file behind."""
    temporary = Path(f".leaves-{os.getpid()}")
    _write_slowly(temporary)
    os.replace(temporary, "leaves")
    return 0


def resumes() -> int:
    """Continue with what was begun, and count it wrongly."""
    temporary = Path(".resumes")
    begun = temporary.exists()
    _write_slowly(temporary)
    temporary.write_text(f"{NEW}{'resumed' if begun else ''}")
    os.replace(temporary, "resumes")
    return 0


def doubles() -> int:
    """Append the record again when it was killed after the first time."""
    with Path("run/records.jsonl").open("a") as file:
        file.write(fair_record(0.5).model_dump_json() + "\n")
        file.flush()
        time.sleep(_STEPS * _PAUSE)
    return 0


def refuses() -> int:
    """Fail where an earlier run was killed."""
    Path("lock").mkdir()
    time.sleep(_STEPS * _PAUSE)
    Path("lock").rmdir()
    return 0


BROKEN = {
    "in_place": "lost",
    "leaves": "left behind",
    "resumes": "other bits",
    "doubles": "doubled",
    "refuses": "failed",
}


def commands() -> Mapping[str, Command]:
    outputs = {"doubles": "run", "refuses": "lock"}
    works = (sound, in_place, leaves, resumes, doubles, refuses)
    return {
        work.__name__: Command(work, outputs.get(work.__name__, work.__name__)) for work in works
    }
