import os
import subprocess
import sys
from typing import Literal, final

import numpy as np
import pytest
import torch
from torch.testing import assert_close

from lfds.config.registry import ENCODINGS
from lfds.data import DataError, GraphSet
from lfds.data.encodings import RWSE, DeepWalk, Degree, NetMF, StructuralEncoding, compute
from lfds.data.encodings.compute import adjacencies, encode_graphs, structural_features
from tests.data.encodings.graphs import random_graph

GRAPHS = [random_graph(5 + 7 * number, 0.2, number) for number in range(8)]
ALL = [entry.load()() for entry in ENCODINGS.values()]
EACH = pytest.mark.parametrize("encoding", ALL, ids=lambda encoding: encoding.kind)


def assert_same(found, expected):
    for rows, wanted in zip(found, expected, strict=True):
        np.testing.assert_array_equal(rows, wanted)


def counted(monkeypatch, kind):
    """Count the graphs that are really encoded."""
    seen = []
    real = kind.encode
    monkeypatch.setattr(kind, "encode", lambda self, graph: seen.append(1) or real(self, graph))
    return seen


@EACH
def test_rows_are_float32_one_per_node(encoding):
    for graph, rows in zip(GRAPHS, encode_graphs(GRAPHS, encoding), strict=True):
        assert rows.shape == (graph.shape[0], encoding.width)
        assert rows.dtype == np.float32
        assert np.isfinite(rows).all()


@EACH
def test_the_encoding_of_a_graph_does_not_depend_on_other_graphs(encoding):
    together = encode_graphs(GRAPHS, encoding)
    for graph, rows in zip(GRAPHS, together, strict=True):
        assert_same(encode_graphs([graph], encoding), [rows])


@EACH
def test_several_processes_give_the_same_result(encoding, monkeypatch):
    monkeypatch.setattr(compute, "_SECONDS_TO_START", 0.0)
    monkeypatch.setattr(compute, "_NODES_PER_TASK", 60)
    assert_same(encode_graphs(GRAPHS, encoding, workers=2), encode_graphs(GRAPHS, encoding))


def test_short_work_starts_no_process(monkeypatch):
    def refuse(*arguments, **options):
        raise AssertionError("a process was started")

    monkeypatch.setattr(compute, "process_pool", refuse)
    encode_graphs(GRAPHS, RWSE(), workers=2)
    monkeypatch.setattr(compute, "_SECONDS_TO_START", 0.0)
    with pytest.raises(AssertionError, match="a process was started"):
        encode_graphs(GRAPHS, RWSE(), workers=2)


def test_equal_graphs_are_encoded_once(monkeypatch):
    seen = counted(monkeypatch, RWSE)
    encode_graphs(GRAPHS + GRAPHS, RWSE())
    assert len(seen) == len(GRAPHS)


def test_cached_encodings_are_not_computed_again(monkeypatch, tmp_path):
    first = encode_graphs(GRAPHS[:5], NetMF(), cache=tmp_path)
    seen = counted(monkeypatch, NetMF)
    second = encode_graphs(GRAPHS, NetMF(), cache=tmp_path)
    assert len(seen) == 3
    assert_same(second[:5], first)
    assert_same(encode_graphs(GRAPHS, NetMF(), cache=tmp_path), second)
    assert len(seen) == 3


@pytest.mark.parametrize("numbers", [1, 10**9])
def test_an_interrupted_run_stores_finished_encodings(monkeypatch, tmp_path, numbers):
    monkeypatch.setattr(compute, "_NODES_PER_TASK", 1)
    monkeypatch.setattr(compute, "_NUMBERS_PER_FILE", numbers)
    seen = []
    real = RWSE.encode

    def interrupted(self, graph):
        seen.append(1)
        if len(seen) == 5:
            raise KeyboardInterrupt
        return real(self, graph)

    monkeypatch.setattr(RWSE, "encode", interrupted)
    with pytest.raises(KeyboardInterrupt):
        encode_graphs(GRAPHS, RWSE(), cache=tmp_path)
    encode_graphs(GRAPHS, RWSE(), cache=tmp_path)
    assert len(seen) == len(GRAPHS) + 1


def test_a_damaged_cache_is_computed_again(tmp_path):
    expected = encode_graphs(GRAPHS, RWSE(), cache=tmp_path)
    for path in tmp_path.rglob("*.safetensors"):
        path.write_bytes(path.read_bytes()[:-7])
    assert_same(encode_graphs(GRAPHS, RWSE(), cache=tmp_path), expected)


@final
class Deadly(StructuralEncoding):
    """Kills its process, as running out of memory does."""

    kind: Literal["deadly"] = "deadly"

    @property
    def width(self):
        return 1

    def encode(self, graph):
        os._exit(1)


def test_a_killed_worker_is_a_data_error(monkeypatch):
    monkeypatch.setattr(compute, "_SECONDS_TO_START", 0.0)
    with pytest.raises(DataError, match=r"workers: a process .* was killed"):
        encode_graphs(GRAPHS, Deadly(), workers=2)


ORPHANS = """
import os, time
from typing import Literal, final
from lfds.config.registry import ENCODINGS
from lfds.data.encodings import StructuralEncoding, compute
from scipy.sparse import csr_array

class Slow(StructuralEncoding):
    kind: Literal["slow"] = "slow"
    width = property(lambda self: 1)
    def encode(self, graph):
        print(os.getpid(), flush=True)
        time.sleep(30)
        print("still here", flush=True)

if __name__ == "__main__":
    compute._SECONDS_TO_START, compute._NODES_PER_TASK = 0.0, 1
    compute.encode_graphs([csr_array((n, n)) for n in (2, 3)], Slow(), workers=2)
"""


@pytest.mark.slow
def test_workers_exit_when_their_parent_is_killed(tmp_path):
    script = tmp_path / "orphans.py"
    script.write_text(ORPHANS)
    with subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, text=True) as parent:
        started = [parent.stdout.readline() for _ in range(2)]
        parent.kill()
        # Nobody else holds this pipe: it closes when the last of them is gone.
        assert parent.stdout.readline() == ""
    assert len(set(started)) == 2


def test_an_empty_list_of_graphs_has_no_encodings():
    assert encode_graphs([], DeepWalk()) == []


def test_a_progress_bar_is_shown_on_standard_error_on_request(capfd):
    encode_graphs(GRAPHS, RWSE())
    assert capfd.readouterr() == ("", "")
    encode_graphs(GRAPHS, RWSE(), progress=True)
    out, err = capfd.readouterr()
    assert out == ""
    assert "8/8" in err


def test_zero_workers_are_an_error():
    with pytest.raises(DataError, match="workers"):
        encode_graphs(GRAPHS, RWSE(), workers=0)


# A triangle, an empty graph, a directed edge with a self loop, two isolated nodes.
SET = GraphSet.from_arrays(
    [3, 0, 2, 2], [[0, 1, 2, 1, 2, 0, 3, 4], [1, 2, 0, 0, 1, 2, 4, 4]], [0, 1, 0, 1]
)


def test_each_graph_has_its_own_adjacency():
    found = [graph.toarray().tolist() for graph in adjacencies(SET)]
    assert found == [
        [[0, 1, 1], [1, 0, 1], [1, 1, 0]],
        [],
        [[0, 1], [1, 0]],
        [[0, 0], [0, 0]],
    ]


def test_encodings_are_concatenated_in_the_given_order():
    found = structural_features(SET, [Degree(), RWSE(steps=3)])
    assert found.shape == (7, 4)
    assert_close(found[:, 0], torch.tensor(np.log1p([2, 2, 2, 1, 1, 0, 0]), dtype=torch.float32))
    assert_close(found[0], torch.tensor([np.log(3), 0, 1 / 2, 1 / 4], dtype=torch.float32))
    assert_close(found[3], torch.tensor([np.log(2), 0, 1, 0], dtype=torch.float32))


def test_no_encodings_are_no_columns():
    assert structural_features(SET, []).shape == (7, 0)
