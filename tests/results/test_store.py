import gzip
import json
import os
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lfds.config.migrations import SCHEMA_VERSION
from lfds.results.record import IncompleteRunError, ResultsError
from lfds.results.store import PACKED, RECORDS, TORN, RecordStore, one_per_fold, read_records
from tests.results.records import failed_record, fair_record


def fill(folder, *records):
    with RecordStore.open(folder) as store:
        for record in records:
            store.add(record)


def test_written_records_are_read(tmp_path):
    records = fair_record(0.1), fair_record(0.2, 1), failed_record(2, folds=3)
    fill(tmp_path / "new" / "run", *records)
    reading = read_records(tmp_path / "new" / "run")
    assert reading.records == records
    assert reading.torn == b""


def test_compressed_records_of_a_folder_are_read_if_there_are_no_others(tmp_path):
    first, second = fair_record(0.1), fair_record(0.2, 1)
    fill(tmp_path / "plain", first)
    (tmp_path / "packed").mkdir()
    packed = gzip.compress((tmp_path / "plain" / RECORDS).read_bytes())
    (tmp_path / "packed" / PACKED).write_bytes(packed)
    assert read_records(tmp_path / "packed").records == (first,)
    # A resumed run writes uncompressed records, which are newer.
    fill(tmp_path / "packed", second)
    assert read_records(tmp_path / "packed").records == (second,)


def test_records_are_appended(tmp_path):
    fill(tmp_path, fair_record(0.1))
    before = (tmp_path / RECORDS).read_bytes()
    fill(tmp_path, fair_record(0.2, 1))
    assert (tmp_path / RECORDS).read_bytes().startswith(before)


@pytest.mark.parametrize("kept", [1, 20, -2, -1])
def test_torn_last_line_is_reported_moved_and_ignored(tmp_path, kept):
    fill(tmp_path, fair_record(0.1), fair_record(0.2, 1))
    path = tmp_path / RECORDS
    first, second = path.read_bytes().splitlines(keepends=True)
    torn = second[:kept]
    path.write_bytes(first + torn)
    assert read_records(tmp_path).torn == torn
    assert path.read_bytes() == first + torn  # reading alone changes nothing
    with RecordStore.open(tmp_path) as store:
        assert store.torn == len(torn)
        assert store.find(fair_record(0.2, 1).key) is None
        store.add(fair_record(0.3, 1))
    assert path.read_bytes().startswith(first)
    assert [r.outcome.accuracy for r in read_records(tmp_path).records] == [0.1, 0.3]
    assert (tmp_path / TORN).read_bytes() == torn + b"\n"


@given(st.binary(min_size=1, max_size=40))
def test_bytes_after_the_last_line_are_torn(tmp_path_factory, junk):
    folder = tmp_path_factory.mktemp("run")
    fill(folder, fair_record(0.1))
    tail = b"{" + junk.replace(b"\n", b"")
    with (folder / RECORDS).open("ab") as file:
        file.write(tail)
    reading = read_records(folder)
    assert len(reading.records) == 1
    assert reading.torn == tail


def test_damage_in_the_middle_is_refused_with_its_line(tmp_path):
    fill(tmp_path, fair_record(0.1), fair_record(0.2, 1))
    path = tmp_path / RECORDS
    path.write_bytes(b"{broken\n" + path.read_bytes())
    with pytest.raises(ResultsError, match=r"records.jsonl, line 1: invalid record"):
        read_records(tmp_path)


@pytest.mark.parametrize(
    ("version", "message"),
    [
        ({"format": 99}, "format 99"),
        ({"schema_version": SCHEMA_VERSION + 1}, "update lfds"),
    ],
)
def test_other_versions_are_refused_and_not_changed(tmp_path, version, message):
    entry = {**json.loads(fair_record(0.1).model_dump_json()), **version, "more": 1}
    content = json.dumps(entry).encode() + b"\n"
    (tmp_path / RECORDS).write_bytes(content)
    with pytest.raises(
        ResultsError, match=f"line 1: invalid record .*{message}.* choose another folder"
    ):
        fill(tmp_path)
    assert (tmp_path / RECORDS).read_bytes() == content


def test_first_completed_record_is_used_before_failures(tmp_path):
    fill(tmp_path, failed_record(), fair_record(0.4), fair_record(0.6), failed_record())
    with RecordStore.open(tmp_path) as store:
        assert store.find(fair_record(0.4).key) == fair_record(0.4)
        assert store.find("unknown") is None


def test_latest_failure_is_used():
    failures = failed_record(reason="first"), failed_record(reason="second")
    assert list(one_per_fold(failures).values()) == [failures[1]]


def test_second_writer_is_refused(tmp_path):
    with RecordStore.open(tmp_path), pytest.raises(ResultsError, match="another process"):
        fill(tmp_path)
    fill(tmp_path)


def test_full_disk_leaves_the_file_valid(tmp_path, monkeypatch):
    write = os.write

    def half(descriptor, line):
        return write(descriptor, line[: len(line) // 2])

    fill(tmp_path, fair_record(0.1))
    with RecordStore.open(tmp_path) as store:
        monkeypatch.setattr(os, "write", half)
        with pytest.raises(
            ResultsError, match=r"No space left .* the same command again to resume"
        ):
            store.add(fair_record(0.2, 1))
        monkeypatch.undo()
        assert store.find(fair_record(0.2, 1).key) is None
    reading = read_records(tmp_path)
    assert (len(reading.records), reading.torn) == (1, b"")


def test_unreadable_and_unwritable_folders_are_refused(tmp_path):
    with pytest.raises(ResultsError, match="nowhere: no such file or folder"):
        read_records(tmp_path / "nowhere")
    (tmp_path / "empty").mkdir()
    with pytest.raises(ResultsError, match=r"empty: has no records\.jsonl; run lfds compare first"):
        read_records(tmp_path / "empty")
    (tmp_path / "file").write_text("")
    with pytest.raises(ResultsError, match="file: is a file, where a folder of results is to be"):
        fill(tmp_path / "file")


def test_results_need_no_torch():
    code = (
        "import sys, lfds.results as r\n"
        "[getattr(r, name) for name in r.__all__]\n"
        "print('torch' in sys.modules, dir(r) == sorted(r.__all__))"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout == "False True\n"


def test_error_is_one_line_with_its_place():
    assert str(ResultsError("is\nbroken", source="RUN", line=3)) == "RUN, line 3: is broken"
    assert str(IncompleteRunError("half")) == "half"


def test_a_decompression_bomb_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("lfds.results.store._HARMLESS_SIZE", 10_000)
    (tmp_path / "r.jsonl.gz").write_bytes(gzip.compress(b" " * 10_000_000))
    with pytest.raises(ResultsError, match="as a decompression bomb does; if you trust it"):
        read_records(tmp_path / "r.jsonl.gz")


def test_a_device_is_no_file_of_records():
    with pytest.raises(ResultsError, match="/dev/zero: is a device"):
        read_records("/dev/zero")


def test_a_pipe_or_device_in_a_run_is_refused(tmp_path):
    for name in (RECORDS, PACKED):
        run = tmp_path / name
        run.mkdir()
        os.mkfifo(run / name)
        with pytest.raises(ResultsError, match=f"{name}: is not a regular file"):
            read_records(run)
    run = tmp_path / "device"
    run.mkdir()
    (run / RECORDS).symlink_to("/dev/zero")
    with (
        pytest.raises(ResultsError, match=f"{RECORDS}: is not a regular file"),
        RecordStore.open(run),
    ):
        pass


@pytest.mark.parametrize("damage", [b'"key":"k","key":', b'"key":"\\ud800","x":'])
def test_ambiguous_and_unwritable_records_are_refused(tmp_path, damage):
    line = fair_record(0.5).model_dump_json().encode().replace(b'"key":', damage, 1)
    (tmp_path / "r.jsonl").write_bytes(line + b"\n" + line + b"\n")
    with pytest.raises(ResultsError, match=r"line 1: invalid record \((the key|it holds half)"):
        read_records(tmp_path / "r.jsonl")


def test_a_link_to_nothing_yet_is_followed(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "real")
    with RecordStore.open(tmp_path / "link"):
        pass
    assert (tmp_path / "real" / RECORDS).is_file()
