import signal
import subprocess
import sys
import time
from multiprocessing import active_children, get_context

import pytest

from lfds.interrupts import without_interrupts
from lfds.processes import exit_with_parent, process_pool


@pytest.fixture(autouse=True)
def as_in_the_foreground():
    """Shells let processes in the background ignore interrupts."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_an_interrupt_comes_after_the_block():
    inside = []

    def interrupted():
        with without_interrupts():
            signal.raise_signal(signal.SIGINT)
            inside.append(True)

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert inside


def test_processes_that_are_started_inside_are_not_interrupted():
    process = get_context("spawn").Process(target=signal.raise_signal, args=(signal.SIGINT,))
    with without_interrupts():
        process.start()
    process.join()
    assert process.exitcode == 0


def test_the_first_process_of_a_program_is_not_interrupted_either():
    # It starts another one before, after which Python unblocks interrupts.
    code = (
        "import signal\n"
        "from multiprocessing import get_context\n"
        "from lfds.interrupts import without_interrupts\n"
        "spawn = get_context('spawn')\n"
        "process = spawn.Process(target=signal.raise_signal, args=(signal.SIGINT,))\n"
        "with without_interrupts():\n"
        "    process.start()\n"
        "process.join()\n"
        "raise SystemExit(process.exitcode)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_pool_does_not_wait_for_its_processes_after_an_interrupt():
    pools = []

    def interrupted():
        with process_pool(2, exit_with_parent) as pool:
            pools.append(pool)
            for _ in range(2):
                pool.submit(time.sleep, 600)
            raise KeyboardInterrupt

    before = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert time.monotonic() - before < 300
    assert not active_children()
