import gzip
import json
import os

import pytest

from lfds.config.migrations import SCHEMA_VERSION
from lfds.report.run_spec import RequestedRun, read_requested_run, read_sources
from lfds.results.record import ResultsError
from tests.report.runs import make_settings, make_spec, record, records, write


def test_spec_is_read(tmp_path):
    (tmp_path / "spec.json").write_text(
        '{"data": ["d/ENZYMES", "mine.jsonl"], "pools": ["max"], "protocol": "fair", "folds": 3, '
        '"seeds": 2, "seed": 4, "decay": "linear"}'
    )
    requested = read_requested_run(tmp_path)
    assert requested.datasets == ("ENZYMES", "mine")
    assert requested.all_seeds == {4, 5}
    assert requested.stored["decay"] == "linear"


def test_folder_without_spec_has_no_requested_run(tmp_path):
    assert read_requested_run(tmp_path) is None


@pytest.mark.parametrize("content", ["", "[]", '{"data": ["A"]}', '{"folds": 0}', "\x00"])
def test_invalid_spec_is_refused(tmp_path, content):
    (tmp_path / "spec.json").write_text(content)
    with pytest.raises(ResultsError, match=r"spec\.json: invalid spec .* remove it"):
        read_requested_run(tmp_path)


def test_folder_named_as_the_spec_is_refused(tmp_path):
    (tmp_path / "spec.json").mkdir()
    with pytest.raises(ResultsError, match=r"spec\.json: is not a regular file"):
        read_requested_run(tmp_path)


def test_spec_that_is_a_pipe_or_device_is_refused(tmp_path):
    (tmp_path / "spec.json").symlink_to("/dev/zero")
    with pytest.raises(ResultsError, match=r"spec\.json: is not a regular file"):
        read_requested_run(tmp_path)
    (tmp_path / "spec.json").unlink()
    os.mkfifo(tmp_path / "spec.json")
    with pytest.raises(ResultsError, match=r"spec\.json: is not a regular file"):
        read_requested_run(tmp_path)


def test_spec_that_is_nested_too_deeply_is_refused(tmp_path):
    spec = json.dumps({"data": ["A"], "pools": ["max"], "protocol": "fair", "folds": 2, "new": 0})
    (tmp_path / "spec.json").write_text(spec.replace("0}", f"{'[' * 300}{']' * 300}}}"))
    with pytest.raises(ResultsError, match=r"spec\.json: invalid spec \(.*depth"):
        read_requested_run(tmp_path)


@pytest.mark.parametrize(
    "more",
    [
        {"new_option": 1},
        {"options": {"new_option": 1}},
        {"pools": ["pooling-of-tomorrow"]},
        {"schema_version": SCHEMA_VERSION},
        {"schema_version": SCHEMA_VERSION + 1, "new_option": 1},
    ],
)
def test_specs_of_other_versions_are_read(tmp_path, more):
    spec = make_spec(["max"], ["A"]) | more
    (source,) = read_sources([write(tmp_path / "run", records(["max"], ["A"]), spec)])
    assert source.requested.stored == spec
    assert all(source.requested.includes(one) for one in source.records)


@pytest.mark.parametrize(
    ("changes", "included"),
    [
        ({}, True),
        ({"epochs": 5}, False),
        ({"averaging": 0.0}, True),
        ({"averaging": 0.8}, False),
        ({"keep": "best"}, True),
        ({"keep": "last"}, False),
        ({"folds": 6}, False),
        ({"protocol": "paper"}, False),
        ({"options": {"slots": 16}}, False),
        ({"options": {"slots": 64}}, True),
        ({"epochs": 5, "grid": {"epochs": [4, 5]}}, True),
        ({"validation": 0.1, "splits": []}, True),
        ({"validation": 0.2}, False),
        ({"splits": ["some/where"]}, False),
        ({"encoding": "auto"}, True),
        ({"encoding": {"labels": True}}, True),
        ({"encoding": {"labels": False}}, False),
    ],
)
def test_records_with_other_settings_are_not_of_the_run(changes, included):
    requested = RequestedRun.model_validate(make_spec() | changes)
    settings = make_settings("max") | {"encoding": {"labels": True}}
    assert requested.includes(record("max", "ENZYMES", settings=settings)) is included


def test_splits_from_files_have_no_validation_fraction():
    requested = RequestedRun.model_validate(make_spec(splits=["some/where"], validation=0.3))
    settings = make_settings("max") | {"splits": "5911"}
    assert requested.includes(record("max", "A", settings=settings))
    assert not requested.includes(record("max", "A"))


def test_records_without_settings_are_of_the_run():
    requested = RequestedRun.model_validate(make_spec())
    assert requested.includes(record("max", "ENZYMES", settings={"content": "x"}))


@pytest.mark.parametrize(
    ("pool", "network", "options", "included"),
    [
        ("max", {"readout": "max"}, {"readout": "max+weighted", "node_norm": True}, True),
        ("max", {"readout": "max"}, {"readout": "max+weighted", "slots": 9}, False),
        ("loop", {"readout": "max"}, {"readout": "max+weighted"}, False),
        ("loop", {}, {"node_norm": True}, False),
        ("loop", {}, {"node_norm": False}, True),
        ("loop", {}, {"pooled_layers": "all"}, False),
        ("loop", {}, {"pooled_layers": "last"}, True),
        ("max", {}, {"pooled_layers": "all"}, True),
        ("loop+image", {"node_norm": True}, {"node_norm": True}, True),
    ],
)
def test_options_without_effect_on_baselines_are_ignored(pool, network, options, included):
    requested = RequestedRun.model_validate(make_spec(options=options))
    found = record(pool, "A", settings=make_settings(pool, **network))
    assert requested.includes(found) is included


def test_folder_file_and_compressed_file_are_the_same(tmp_path):
    folder = write(tmp_path / "run", records(), make_spec())
    plain = folder / "records.jsonl"
    packed = tmp_path / "published.jsonl.gz"
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    first, second, third = (read_sources([path])[0] for path in (folder, plain, packed))
    assert first.records == second.records == third.records
    assert len(first.records) == 30
    assert first.requested == second.requested
    assert first.requested is not None
    # The spec beside a file of another name may belong to something else.
    assert third.requested is None


def test_fold_in_two_runs_is_used_once_and_success_beats_failure(tmp_path):
    failed, good = record("max", "A", failed=True), record("max", "A")
    first = write(tmp_path / "one", [failed])
    second = write(tmp_path / "two", [good])
    for order in ([first, second], [second, first]):
        found = [r for source in read_sources(order) for r in source.records]
        assert found == [good]


def test_torn_line_is_reported_and_ignored(tmp_path):
    folder = write(tmp_path / "run", records())
    path = folder / "records.jsonl"
    path.write_bytes(path.read_bytes()[:-9])
    (source,) = read_sources([folder])
    assert len(source.records) == 29
    assert source.torn > 0


TORN = gzip.compress(b"{}\n", mtime=0)[:-4]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"no gzip", "invalid gzip file"),
        (TORN, "invalid gzip file"),
        (b"", "no fold has finished"),
    ],
    ids=["other", "torn", "empty"],
)
def test_invalid_gzip_file_is_refused(tmp_path, content, message):
    path = tmp_path / "x.jsonl.gz"
    path.write_bytes(content)
    with pytest.raises(ResultsError, match=message):
        read_sources([path])


def test_sources_without_records_are_refused(tmp_path):
    with pytest.raises(ResultsError, match="no such file or folder"):
        read_sources([tmp_path / "nowhere"])
    with pytest.raises(ResultsError, match="run lfds compare first"):
        read_sources([write(tmp_path / "empty", [])])
    with pytest.raises(ResultsError, match="needs a folder"):
        read_sources([])


def test_run_that_has_only_started_is_read(tmp_path):
    assert read_sources([write(tmp_path / "begun", [], make_spec())])[0].records == ()
