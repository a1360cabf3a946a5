"""Any sequence of additions, kills, full disks and second writers: the store holds what it must."""

import os
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from lfds.results import store as implementation
from lfds.results.record import ResultsError
from lfds.results.store import RECORDS, TORN, RecordStore, read_records
from tests.results.records import failed_record, fair_record

_FOLDS = st.integers(0, 1)
RECORD = st.one_of(
    st.builds(fair_record, st.sampled_from((0.0, 0.25, 1.0)), _FOLDS),
    st.builds(failed_record, _FOLDS, st.sampled_from(("nan", "a\nb", "é\u2028"))),
)


class StoreMachine(RuleBasedStateMachine):
    """A folder of records beside lists of what was added, and of what was torn."""

    def __init__(self):
        super().__init__()
        self.temporary = TemporaryDirectory()
        self.folder = Path(self.temporary.name) / "run"
        self.folder.mkdir()
        (self.folder / RECORDS).touch()
        self.added, self.torn, self.moved = [], b"", b""

    def teardown(self):
        self.temporary.cleanup()

    @contextmanager
    def opened(self):
        with RecordStore.open(self.folder) as store:
            assert store.torn == len(self.torn)
            self.moved += self.torn + b"\n" if self.torn else b""
            self.torn = b""
            yield store
            for number in (0, 1):
                key = fair_record(0.0, number).key
                assert store.find(key) == self.expected(key)

    def expected(self, key):
        same = [one for one in self.added if one.key == key]
        complete = [one for one in same if one.outcome is not None]
        return complete[0] if complete else same[-1] if same else None

    @rule(records=st.lists(RECORD, max_size=3))
    def add(self, records):
        with self.opened() as store:
            for record in records:
                store.add(record)
                self.added.append(record)

    @precondition(lambda self: not self.torn)
    @rule(record=RECORD, share=st.floats(0, 1))
    def kill_while_writing(self, record, share):
        line = record.model_dump_json().encode()
        self.torn = line[: max(1, int(share * len(line)))]
        with (self.folder / RECORDS).open("ab") as file:
            file.write(self.torn)

    @rule(record=RECORD)
    def fill_the_disk(self, record):
        write = os.write
        with self.opened() as store:
            half = patch.object(os, "write", lambda fd, line: write(fd, line[: len(line) // 2]))
            with half, pytest.raises(ResultsError, match="No space left"):
                store.add(record)

    @rule()
    def open_twice(self):
        refused = pytest.raises(ResultsError, match="another process")
        with self.opened(), refused, RecordStore.open(self.folder):
            pass

    @invariant()
    def nothing_is_lost_or_doubled(self):
        reading = read_records(self.folder)
        assert list(reading.records) == self.added
        assert reading.torn == self.torn
        moved = self.folder / TORN
        assert (moved.read_bytes() if moved.exists() else b"") == self.moved


def check(examples=15, steps=10):
    how = settings(
        max_examples=examples,
        stateful_step_count=steps,
        phases=[Phase.generate],
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
    )
    # Whether the disk has it is not what is tested, and waiting for it takes most of the time.
    with patch.object(os, "fsync", lambda descriptor: None):
        run_state_machine_as_test(StoreMachine, settings=how)


def test_the_store_keeps_everything_whatever_happens():
    check()


def _without_repair(descriptor, path):
    return implementation._parsed(path.read_bytes(), path)


def _drops_the_last_line(descriptor, path):
    reading = repaired(descriptor, path)
    if len(reading.records) > 2:
        os.ftruncate(descriptor, path.read_bytes()[:-1].rfind(b"\n") + 1)
    return implementation._parsed(path.read_bytes(), path)


def _forgets_what_was_torn(descriptor, path):
    reading = implementation._parsed(path.read_bytes(), path)
    os.ftruncate(descriptor, reading.size)
    return reading


def _writes_twice(self, record):
    add(self, record)
    if record.failure is not None:
        add(self, record)


def _prefers_the_latest(kept, record):
    kept[record.key] = record


def _leaves_half_a_line(descriptor, length):
    return None


repaired, add = implementation._repaired, RecordStore.add
BROKEN = {
    "no repair": (implementation, "_repaired", _without_repair),
    "a line dropped": (implementation, "_repaired", _drops_the_last_line),
    "torn bytes deleted": (implementation, "_repaired", _forgets_what_was_torn),
    "a line doubled": (RecordStore, "add", _writes_twice),
    "the latest record used": (implementation, "_keep", _prefers_the_latest),
    "no lock": (implementation, "_lock", lambda descriptor, folder: None),
    "half a line left": (os, "ftruncate", _leaves_half_a_line),
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_stores_are_caught(name):
    owner, attribute, broken = BROKEN[name]
    caught = (AssertionError, ResultsError, pytest.fail.Exception)
    with patch.object(owner, attribute, broken), pytest.raises(caught):
        check(examples=40)
