"""Local Ray clusters of several nodes, in processes of their own: Ray leaves threads behind.

Whatever happens to a test, none of the processes of its cluster is left.
"""

import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager, suppress

KEEPER = """
import pathlib, sys
from tests.ray_cluster import start_nodes

cluster, _ = start_nodes(1, 1)
(pathlib.Path(sys.argv[1]) / "address").write_text(cluster.address)
sys.stdin.read()
cluster.shutdown()
"""


def start_nodes(head, *others):
    """Return a cluster and its nodes but the head, given the number of processors of each."""
    from ray.cluster_utils import Cluster

    # A node that is not up within 30 seconds, as on a busy machine, is an error of Ray's.
    for _ in range(5):
        cluster = Cluster()
        try:
            cluster.add_node(num_cpus=head, include_dashboard=False)
            return cluster, [cluster.add_node(num_cpus=count) for count in others]
        except Exception:
            cluster.shutdown()
    raise SystemExit("no cluster could be started")


def environment_of(folder):
    """Return the environment of a process that uses Ray, which writes to the home folder."""
    environment = {**os.environ, "RAY_USAGE_STATS_ENABLED": "0", "HOME": str(folder / "home")}
    environment["PYTHONPATH"] = os.pathsep.join([os.getcwd(), os.environ.get("PYTHONPATH", "")])
    (folder / "home").mkdir(exist_ok=True)
    return environment


def start_script(code, folder, *arguments, **how):
    """Return a process that runs some code, in a process group of its own."""
    command = [sys.executable, "-c", code, str(folder), *arguments]
    how |= {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    return subprocess.Popen(command, env=environment_of(folder), start_new_session=True, **how)


def output_of(process, sent=None):
    """Wait for the end of a script, and return what it printed."""
    try:
        return process.communicate(sent, timeout=3600)[0]
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


@contextmanager
def two_nodes(folder):
    """Yield the address of a cluster of two nodes with one processor each."""
    keeper = start_script(KEEPER, folder, stdin=subprocess.PIPE)
    try:
        wait_for((folder / "address").exists, keeper)
        yield (folder / "address").read_text()
    finally:
        output_of(keeper, "")


def wait_for(condition, process):
    """Wait until something is true, while a process runs."""
    deadline = time.monotonic() + 600
    while not condition():
        assert process.poll() is None, process.stdout.read()
        assert time.monotonic() < deadline
        time.sleep(0.01)
