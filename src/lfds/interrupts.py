"""Ctrl-C while processes are started."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import resource_tracker


@contextmanager
def without_interrupts() -> Iterator[None]:
    """Start processes inside the block that a Ctrl-C does not reach; here it comes afterwards.

    A Ctrl-C reaches every process of a terminal. Their parent decides what to do: a process that
    is still importing modules would end with a traceback. The mask of signals is inherited.
    """
    # It is started with the first process, and leaves interrupts unblocked.
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
