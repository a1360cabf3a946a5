import json

import pytest

from lfds.data.concat import concat
from lfds.data.errors import DataError
from lfds.data.readers.jsonl import read_jsonl
from lfds.data.readers.smiles import read_smiles
from lfds.data.sources import stream_source
from tests.estimator.small import graphs


def written(folder, count=8, blank=True):
    file = folder / "graphs.jsonl"
    lines = [
        json.dumps({"labels": [k, 1], "edges": [[0, 1]], "label": "a" if k % 2 else "b"})
        for k in range(count)
    ]
    file.write_text(("\n\n" if blank else "\n").join(lines) + "\n")
    return file


def positions(chunks):
    return [position for chunk in chunks for position in chunk.positions]


def test_lines_are_read_in_chunks_with_their_numbers(tmp_path):
    file = written(tmp_path)
    chunks = list(stream_source(str(file), size=3))
    assert [len(chunk.graphs) for chunk in chunks] == [3, 3, 2]
    assert positions(chunks) == [1, 3, 5, 7, 9, 11, 13, 15]
    assert {chunk.unit for chunk in chunks} == {"line"}
    whole = read_jsonl(file, seed=None)
    together = concat([chunk.graphs for chunk in chunks])
    assert together.labels.tolist() == whole.labels.tolist()
    assert together.edge_dst.tolist() == whole.edge_dst.tolist()


def test_a_line_that_differs_is_named_in_a_later_chunk(tmp_path):
    file = written(tmp_path, blank=False)
    file.write_text(file.read_text() + '{"nodes": 2}\n')
    chunks = stream_source(str(file), size=3)
    assert len(next(chunks).graphs) == 3
    with pytest.raises(DataError, match=r"line 9: labels is absent, but present in line 1"):
        list(chunks)


def test_targets_are_not_checked_for_prediction(tmp_path):
    file = tmp_path / "graphs.jsonl"
    file.write_text('{"nodes": 1, "label": "a"}\n{"nodes": 1}\n{"nodes": 1, "label": 2.5}\n')
    assert len(next(stream_source(str(file))).graphs) == 3


def test_a_file_is_read_lazily(tmp_path):
    file = tmp_path / "graphs.jsonl"
    file.write_text('{"nodes": 1}\n' + "{broken\n")
    chunks = stream_source(str(file), size=1)
    assert len(next(chunks).graphs) == 1
    with pytest.raises(DataError, match="line 2"):
        next(chunks)


def test_molecules_are_read_in_chunks_and_other_columns_are_ignored(tmp_path):
    pytest.importorskip("rdkit")
    file = tmp_path / "molecules.csv"
    file.write_text("smiles,name,logS\nCCO,a,\nC,b,1\nnonsense,c,2\nCC,d,3\nCCC,e,4\n")
    chunks = list(stream_source(str(file), bad="skip", size=3))
    assert positions(chunks) == [2, 3, 5, 6]
    assert [chunk.graphs.num_nodes for chunk in chunks] == [6, 3]
    with pytest.raises(DataError, match="line 4: invalid SMILES 'nonsense'"):
        list(stream_source(str(file)))
    plain = tmp_path / "plain.csv"
    plain.write_text("smiles\nCCO\nC\n")
    (chunk,) = stream_source(str(plain))
    assert chunk.graphs.attributes.tolist() == read_smiles(plain, seed=None).attributes.tolist()


def test_positions_in_other_sources_count_graphs(tmp_path):
    graphs().save(tmp_path / "set")
    chunks = list(stream_source(str(tmp_path / "set"), size=3))
    assert positions(chunks) == list(range(24))
    assert {chunk.unit for chunk in chunks} == {"graph"}
    assert concat([chunk.graphs for chunk in chunks]).equals(graphs())


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("empty.jsonl", "", "is empty"),
        ("empty.csv", "smiles\n", "has no molecules"),
        ("none.jsonl", None, "none.jsonl: no such file or folder"),
    ],
)
def test_a_source_without_graphs_is_an_error(name, content, message, tmp_path):
    file = tmp_path / name
    if content is not None:
        file.write_text(content)
    with pytest.raises(DataError, match=message):
        list(stream_source(str(file)))


def test_only_a_reader_with_this_option_skips_lines(tmp_path):
    with pytest.raises(DataError, match=r"bad: only \.csv or \.tsv files have this option"):
        list(stream_source(str(written(tmp_path)), bad="skip"))
