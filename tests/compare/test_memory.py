import sys

import numpy as np
import pytest

from lfds.compare import memory
from lfds.compare.memory import begin_peak

MEGA = 2**20
needs_linux = pytest.mark.skipif(sys.platform != "linux", reason="reads what Linux keeps")


def hold(megabytes):
    """Take memory and touch every page of it."""
    return np.ones(megabytes * MEGA, dtype=np.uint8)


@needs_linux
def test_the_peak_counts_though_it_is_gone():
    peak = begin_peak()
    hold(64)
    assert 60 * MEGA < peak() < 100 * MEGA


@needs_linux
def test_what_was_there_before_does_not_count():
    before = hold(64)
    hold(200)
    peak = begin_peak()
    assert peak() < 20 * MEGA
    assert before.all()


@needs_linux
def test_memory_that_earlier_work_freed_counts_again():
    def again():
        pieces = [hold(1)[: MEGA // 16].copy() for _ in range(512)]
        # What is freed between others stays in the hands of the C library unless asked back.
        stay = pieces[::16]
        del pieces
        peak = begin_peak()
        pieces = [hold(1)[: MEGA // 16].copy() for _ in range(512 - len(stay))]
        return peak() if len(pieces) == 480 else 0

    # A system short of memory takes other pages of the process away meanwhile, but not every time.
    assert max(again() for _ in range(3)) > 24 * MEGA


@pytest.mark.parametrize("missing", ["_CLEAR", "_STATUS"])
def test_where_nobody_keeps_the_mark_there_is_no_number(missing, monkeypatch, tmp_path):
    monkeypatch.setattr(memory, missing, tmp_path / "no" / "such" / "place")
    assert begin_peak()() is None


def test_a_c_library_without_trim_is_no_obstacle(monkeypatch):
    monkeypatch.setattr(memory.ctypes, "CDLL", lambda _: object())
    peak = begin_peak()()
    assert peak is None or peak >= 0
