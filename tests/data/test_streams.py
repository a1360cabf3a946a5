import json

import numpy as np
import pytest

from lfds.data import streams
from lfds.data.concat import join
from lfds.data.errors import DataError
from lfds.data.readers.jsonl import read_jsonl
from lfds.data.readers.smiles import read_smiles
from lfds.data.streams import stream_source
from tests.estimator.small import graphs


@pytest.fixture
def small_pieces(monkeypatch):
    monkeypatch.setattr(streams, "_GRAPHS_OF_A_PIECE", 3)


def written(folder, count=8, blank=True):
    file = folder / "graphs.jsonl"
    lines = [
        json.dumps({"labels": [k, 1], "edges": [[0, 1]], "label": "a" if k % 2 else "b"})
        for k in range(count)
    ]
    file.write_text(("\n\n" if blank else "\n").join(lines) + "\n")
    return file


@pytest.mark.usefixtures("small_pieces")
def test_lines_are_read_piece_by_piece_with_their_numbers(tmp_path):
    file = written(tmp_path)
    pieces = list(stream_source(str(file)))
    assert [len(piece.graphs) for piece in pieces] == [3, 3, 2]
    assert [place for piece in pieces for place in piece.places] == [1, 3, 5, 7, 9, 11, 13, 15]
    assert {piece.counted for piece in pieces} == {"line"}
    whole = read_jsonl(file, seed=None)
    together = join([piece.graphs for piece in pieces])
    assert together.labels.tolist() == whole.labels.tolist()
    assert together.edge_dst.tolist() == whole.edge_dst.tolist()


@pytest.mark.usefixtures("small_pieces")
def test_a_line_that_differs_is_named_however_far_down(tmp_path):
    file = written(tmp_path, blank=False)
    file.write_text(file.read_text() + '{"nodes": 2}\n')
    pieces = stream_source(str(file))
    assert len(next(pieces).graphs) == 3
    with pytest.raises(DataError, match=r"line 9: labels is absent, but present in line 1"):
        list(pieces)


@pytest.mark.usefixtures("small_pieces")
def test_labels_to_be_predicted_may_be_anything(tmp_path):
    file = tmp_path / "graphs.jsonl"
    file.write_text('{"nodes": 1, "label": "a"}\n{"nodes": 1}\n{"nodes": 1, "label": 2.5}\n')
    assert len(next(stream_source(str(file))).graphs) == 3


def test_a_file_is_not_read_before_it_is_needed(tmp_path, monkeypatch):
    monkeypatch.setattr(streams, "_GRAPHS_OF_A_PIECE", 1)
    file = tmp_path / "graphs.jsonl"
    file.write_text('{"nodes": 1}\n' + "{broken\n")
    pieces = stream_source(str(file))
    assert len(next(pieces).graphs) == 1
    with pytest.raises(DataError, match="line 2"):
        next(pieces)


@pytest.mark.usefixtures("small_pieces")
def test_molecules_are_read_piece_by_piece_whatever_other_columns_there_are(tmp_path):
    pytest.importorskip("rdkit")
    file = tmp_path / "molecules.csv"
    file.write_text("smiles,name,logS\nCCO,a,\nC,b,1\nnonsense,c,2\nCC,d,3\nCCC,e,4\n")
    pieces = list(stream_source(str(file), bad="skip"))
    assert [place for piece in pieces for place in piece.places] == [2, 3, 5, 6]
    assert [piece.graphs.num_nodes for piece in pieces] == [6, 3]
    with pytest.raises(DataError, match="line 4: 'nonsense' is no valid SMILES"):
        list(stream_source(str(file)))
    plain = tmp_path / "plain.csv"
    plain.write_text("smiles\nCCO\nC\n")
    (piece,) = stream_source(str(plain))
    assert piece.graphs.attributes.tolist() == read_smiles(plain, seed=None).attributes.tolist()


@pytest.mark.usefixtures("small_pieces")
def test_other_sources_are_counted_by_graph(tmp_path):
    graphs().save(tmp_path / "set")
    pieces = list(stream_source(str(tmp_path / "set")))
    assert np.concatenate([piece.places for piece in pieces]).tolist() == list(range(24))
    assert {piece.counted for piece in pieces} == {"graph"}
    assert join([piece.graphs for piece in pieces]).equals(graphs())


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("empty.jsonl", "", "is empty"),
        ("empty.csv", "smiles\n", "holds no molecule"),
        ("none.jsonl", None, "."),
    ],
)
def test_what_holds_nothing_says_so(name, content, message, tmp_path):
    file = tmp_path / name
    if content is not None:
        file.write_text(content)
    with pytest.raises(DataError, match=message):
        list(stream_source(str(file)))


def test_bad_lines_are_skipped_in_tables_of_molecules_only(tmp_path):
    with pytest.raises(DataError, match=r"bad: only a .csv file is read with it"):
        list(stream_source(str(written(tmp_path)), bad="skip"))
