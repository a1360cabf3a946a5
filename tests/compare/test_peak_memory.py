import sys

import numpy as np
import pytest

from lfds.compare.fold import measure_peak_memory

MEGA = 2**20
needs_linux = pytest.mark.skipif(sys.platform != "linux", reason="reads counters of Linux")


def hold(megabytes):
    """Allocate memory and touch every page of it."""
    return np.ones(megabytes * MEGA, dtype=np.uint8)


@needs_linux
def test_memory_that_is_freed_again_counts():
    peak = measure_peak_memory()
    hold(64)
    assert 60 * MEGA < peak() < 100 * MEGA


@needs_linux
def test_memory_from_before_does_not_count():
    before = hold(64)
    hold(200)
    peak = measure_peak_memory()
    assert peak() < 20 * MEGA
    assert before.all()


@needs_linux
def test_memory_that_earlier_work_freed_counts_again():
    def measured():
        pieces = [hold(1)[: MEGA // 16].copy() for _ in range(512)]
        # What is freed between other pieces stays with the C library unless it is trimmed.
        stay = pieces[::16]
        del pieces
        peak = measure_peak_memory()
        pieces = [hold(1)[: MEGA // 16].copy() for _ in range(512 - len(stay))]
        return peak() if len(pieces) == 480 else 0

    # A system short of memory may swap out other pages meanwhile, but not every time.
    assert max(measured() for _ in range(3)) > 24 * MEGA


@pytest.mark.parametrize("file", ["clear_refs", "status"])
def test_without_counters_of_the_system_there_is_no_peak(file, tmp_path):
    process = tmp_path / "process"
    assert measure_peak_memory(process)() is None
    process.mkdir()
    (process / file).write_text("")
    (process / "status" if file == "clear_refs" else process / "clear_refs").mkdir()
    assert measure_peak_memory(process)() is None


def test_a_c_library_without_trim_works(monkeypatch):
    monkeypatch.setattr("ctypes.CDLL", lambda _: object())
    peak = measure_peak_memory()()
    assert peak is None or peak >= 0
