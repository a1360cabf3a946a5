import signal
from multiprocessing import get_context

import pytest

from lfds.interrupts import without_interrupts


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
