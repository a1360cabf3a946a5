"""Predictions and encodings on a local Ray cluster of two nodes, with workers and drivers lost."""

import json
import os
import socket
import subprocess
import sys

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
from tests.ray_cluster import environment_of, output_of, start_script, two_nodes, wait_for

COUNT = 120

# In a process of its own: a cluster leaves threads behind, and Ray issues warnings.
CLUSTER = """
import os, pathlib, signal, sys
import psutil, ray
from lfds.data.encodings.rwse import RWSE
from lfds.data.encodings.sharded import store_encodings
from lfds.data.shards.engines import Where
from lfds.data.shards.sharded_set import ShardedGraphSet
from lfds.estimator import prediction_parts as parts
from tests.ray_cluster import start_nodes

folder, loss = pathlib.Path(sys.argv[1]), sys.argv[2]
cluster, (other,) = start_nodes(1, 1)
ray.init(address=cluster.address, log_to_driver=False)
assert len(ray.nodes()) == 2
data = ShardedGraphSet(folder / "set")
settings = parts.PredictionSettings(
    model=parts.model_fingerprint(folder / "model"), data=data.fingerprint, file_format="csv",
    graphs_per_part=6,
)
lost = []

def lose(count):
    if lost:
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
    process = start_script(CLUSTER, folder, loss)
    out = output_of(process)
    assert process.returncode == 0, out
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


# Parts of the command line have 65,536 graphs.
DRIVER = """
from lfds.estimator.prediction_parts import PredictionSettings
PredictionSettings.model_fields["graphs_per_part"].default = 2
PredictionSettings.model_rebuild(force=True)
from lfds.cli import main
if __name__ == "__main__":
    main()
"""


@pytest.mark.slow
def test_a_killed_driver_is_resumed_by_the_same_command(folder):
    pytest.importorskip("ray")
    command = [sys.executable, "-c", DRIVER, "predict", "model", "set", "-o"]
    how = {"cwd": folder, "env": environment_of(folder)}
    how |= {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    with two_nodes(folder) as address:
        driver = subprocess.Popen([*command, "out", "--ray", address], **how)
        wait_for((folder / "out" / DONE).exists, driver)
        driver.kill()
        driver.communicate()
        done = {file: file.stat().st_mtime_ns for file in listed_parts(folder / "out")}
        assert 0 < len(done) < COUNT // 2
        again = subprocess.run([*command, "out", "--ray", address], timeout=1800, **how)
        assert again.returncode == 0, again.stdout
    for file, written in done.items():
        assert file.stat().st_mtime_ns == written
    here = subprocess.run([*command, "here", "--workers", "1"], timeout=1800, **how)
    assert here.returncode == 0, here.stdout
    contents = [contents_of(folder / name) for name in ("out", "here")]
    assert contents[0] == contents[1]
    assert len(contents[0]) == COUNT // 2
    listed = listed_parts(folder / "out")
    assert len(set(listed)) == len(listed) == COUNT // 2


def contents_of(out):
    return {file.name: file.read_bytes() for file in out.glob("part-*")}


def listed_parts(out):
    lines = (out / DONE).read_text().splitlines()
    return [out / f"part-{json.loads(line)['number']:06d}.csv" for line in lines]


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
    assert not (folder / "out").exists()


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
