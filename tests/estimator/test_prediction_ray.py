"""Predictions and encodings on a local Ray cluster of two nodes, with workers and drivers lost."""

import json
import os
import signal
import socket
import subprocess
import sys
import time

import pytest

from lfds.config.messages import SpecError
from lfds.data.encodings.rwse import RWSE
from lfds.data.encodings.sharded import store_encodings
from lfds.data.shards.engines import Where, map_parts
from lfds.data.shards.sharded_set import ShardedGraphSet
from lfds.estimator.prediction_parts import DONE, PredictionSettings, predict_parts
from lfds.estimator.prediction_parts import model_fingerprint as fingerprint
from tests.data.shards.small import in_parts, random_graphs
from tests.estimator.small import FAST

COUNT = 120

# In a process of its own: a cluster leaves threads behind, and Ray issues warnings.
CLUSTER = """
import os, pathlib, signal, sys, time
import psutil, ray
from ray.cluster_utils import Cluster
from lfds.data.encodings.rwse import RWSE
from lfds.data.encodings.sharded import store_encodings
from lfds.data.shards.engines import Where
from lfds.data.shards.sharded_set import ShardedGraphSet
from lfds.estimator import prediction_parts as parts

folder, loss = pathlib.Path(sys.argv[1]), sys.argv[2]
cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
other = cluster.add_node(num_cpus=1)
ray.init(address=cluster.address, log_to_driver=False)
assert len(ray.nodes()) == 2
(folder / "started").write_text(str(os.getpid()))
data = ShardedGraphSet(folder / "set")
settings = parts.PredictionSettings(
    model=parts.model_fingerprint(folder / "model"), data=data.fingerprint, file_format="csv",
    graphs_per_part=6,
)
lost = []

def lose(count):
    if lost or loss == "nothing":
        return
    if loss == "worker":
        found = [
            child for child in psutil.Process().children(recursive=True)
            if any("ray::" in part and "_Remote" in part for part in child.cmdline())
        ]
        if found:
            lost.append(found[0].pid)
            os.kill(found[0].pid, signal.SIGKILL)
    elif loss == "node":
        lost.append("node")
        cluster.remove_node(other, allow_graceful=False)

store_encodings(data, [RWSE()], where=Where(0, "auto"))
count = parts.predict_parts(
    folder / "model", data, folder / "out", settings, where=Where(0, "auto"), progress=lose
)
(folder / "result").write_text(f"{count} {len(lost)}")
ray.shutdown()
cluster.shutdown()
"""


@pytest.fixture
def folder(tmp_path):
    from lfds import LFDSClassifier

    graphs = random_graphs(COUNT)
    in_parts(graphs, tmp_path / "set", graphs_per_part=10)
    LFDSClassifier(**{**FAST, "encoding": "rwse"}).fit(graphs).save(tmp_path / "model")
    return tmp_path


def settings_for(folder):
    data = ShardedGraphSet(folder / "set")
    return data, PredictionSettings(
        model=fingerprint(folder / "model"),
        data=data.fingerprint,
        file_format="csv",
        graphs_per_part=6,
    )


def start(folder, loss):
    environment = {**os.environ, "RAY_DEDUP_LOGS": "0", "PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.Popen(
        [sys.executable, "-c", CLUSTER, str(folder), loss],
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )


def finished(process):
    _, errors = process.communicate(timeout=900)
    assert process.returncode == 0, errors.decode()[-3000:]


def assert_as_one_process(folder):
    """Check that every part is there once, with the bits of this process."""
    data, settings = settings_for(folder)
    assert predict_parts(folder / "model", data, folder / "here", settings) == COUNT
    names = sorted(file.name for file in (folder / "here").glob("part-*"))
    assert len(names) == COUNT // 6
    assert sorted(file.name for file in (folder / "out").glob("part-*")) == names
    for name in names:
        assert (folder / "out" / name).read_bytes() == (folder / "here" / name).read_bytes()
    listed = [json.loads(line)["number"] for line in (folder / "out" / DONE).read_text().split()]
    assert sorted(listed) == list(range(COUNT // 6))


@pytest.mark.slow
@pytest.mark.parametrize("loss", ["worker", "node"])
def test_lost_workers_and_nodes_change_nothing(folder, loss):
    pytest.importorskip("ray")
    finished(start(folder, loss))
    count, lost = (folder / "result").read_text().split()
    assert (int(count), int(lost)) == (COUNT, 1)
    assert_as_one_process(folder)
    # The encodings that the cluster stored are those of this process.
    data, _ = settings_for(folder)
    assert store_encodings(data, [RWSE()]) == 0
    stored = sorted((folder / "set" / "encodings").glob("*/*"))
    contents = [file.read_bytes() for file in stored]
    for file in stored:
        file.unlink()
    assert store_encodings(data, [RWSE()]) == 12
    assert [file.read_bytes() for file in stored] == contents


@pytest.mark.slow
def test_a_killed_driver_is_started_again(folder):
    pytest.importorskip("ray")
    first = start(folder, "nothing")
    deadline = time.monotonic() + 600
    while not (folder / "out" / DONE).exists():
        assert first.poll() is None, first.stderr.read().decode()[-3000:]
        assert time.monotonic() < deadline
        time.sleep(0.02)
    os.killpg(first.pid, signal.SIGKILL)  # and the cluster with it
    first.communicate()
    done = {file.name: os.stat(file).st_mtime_ns for file in listed_parts(folder / "out")}
    assert len(done) > 0
    finished(start(folder, "nothing"))
    assert_as_one_process(folder)
    for name, written in done.items():
        assert os.stat(folder / "out" / name).st_mtime_ns == written


def listed_parts(out):
    numbers = [json.loads(line)["number"] for line in (out / DONE).read_text().split()]
    return [out / f"part-{number:06d}.csv" for number in numbers]


def test_an_address_that_nobody_answers_at(folder):
    pytest.importorskip("ray")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    data, settings = settings_for(folder)
    with pytest.raises(SpecError, match=r"ray: no cluster answers at .* ray start --head") as error:
        predict_parts(
            folder / "model",
            data,
            folder / "out",
            settings,
            where=Where(0, f"127.0.0.1:{port}"),
        )
    assert "\n" not in str(error.value)


def test_a_cluster_without_anything_to_do_is_not_asked():
    assert list(map_parts(len, [], Where(0, "127.0.0.1:1"))) == []


def test_a_worker_of_another_version_says_which(monkeypatch):
    from lfds.data.shards import engines

    remote = engines._Remote(len)
    assert remote({"item": "four"})["answer"].result == 4
    monkeypatch.setattr(engines, "__version__", "9.9.9")
    answer = remote({"item": "four"})["answer"]
    assert answer.result is None
    assert "has lfds 9.9.9, and this one" in answer.problem
    assert "install the same version on all nodes" in answer.problem


def test_a_problem_of_a_worker_names_its_node(tmp_path):
    from lfds.data.shards import engines

    answer = engines._Remote(ShardedGraphSet)({"item": tmp_path / "nowhere"})["answer"]
    assert f"(on the node {socket.gethostname()})" in answer.problem
    assert "\n" not in answer.problem


def test_a_killed_process_is_one_line():
    from lfds.data.errors import DataError

    with pytest.raises(DataError, match=r"workers: a process was killed: .* goes on where it"):
        list(map_parts(os._exit, [3, 3], Where(2)))
