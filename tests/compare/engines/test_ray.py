import builtins
import os
import socket
import subprocess
import sys

import pytest

from lfds.compare.engines.local import SerialEngine
from lfds.compare.engines.ray import RayEngine, StepCollector
from lfds.compare.fold import RunDirectory, Step
from lfds.config.messages import SpecError
from tests.compare.engines.test_local import run
from tests.compare.small import tasks_for, without_cost

# In a process of its own: a cluster leaves threads behind, and Ray issues warnings.
CLUSTER = """
import os, pathlib, signal, sys
import psutil, ray
from ray.cluster_utils import Cluster
from lfds.compare.fold import RunDirectory
from lfds.compare.engines.ray import RayEngine
from tests.compare.small import tasks_for

cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
cluster.add_node(num_cpus=1)
folder = pathlib.Path(sys.argv[1])
tasks = tasks_for(folder, pools=["max", "loop"], epochs=60)
killed = []

def kill(task, step):
    if not killed:
        found = [
            child for child in psutil.Process().children(recursive=True)
            if any("_run_on_node" in part for part in child.cmdline())
        ]
        if found:
            killed.append(found[0].pid)
            os.kill(found[0].pid, signal.SIGKILL)

ray.init(address=cluster.address, log_to_driver=False)
nodes = len(ray.nodes())
ends = {}
RayEngine(cluster.address).run(
    tasks,
    RunDirectory(folder / "run", patience=0),
    kill,
    lambda task, end: ends.update({task.key: end}),
)
ray.shutdown()
cluster.shutdown()
records = [task.record(ends[task.key]).model_dump_json() for task in tasks]
(folder / "records").write_text("\\n".join(records))
(folder / "about").write_text(f"{nodes} {len(killed)}")
"""


def test_every_step_is_collected_once():
    collector = StepCollector()
    steps = [Step("key", number, 0.5) for number in range(3)]
    for step in steps:
        collector.add(step)
    assert collector.take() == steps
    assert collector.take() == []


class Remote:
    """A remote function or class without Ray: calls are executed at once, in this process."""

    def __init__(self, what):
        self._what = what

    def options(self, **_):
        return self

    def remote(self, *arguments):
        made = self._what(*arguments)
        return Handle(made) if isinstance(made, StepCollector) else Done(made)


class Handle:
    def __init__(self, collector):
        self.add, self.take = Remote(collector.add), Remote(collector.take)


class Done:
    def __init__(self, value):
        self.value = value


class FakeRay:
    """Returns results, or raises an error of Ray's where ``broken`` is true."""

    class exceptions:  # noqa: N801
        class RayError(Exception):
            pass

    def __init__(self, broken):
        self.broken = broken
        self.calls = []

    def is_initialized(self):
        return False

    def init(self, **how):
        self.calls.append(how["address"])

    def shutdown(self):
        self.calls.append("shutdown")

    remote = staticmethod(Remote)

    def wait(self, waiting, timeout):
        return waiting[:1], waiting[1:]

    def get(self, done):
        if self.broken(done.value):
            raise self.exceptions.RayError("the node is lost\nand more")
        return done.value


@pytest.mark.parametrize("address", ["auto", "local"])
def test_the_driver_collects_all_steps_and_results(tmp_path, address):
    pytest.importorskip("ray")
    engine = RayEngine(address)
    engine._ray = FakeRay(broken=lambda value: False)
    steps = []
    tasks = tasks_for(tmp_path)
    ends = run(engine, tasks, tmp_path / "run", lambda task, step: steps.append(step.epochs))
    assert engine._ray.calls == [address, "shutdown"]
    assert steps == [1, 2, 1, 2]
    serial = run(SerialEngine(), tasks, tmp_path / "serial")
    for task in tasks:
        assert without_cost(task.record(ends[task.key])) == without_cost(
            task.record(serial[task.key])
        )


def test_a_lost_collector_loses_the_steps_and_a_lost_fold_is_a_failure(tmp_path):
    pytest.importorskip("ray")
    engine = RayEngine("auto")
    engine._ray = FakeRay(broken=lambda value: True)
    steps = []
    tasks = tasks_for(tmp_path)
    ends = run(engine, tasks, tmp_path / "run", lambda *step: steps.append(step))
    assert steps == []
    assert {end.reason for end in ends.values()} == {"Ray could not run the fold: the node is lost"}


def test_without_ray_the_extra_is_named(monkeypatch):
    load = builtins.__import__

    def without(name, *rest):
        if name == "ray":
            raise ImportError(name)
        return load(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(SpecError, match="pip install 'lfds"):
        RayEngine("auto")


def test_an_address_without_a_cluster_is_refused_at_once(tmp_path):
    pytest.importorskip("ray")
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))  # bound and not listening: nothing else can answer there
        address = f"127.0.0.1:{unused.getsockname()[1]}"
        with pytest.raises(SpecError, match=f"no cluster answers at '{address}'; start one with"):
            RayEngine(address).run(tasks_for(tmp_path), RunDirectory(tmp_path), None, None)


@pytest.mark.slow
def test_two_nodes_and_a_killed_worker_give_the_bits_of_one_process(tmp_path):
    pytest.importorskip("ray")
    from lfds.results.record import Record

    # Ray writes to the home folder.
    environment = {**os.environ, "RAY_USAGE_STATS_ENABLED": "0", "HOME": str(tmp_path)}
    environment["PYTHONPATH"] = os.pathsep.join([os.getcwd(), os.environ.get("PYTHONPATH", "")])
    subprocess.run(
        [sys.executable, "-c", CLUSTER, str(tmp_path)],
        check=True,
        env=environment,
        capture_output=True,
        timeout=300,
    )
    assert (tmp_path / "about").read_text() == "2 1"
    lines = (tmp_path / "records").read_text().splitlines()
    records = [Record.model_validate_json(line) for line in lines]
    tasks = tasks_for(tmp_path, pools=["max", "loop"], epochs=60)
    serial = run(SerialEngine(), tasks, tmp_path / "serial")
    for task, record in zip(tasks, records, strict=True):
        assert without_cost(record) == without_cost(task.record(serial[task.key]))
