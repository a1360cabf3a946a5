"""Kills at random moments: broken commands are caught; the real ones are left to `make attack`."""

import subprocess
import sys

import pytest

from tests.attack.broken_commands import BROKEN
from tests.attack.campaign import ROOT


def kills(*arguments):
    command = [sys.executable, "-m", "tests.attack", "kills", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


# Whether 40 kills hit the one moment that matters is luck: not for `make test`.
@pytest.mark.slow
def test_broken_commands_are_caught():
    shown = kills("--count", "40", "--commands", "tests.attack.broken_commands")
    assert shown.returncode == 1, shown.stderr
    for name, promise in BROKEN.items():
        assert any(
            line.startswith(f"FAILED {name}/") and f": {promise} (" in line
            for line in shown.stdout.splitlines()
        ), f"{name} was not caught\n{shown.stdout}"
    assert "FAILED sound/" not in shown.stdout


@pytest.mark.slow
def test_some_kills_of_every_command_break_no_promise():
    shown = kills("--count", "12", "--seed", "0")
    assert shown.returncode == 0, shown.stdout + shown.stderr
