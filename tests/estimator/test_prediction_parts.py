import csv
import io
import json
import os

import pytest

from lfds.config.messages import SpecError
from lfds.data.chunk import Chunk
from lfds.data.errors import DataError
from lfds.data.shards.engines import Where
from lfds.data.shards.sharded_set import ShardedGraphSet
from lfds.estimator import prediction_parts
from lfds.estimator.persistence import load
from lfds.estimator.prediction_parts import (
    DONE,
    MANIFEST,
    PredictionSettings,
    model_fingerprint,
    predict_parts,
)
from lfds.estimator.prediction_table import table_header, table_rows
from tests.data.shards.small import in_parts
from tests.estimator.small import classifier, graphs, regressor

COUNT = 24


@pytest.fixture(autouse=True)
def _short(monkeypatch):
    monkeypatch.setattr(prediction_parts, "CHUNK_SIZE", 4)
    monkeypatch.setattr(prediction_parts, "CHUNKS_PER_PART", 2)


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "model"
    classifier().save(path)
    return path


@pytest.fixture(scope="module")
def sharded(tmp_path_factory):
    return in_parts(graphs(), tmp_path_factory.mktemp("set") / "set", graphs_per_part=5)


def settings_for(folder, graph_set, **changed):
    return PredictionSettings(
        **{
            "model": model_fingerprint(folder),
            "data": graph_set.fingerprint,
            "file_format": "csv",
            "graphs_per_part": 8,
            **changed,
        }
    )


def bodies(out):
    """Return the rows of all parts in order, without headers."""
    files = sorted(out.glob("part-*.csv"))
    texts = [file.read_text().split("\n", 1) for file in files]
    assert len({header for header, _ in texts}) == 1
    return "".join(body for _, body in texts)


def expected_body(model):
    estimator, text = load(model), io.StringIO(newline="")
    table = csv.writer(text, lineterminator="\n")
    for start in range(0, COUNT, 4):
        chunk = Chunk(graphs()[start : start + 4], list(range(start, start + 4)), "graph")
        table.writerows(table_rows(estimator, chunk, errors=False))
    return text.getvalue()


def written_at(out):
    return {file.name: os.stat(file).st_mtime_ns for file in out.glob("part-*")}


@pytest.mark.parametrize("workers", [1, 2])
def test_parts_are_the_table_of_one_process(model, sharded, tmp_path, workers):
    seen = []
    count = predict_parts(
        model,
        sharded,
        tmp_path / "out",
        settings_for(model, sharded),
        where=Where(workers),
        progress=seen.append,
    )
    assert (count, sum(seen)) == (COUNT, COUNT)
    assert len(written_at(tmp_path / "out")) == 3
    assert bodies(tmp_path / "out") == expected_body(model)
    first = (tmp_path / "out" / "part-000000.csv").read_text().splitlines()[0]
    chunk = Chunk(graphs(), [], "graph")
    assert first.split(",") == table_header(load(model), chunk, errors=False)


def test_chunks_of_a_stream_are_sent_to_processes(model, sharded, tmp_path):
    chunks = [
        Chunk(graphs()[start : start + 4], list(range(start, start + 4)), "graph")
        for start in range(0, COUNT, 4)
    ]
    out = tmp_path / "out"
    settings = settings_for(model, sharded)
    assert predict_parts(model, iter(chunks), out, settings, where=Where(2)) == COUNT
    assert bodies(out) == expected_body(model)
    # A second time everything is there.
    before = written_at(out)
    assert predict_parts(model, iter(chunks), out, settings) == COUNT
    assert written_at(out) == before


def test_a_restart_writes_what_is_missing_and_nothing_else(model, sharded, tmp_path):
    out, settings = tmp_path / "out", settings_for(model, sharded)
    predict_parts(model, sharded, out, settings)
    whole, before = bodies(out), written_at(out)
    # One part was damaged, one is not listed: the process was killed while it wrote the list.
    (out / "part-000000.csv").write_text("graph,label\n0,nonsense\n")
    lines = (out / DONE).read_text().splitlines()
    assert json.loads(lines[2])["number"] == 2
    (out / DONE).write_text("\n".join([*lines[:2], lines[2][:10]]))
    assert predict_parts(model, sharded, out, settings) == COUNT
    assert bodies(out) == whole
    after = written_at(out)
    assert after["part-000001.csv"] == before["part-000001.csv"]
    assert after["part-000000.csv"] != before["part-000000.csv"]
    listed = [json.loads(line)["number"] for line in _valid_lines(out / DONE)]
    assert sorted(set(listed)) == [0, 1, 2]
    assert predict_parts(model, sharded, out, settings) == COUNT  # nothing is counted twice
    assert written_at(out) == after


def _valid_lines(file):
    for line in file.read_text().splitlines():
        try:
            json.loads(line)
        except ValueError:
            continue
        yield line


def test_another_model_or_data_or_format_is_refused(model, sharded, tmp_path):
    out = tmp_path / "out"
    predict_parts(model, sharded, out, settings_for(model, sharded))
    before = written_at(out)
    regressor().save(tmp_path / "other")
    for changed, match in (
        ({"model": model_fingerprint(tmp_path / "other")}, "predictions of another model; choose"),
        ({"data": "else"}, "predictions of other graphs; choose a new folder"),
        ({"precision": "bf16"}, "predictions of another precision"),
    ):
        with pytest.raises(DataError, match=match) as error:
            predict_parts(model, sharded, out, settings_for(model, sharded, **changed))
        assert "\n" not in str(error.value)
    assert written_at(out) == before


def test_parquet_parts_have_all_digits(model, sharded, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    out = tmp_path / "out"
    predict_parts(model, sharded, out, settings_for(model, sharded, file_format="parquet"))
    tables = [parquet.read_table(file).to_pydict() for file in sorted(out.glob("*.parquet"))]
    column = {name: [cell for table in tables for cell in table[name]] for name in tables[0]}
    assert column["graph"] == list(range(COUNT))
    estimator = load(model)
    assert column["label"] == estimator.predict(graphs()).tolist()
    expected = estimator.predict_proba(graphs())[:, 1].tolist()
    assert column["p(ring)"] == pytest.approx(expected, abs=1e-6)


def test_a_folder_with_other_files_is_left_alone(model, sharded, tmp_path):
    (tmp_path / "thesis.tex").touch()
    with pytest.raises(DataError, match=r"holds other files, such as 'thesis.tex'"):
        predict_parts(model, sharded, tmp_path, settings_for(model, sharded))
    with pytest.raises(DataError, match="is a file, where a folder of parts"):
        predict_parts(model, sharded, tmp_path / "thesis.tex", settings_for(model, sharded))
    assert os.listdir(tmp_path) == ["thesis.tex"]


@pytest.mark.parametrize(
    "text", ["", "{}", '{"format": "lfds predictions 1", "schema_version": 99}', "[" * 100_000]
)
def test_a_manifest_that_cannot_be_read(model, sharded, tmp_path, text):
    (tmp_path / MANIFEST).write_text(text)
    with pytest.raises(DataError, match=r"predictions.json: cannot be read"):
        predict_parts(model, sharded, tmp_path, settings_for(model, sharded))


def test_a_damaged_part_of_the_graphs_is_found_before_it_is_predicted(model, tmp_path):
    data = in_parts(graphs(), tmp_path / "set", graphs_per_part=9)
    file = data.folder.path / "part-000001" / "graphs.safetensors"
    content = bytearray(file.read_bytes())
    content[-1] ^= 1
    file.write_bytes(content)
    data = ShardedGraphSet(tmp_path / "set")
    with pytest.raises(DataError, match=r"part-000001.*its checksum differs"):
        predict_parts(model, data, tmp_path / "out", settings_for(model, data))
    # What is before it is done, and stays.
    assert list(written_at(tmp_path / "out")) == ["part-000000.csv"]


def test_graphs_or_a_model_that_change_meanwhile(model, sharded, tmp_path):
    settings = settings_for(model, sharded)
    wrong = settings.model_copy(update={"model": "0" * 24})
    with pytest.raises(DataError, match="has changed since the command was started"):
        predict_parts(model, sharded, tmp_path / "one", wrong)
    wrong = settings.model_copy(update={"data": "0" * 24})
    with pytest.raises(DataError, match="has changed since the command was started"):
        predict_parts(model, sharded, tmp_path / "two", wrong)


def test_some_graphs_of_a_folder_are_refused(model, sharded, tmp_path):
    with pytest.raises(DataError, match="graphs: needs all graphs of a folder"):
        predict_parts(model, sharded[2:9], tmp_path / "out", settings_for(model, sharded))


def test_a_cluster_needs_a_set_in_parts(model, sharded, tmp_path):
    with pytest.raises(SpecError, match=r"lfds data convert IN OUT --shards"):
        predict_parts(
            model, iter([]), tmp_path / "out", settings_for(model, sharded), where=Where(ray="auto")
        )


def test_a_part_that_another_machine_keeps_to_itself(model, sharded, tmp_path, monkeypatch):
    def elsewhere(path, content):
        pass

    settings = settings_for(model, sharded)
    predict_parts(model, sharded, tmp_path / "out", settings)
    (tmp_path / "out" / "part-000001.csv").unlink()
    monkeypatch.setattr(prediction_parts, "atomic_write", elsewhere)
    with pytest.raises(DataError, match="not here; the output needs to be in a folder that all"):
        predict_parts(model, sharded, tmp_path / "out", settings)
