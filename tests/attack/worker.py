"""One process that reads inputs under limits and writes one line about each."""

import contextlib
import hashlib
import json
import os
import sys
import traceback
import warnings
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from tests.attack.limits import limited
from tests.attack.outcome import Outcome, of_error
from tests.attack.targets import Make


def run_input(name: str, targets: Mapping[str, Make], folder: Path, **limits: float) -> Outcome:
    """Make the input called ``TARGET/SEED/NUMBER`` in an empty folder, and read it."""
    which, _, number = name.partition("/")
    # The first input of every seed is not mutated: it must be read.
    random = None if number.endswith("/0") else Random(name)
    read = targets[which](random, folder)
    before = snapshot(folder)
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            with limited(**limits):
                read()
            outcome = Outcome("result")
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                raise
            outcome = of_error(error, "".join(traceback.format_exception(error)[-12:]))
    numeric = [w for w in warned if issubclass(w.category, RuntimeWarning | ResourceWarning)]
    if not outcome.is_failure and numeric:
        outcome = Outcome("warning", str(numeric[0]))
    if not outcome.is_failure and snapshot(folder) != before:
        outcome = Outcome("leftover", f"{sorted(set(snapshot(folder)) ^ set(before))}")
    return outcome


def snapshot(folder: Path) -> dict[str, str]:
    """Return the content of all files of a folder, as hashes."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        if path.is_file()
        else "no file"
        for path in sorted(folder.rglob("*"))
    }


def main() -> None:
    """Read names of inputs from stdin, and write outcomes to stdout, line by line."""
    # What readers print themselves does not mix with our lines.
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    module, function = sys.argv[1].split(":")
    targets = getattr(import_module(module), function)()
    print("ready", file=out, flush=True)
    for line in sys.stdin:
        asked = json.loads(line)
        with TemporaryDirectory() as folder, contextlib.chdir(folder):
            place = Path(folder) / "input"
            place.mkdir()
            outcome = run_input(asked["name"], targets, place, **asked["limits"])
        print(json.dumps([outcome.kind, outcome.detail]), file=out, flush=True)


if __name__ == "__main__":
    main()
