import gzip

import pytest

from lfds.report.load import counting, read_sources
from lfds.results.errors import ResultsError
from tests.report.runs import record, records, wish, write


def test_a_folder_its_file_and_the_file_compressed_say_the_same(tmp_path):
    folder = write(tmp_path / "run", records(), wish())
    plain = folder / "records.jsonl"
    packed = tmp_path / "published.jsonl.gz"
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    first, second, third = (read_sources([path])[0] for path in (folder, plain, packed))
    assert first.records == second.records == third.records
    assert len(first.records) == 30
    assert first.wish == second.wish
    assert first.wish is not None
    # A file of another name may lie beside the spec of something else.
    assert third.wish is None


def test_a_fold_in_two_runs_counts_once_and_success_beats_failure(tmp_path):
    failed, good = record("max", "A", failed=True), record("max", "A")
    first = write(tmp_path / "one", [failed])
    second = write(tmp_path / "two", [good])
    for order in ([first, second], [second, first]):
        found = [r for source in read_sources(order) for r in source.records]
        assert found == [good]


def test_the_newest_failure_counts():
    old = record("max", "A", failed=True)
    new = old.model_copy(update={"failure": old.failure.model_copy(update={"reason": "new"})})
    assert counting([old, new]) == [new]


def test_a_torn_line_is_told_and_not_counted(tmp_path):
    folder = write(tmp_path / "run", records())
    path = folder / "records.jsonl"
    path.write_bytes(path.read_bytes()[:-9])
    (source,) = read_sources([folder])
    assert len(source.records) == 29
    assert source.torn > 0


TORN = gzip.compress(b"{}\n", mtime=0)[:-4]


@pytest.mark.parametrize("content", [b"no gzip", TORN, b""], ids=["other", "torn", "empty"])
def test_what_is_no_gzip_is_one_line(tmp_path, content):
    path = tmp_path / "x.jsonl.gz"
    path.write_bytes(content)
    if content:
        with pytest.raises(ResultsError, match="no sound gzip file"):
            read_sources([path])
    else:
        with pytest.raises(ResultsError, match="no fold has come to an end"):
            read_sources([path])


def test_nothing_to_report_on(tmp_path):
    with pytest.raises(ResultsError, match="cannot be read"):
        read_sources([tmp_path / "nowhere"])
    with pytest.raises(ResultsError, match="run lfds compare first"):
        read_sources([write(tmp_path / "empty", [])])
    with pytest.raises(ResultsError, match="needs a folder"):
        read_sources([])


def test_a_run_that_has_only_begun_is_something(tmp_path):
    assert read_sources([write(tmp_path / "begun", [], wish())])[0].records == ()
