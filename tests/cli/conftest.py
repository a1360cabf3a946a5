"""Runs the command ``lfds`` in a temporary folder."""

import sys

import pytest

from lfds.cli import main


@pytest.fixture
def lfds(monkeypatch, capsys, tmp_path):
    """Return a function that runs ``lfds ...``; it returns exit code, output and errors."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["lfds", *map(str, arguments)])
        with pytest.raises(SystemExit) as left:
            main()
        return left.value.code, *capsys.readouterr()

    return run
