"""``lfds fit --workers``: interrupted, killed and resumed."""

import os
import subprocess
import sys
import time

import pytest

import lfds as library
from lfds.train import distributed
from lfds.train.ranks import OneRank
from tests.cli.sources import FAST, write_source


def here(after=None):
    """Train in this process instead of several; interrupt after so many epochs."""

    def train(fit, on_epoch):
        def step(progress):
            if progress.epochs == after:
                raise KeyboardInterrupt
            on_epoch(progress)

        object.__setattr__(fit, "interval", 0.0)
        distributed.run_rank(fit, lambda _: OneRank(), step)

    return train


def test_an_interrupted_fit_is_resumed_by_the_same_command(lfds, tmp_path, monkeypatch):
    data = write_source(tmp_path, "set")
    command = ("fit", data, *FAST, "--workers", "2", "-o", "model")
    monkeypatch.setattr(distributed, "train_in_processes", here(after=1))
    code, _, err = lfds(*command)
    assert (code, err) == (130, "lfds: stopped; the same command resumes the fit\n")
    assert {entry.name for entry in tmp_path.iterdir()} == {"set", "model.unfinished"}
    seen = []
    monkeypatch.setattr(distributed, "train_in_processes", here())
    monkeypatch.setattr("lfds.estimator.members.progress_bar", lambda *_, **__: Seen(seen))
    code, out, err = lfds(*command)
    assert (code, err) == (0, "")
    assert seen == [2]
    assert "saved as model" in out
    assert {entry.name for entry in tmp_path.iterdir()} == {"set", "model"}
    assert lfds("fit", data, *FAST, "-o", "plain")[0] == 0
    weights = "weights.safetensors"
    assert (tmp_path / "model" / weights).read_bytes() == (
        tmp_path / "plain" / weights
    ).read_bytes()


class Seen:
    """A progress bar that keeps the numbers of epochs."""

    def __init__(self, seen):
        self.seen = seen

    def __enter__(self):
        return self

    def after_epoch(self, history, member=0):
        self.seen.append(history.epochs)

    def end(self, member):
        pass

    def __exit__(self, *_):
        pass


def test_a_folder_for_checkpoints_is_kept_and_emptied(lfds, tmp_path, monkeypatch):
    data = write_source(tmp_path, "set")
    monkeypatch.setattr(distributed, "train_in_processes", here())
    command = ("fit", data, *FAST, "-o", "model", "--checkpoints", "shared")
    assert lfds(*command, "--workers", "2")[0] == 0
    assert lfds(*command)[0] == 0  # one worker has checkpoints as well, if there is a folder
    assert list((tmp_path / "shared").iterdir()) == []
    assert not (tmp_path / "model.unfinished").exists()


@pytest.mark.parametrize(
    ("workers", "message"),
    [
        ("0", "--workers: needs an integer of at least 1, not 0"),
        ("-1", "--workers: needs an integer of at least 1, not -1"),
        ("30", "--workers: each of 30 processes needs a graph of every batch, and the smallest "
               "batch of 22 training graphs has 22; use --workers 22, or larger batches"),
    ],
)  # fmt: skip
def test_a_number_of_workers_that_cannot_be_used(lfds, tmp_path, workers, message):
    data = write_source(tmp_path, "set")
    code, _, err = lfds("fit", data, "-o", "model", *FAST, "--workers", workers)
    assert (code, err) == (2, f"lfds: {message}\n")
    assert {entry.name for entry in tmp_path.iterdir()} == {"set"}


def test_checkpoints_in_a_folder_that_cannot_be_written_are_one_line(lfds, tmp_path):
    data = write_source(tmp_path, "set")
    (tmp_path / "file").touch()
    command = ("fit", data, "-o", "model", *FAST, "--workers", "2", "--checkpoints", "file")
    code, _, err = lfds(*command)
    assert code == 2
    assert "/file: is a file, where a folder is to be written" in err
    assert len(err.splitlines()) == 1


def test_a_cluster_that_does_not_answer_is_one_line_and_nothing_is_written(lfds, tmp_path):
    pytest.importorskip("ray")
    data = write_source(tmp_path, "set")
    for address in ("127.0.0.1:1", "nowhere"):
        code, _, err = lfds("fit", data, "-o", "model", *FAST, "--workers", "2", "--ray", address)
        assert code == 2
        assert err.startswith(f"lfds: --ray: no cluster answers at '{address}'; start one with")
        assert err.count("\n") == 1
    assert {entry.name for entry in tmp_path.iterdir()} == {"set"}


@pytest.mark.slow
def test_a_killed_command_is_resumed_to_the_same_bits_and_leaves_nothing(tmp_path):
    psutil = pytest.importorskip("psutil")
    data = write_source(tmp_path, "set")
    code = (
        "import sys; from lfds.train import distributed as d; "
        "d.CHECKPOINT_SECONDS = 0.0; "
        "from lfds.cli import main; sys.exit(main())"
    )
    small = ["--slots", "4", "--option", "width=8", "head_width=8", "--epochs", "40"]
    command = [sys.executable, "-c", code, "fit", data, *small, "--patience", "40"]
    # torch makes a folder for compiled code among temporary files; it is not ours.
    environment = {**os.environ, "TMPDIR": str(tmp_path / "tmp")}
    environment["TORCHINDUCTOR_CACHE_DIR"] = str(tmp_path / "compiled")
    (tmp_path / "tmp").mkdir()
    how = {"cwd": tmp_path, "env": environment, "stderr": subprocess.PIPE, "text": True}
    started = subprocess.Popen([*command, "--workers", "2", "-o", "model"], **how)
    wait_for_checkpoint(started, tmp_path / "model.unfinished")
    ranks = psutil.Process(started.pid).children(recursive=True)
    assert len(ranks) >= 2
    started.kill()
    started.communicate()
    for rank in ranks:
        rank.wait(timeout=60)
    assert not (tmp_path / "model").exists()
    again = subprocess.run([*command, "--workers", "2", "-o", "model"], timeout=600, **how)
    assert (again.returncode, again.stderr) == (0, "")
    plain = subprocess.run([*command, "--workers", "2", "-o", "plain"], timeout=600, **how)
    assert plain.returncode == 0
    for name in ("weights.safetensors", "encoder.json"):
        assert (tmp_path / "model" / name).read_bytes() == (tmp_path / "plain" / name).read_bytes()
    assert library.load(tmp_path / "model").history_.epochs == 40
    left = {entry.name for entry in tmp_path.iterdir()} - {"compiled"}
    assert left == {"set", "tmp", "model", "plain"}
    assert list((tmp_path / "tmp").iterdir()) == []


def wait_for_checkpoint(started, folder):
    """Wait until a checkpoint is written."""
    deadline = time.monotonic() + 300
    while not list(folder.glob("*/checkpoint.safetensors")):
        assert started.poll() is None, started.stderr.read()
        assert time.monotonic() < deadline
        time.sleep(0.05)
