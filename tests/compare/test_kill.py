"""Runs that are killed: the same command then ends in the same table, bit for bit."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest
from safetensors import safe_open

from lfds.data.datasets.pc_graphs.generate import PCGraphsSettings, pc_graphs
from lfds.results.store import TORN, read_records
from tests.compare.small import without_cost

pytestmark = pytest.mark.slow

RUN = "from lfds.cli import main; main()"
# Is killed after half of the second record.
TORN_RUN = (
    """
import os, signal
write, lines = os.write, []
def half(descriptor, content):
    lines.append(content)
    if len(lines) < 2:
        return write(descriptor, content)
    write(descriptor, content[: len(content) // 2])
    os.kill(os.getpid(), signal.SIGKILL)
os.write = half
"""
    + RUN
)
EPOCHS = 30


@pytest.fixture
def folder(tmp_path):
    settings = PCGraphsSettings(graphs_per_class=3, points=30)
    pc_graphs(settings).graphs.save(tmp_path / "clouds")
    return tmp_path


def start(folder, out, *more, code=RUN):
    arguments = ["compare", "--data", "clouds", "--pool", "max", "loop", "--folds", "2"]
    arguments += ["--epochs", str(EPOCHS), "--patience", "0", "--out", out, *more]
    return subprocess.Popen(
        [sys.executable, "-c", code, *arguments],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process):
    out, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    return out, err


def kill_when(process, happened):
    while not happened():
        assert process.poll() is None, process.communicate()
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert process.returncode == -signal.SIGKILL


def epochs_saved(run):
    """Return the epochs of each fold that is not complete."""
    saved = []
    for path in (run / "checkpoints").glob("*.safetensors"):
        with safe_open(path, framework="pt") as file:
            saved.append(len(json.loads(file.metadata()["progress"])["loss"]))
    return saved


def records_of(run):
    return sorted(
        (without_cost(record) for record in read_records(run).records), key=lambda r: r["key"]
    )


def assert_same_as_undisturbed(folder, out, *more):
    table, _ = finish(start(folder, "undisturbed", *more))
    assert out == table
    assert records_of(folder / "run") == records_of(folder / "undisturbed")


@pytest.mark.parametrize("workers", ["1", "2"])
def test_killed_in_the_middle_of_folds(folder, workers):
    run = folder / "run"
    kill_when(start(folder, "run", "--workers", workers), lambda: epochs_saved(run))
    (*_, epochs) = sorted(epochs_saved(run))
    assert 0 < epochs < EPOCHS
    assert len(read_records(run).records) == 0
    kill_when(
        start(folder, "run", "--workers", workers),
        lambda: read_records(run).records and epochs_saved(run),
    )
    done = read_records(run).records
    out, err = finish(start(folder, "run"))
    assert f"{len(done)} of 4 folds are already stored" in err
    assert read_records(run).records[: len(done)] == done
    assert_same_as_undisturbed(folder, out)


def test_killed_in_the_middle_of_the_second_candidate_of_a_grid(folder):
    (folder / "grid.toml").write_text("[grid]\nlearning_rate = [0.0001, 0.01]\n")
    run, grid = folder / "run", ("--spec", "grid.toml")

    def in_the_second():
        return len(epochs_saved(run)) == 2

    kill_when(start(folder, "run", *grid), in_the_second)
    done, epochs = sorted(epochs_saved(run), reverse=True)
    assert done == EPOCHS
    assert 0 < epochs < EPOCHS
    assert len(read_records(run).records) == 0
    out, _ = finish(start(folder, "run", *grid))
    assert_same_as_undisturbed(folder, out, *grid)
    chosen = {record["outcome"]["candidate"] for record in records_of(run)}
    assert chosen != {0}, "the candidates after the kill never mattered"


def test_killed_in_the_middle_of_writing(folder):
    process = start(folder, "run", code=TORN_RUN)
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    reading = read_records(folder / "run")
    assert len(reading.records) == 1
    assert reading.torn
    out, err = finish(start(folder, "run"))
    assert "the last record was incomplete" in err
    assert (folder / "run" / TORN).read_bytes() == reading.torn + b"\n"
    assert_same_as_undisturbed(folder, out)


def test_workers_end_with_the_process_that_started_them(folder):
    run = folder / "run"
    process = start(folder, "run", "--workers", "2")
    children = f"/proc/{process.pid}/task/{process.pid}/children"
    found = []

    def working():
        with open(children) as file:
            found[:] = file.read().split()
        return epochs_saved(run)

    kill_when(process, working)
    assert len(found) >= 2
    deadline = time.monotonic() + 60
    while any(os.path.exists(f"/proc/{pid}/fd/0") for pid in found):
        assert time.monotonic() < deadline, "a worker outlived its parent by a minute"
        time.sleep(0.05)
