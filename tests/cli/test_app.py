import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from lfds import __version__
from lfds.cli import main


@pytest.fixture
def lfds(monkeypatch, capsys):
    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["lfds", *map(str, arguments)])
        with pytest.raises(SystemExit) as exited:
            main()
        return exited.value.code, *capsys.readouterr()

    return run


def test_help_and_version_do_not_import_torch():
    code = (
        "import sys\nfrom lfds.cli import main\n"
        "try: main()\nexcept SystemExit: pass\n"
        "print([m for m in ('torch', 'numpy', 'scipy') if m in sys.modules])"
    )
    for arguments in (
        ["--help"],
        ["--version"],
        ["data", "--help"],
        ["data", "list"],
        ["report", "--help"],
    ):
        shown = subprocess.run(
            [sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True
        )
        assert shown.stdout.endswith("[]\n"), arguments


@pytest.mark.parametrize(
    "make",
    [
        lambda p: p / "nowhere",
        lambda p: p / ("x" * 5000),
        lambda p: p,
        lambda p: (p / "junk.zip", (p / "junk.zip").write_bytes(os.urandom(99)))[0],
        lambda p: (p / "bad.jsonl", (p / "bad.jsonl").write_text("{"))[0],
    ],
)
def test_invalid_input_is_one_line_and_exit_code_2(lfds, make, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, out, err = lfds("data", "info", make(tmp_path))
    assert code == 2
    assert out == ""
    assert len(err.splitlines()) == 1
    assert err.startswith("lfds: ")


def test_an_unknown_command_exits_with_2(lfds):
    assert lfds("dat")[0] == 2


def test_version(lfds):
    assert lfds("--version") == (0, f"lfds {__version__}\n", "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no full device")
def test_standard_output_on_a_full_device_is_one_line():
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-c", "from lfds.cli import main; main()", "--version"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 2
    assert done.stderr == ("lfds: standard output: cannot be written (No space left on device)\n")


def test_an_interrupt_of_a_command_is_one_line(lfds, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("lfds.cli.data.find_files", interrupted)
    assert lfds("data", "list") == (130, "", "lfds: stopped\n")


def test_an_interrupt_while_modules_are_imported_is_one_line(lfds, monkeypatch):
    class Interrupted(ModuleType):
        def __getattr__(self, name):
            raise KeyboardInterrupt

    monkeypatch.setitem(sys.modules, "lfds.cli.app", Interrupted("lfds.cli.app"))
    assert lfds("--version") == (130, "", "lfds: stopped\n")


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("fit a.csv -o m --members five", "--members: needs a valid integer, not 'five'"),
        ("fit a.csv -o m --members=five", "--members: needs a valid integer, not 'five'"),
        ("compare --out r --folds 2.5", "--folds: needs a valid integer, not '2.5'"),
        ("compare --data x", "--out is missing; see lfds compare --help"),
        ("fit", "data is missing; see lfds fit --help"),
        ("fit a.csv -o m --epoch 3", "--epoch: no such option"),
        ("fit a.csv -o", "-o: requires an argument"),
        ("dat", "dat: no such command; did you mean 'data'?; see lfds --help"),
        ("data list x y", "x y: too many arguments; see lfds data list --help"),
    ],
)  # fmt: skip
def test_wrong_use_is_one_line_that_names_the_flag(lfds, command, message):
    code, out, err = lfds(*command.split())
    assert (code, out) == (2, "")
    assert err.startswith(f"lfds: {message}")
    assert len(err.splitlines()) == 1


def test_the_bare_command_shows_its_help(lfds):
    code, out, err = lfds()
    assert (code, "Usage: lfds" in out + err, "lfds: ;" in err) == (2, True, False)
