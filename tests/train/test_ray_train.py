"""Data-parallel training on a Ray cluster: the same bits as on this machine, whatever is lost."""

import json
import socket
import subprocess
import sys
from dataclasses import replace

import pytest
import torch

import lfds
from lfds.config.messages import SpecError
from lfds.train import ray_train
from lfds.train.loop import Progress
from lfds.train.ray_train import Reports, train_on_ray
from tests.estimator.small import FAST, graphs
from tests.ray_cluster import environment_of, output_of, start_script, two_nodes, wait_for
from tests.train.test_distributed import prepared

OPTIONS = {**FAST, "epochs": 12, "patience": None, "workers": 2, "sync_batch_norm": "never"}

# In processes of their own: a cluster leaves threads behind, and Ray issues warnings.
CLUSTER = """
import json, pathlib, sys, threading, time
from dataclasses import replace
import psutil, ray
import lfds
from lfds.train import distributed, ray_train
from tests.estimator.small import graphs
from tests.ray_cluster import start_nodes
from tests.train.test_ray_train import OPTIONS

distributed.CHECKPOINT_SECONDS = 0.0  # a checkpoint after every epoch
folder, what = pathlib.Path(sys.argv[1]), sys.argv[2]
lost, about = [], {}


def ranks():
    found = []
    for child in psutil.Process().children(recursive=True):
        try:
            if any("RayTrainWorker" in part for part in child.cmdline()):
                found.append(child)
        except psutil.Error:
            pass
    return found


def lose_worker():
    ranks()[0].kill()


def lose_node():
    raylets = {rank.ppid() for rank in ranks()}
    here = ray.get_runtime_context().get_node_id()
    cluster.remove_node(
        next(
            node for node in nodes
            if node.all_processes["raylet"][0].process.pid in raylets and node.node_id != here
        ),
        allow_graceful=False,
    )


def after_checkpoint(lose):
    while not list((folder / "checkpoints").glob("*/checkpoint.safetensors")):
        time.sleep(0.02)
    lose()
    lost.append(lose)


def fit(**changed):
    options = {**OPTIONS, "ray": cluster.address, **changed}
    return lfds.LFDSClassifier(**options).fit(graphs(), checkpoints=folder / "checkpoints")


def error_of(**changed):
    try:
        fit(**changed)
    except Exception as error:
        return f"{type(error).__name__}: {error}"


lose = lose_node if what == "node" else lose_worker
cluster, nodes = start_nodes(0, 1, 1, 1) if what == "node" else start_nodes(1, 1)
threading.Thread(target=after_checkpoint, args=(lose,), daemon=True).start()
fit().save(folder / "model")
about["left"] = [entry.name for entry in (folder / "checkpoints").iterdir()]
if what != "node":
    about["diverged"] = error_of(learning_rate=1e30)
    about["many"] = error_of(workers=3)
    train = ray_train._train
    elsewhere = folder / "elsewhere" / "fit"
    elsewhere.mkdir(parents=True)
    ray_train._train = lambda ray, fit, step: train(ray, replace(fit, folder=elsewhere), step)
    about["unshared"] = error_of()
    ray_train._train, ray_train.__version__ = train, "9.9.9"
    about["version"] = error_of()
deadline = time.monotonic() + 60
while ranks() and time.monotonic() < deadline:
    time.sleep(0.1)
about |= {"lost": len(lost), "ranks": len(ranks())}
(folder / "about.json").write_text(json.dumps(about))
cluster.shutdown()
"""


def weights(model):
    return torch.cat([value.double().flatten() for value in model.network_.state_dict().values()])


@pytest.mark.slow
@pytest.mark.parametrize("what", ["worker", "node"])
def test_a_cluster_gives_the_bits_of_this_machine_whatever_is_lost(tmp_path, what):
    pytest.importorskip("ray")
    process = start_script(CLUSTER, tmp_path, what)
    out = output_of(process)
    assert process.returncode == 0, out
    about = json.loads((tmp_path / "about.json").read_text())
    assert (about["lost"], about["left"], about["ranks"]) == (1, [], 0)
    model = lfds.load(tmp_path / "model")
    here = lfds.LFDSClassifier(**OPTIONS).fit(graphs())
    assert torch.equal(weights(model), weights(here))
    assert model.history_.validation_loss == here.history_.validation_loss
    assert model.temperature_ == here.temperature_
    if what == "worker":
        check_errors(about, tmp_path)


def check_errors(about, folder):
    """What users get wrong is one line."""
    assert about["diverged"].startswith("DivergedError: ")
    assert "a lower learning rate than 1e+30 may help" in about["diverged"]
    assert about["many"] == (
        "SpecError: workers: 3 processes need a CPU each, and the cluster has 2; use workers=2"
    )
    node = socket.gethostname()
    assert about["version"] == (
        f"SpecError: ray: the node {node} has lfds {lfds.__version__}, and this one 9.9.9; install "
        f"the same version on all nodes"
    )
    assert about["unshared"].startswith(
        f"DataError: {folder}/elsewhere: is not seen by the process on {node}; checkpoints need a"
    )


@pytest.mark.slow
def test_a_killed_driver_is_resumed_by_the_same_command(tmp_path):
    pytest.importorskip("ray")
    graphs().save(tmp_path / "set")
    command = [sys.executable, "-c", DRIVER, "fit", "set", "-o", "model", "--workers", "2"]
    command += ["--slots", "4", "--option", "width=8", "head_width=8", "--epochs", "30"]
    how = {"cwd": tmp_path, "env": environment_of(tmp_path)}
    how |= {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    unfinished = tmp_path / "model.unfinished"
    with two_nodes(tmp_path) as address:
        driver = subprocess.Popen([*command, "--ray", address], **how)
        wait_for(lambda: list(unfinished.glob("*/checkpoint.safetensors")), driver)
        driver.kill()
        driver.communicate()
        assert not (tmp_path / "model").exists()
        again = subprocess.run([*command, "--ray", address], timeout=1800, **how)
        assert again.returncode == 0, again.stdout
        assert "saved as model" in again.stdout
    command[command.index("model")] = "here"
    here = subprocess.run(command, timeout=1800, **how)
    assert here.returncode == 0, here.stdout
    for name in ("weights.safetensors", "encoder.json"):
        ours, theirs = tmp_path / "model" / name, tmp_path / "here" / name
        assert ours.read_bytes() == theirs.read_bytes(), name
    assert not unfinished.exists()


DRIVER = """
import sys
from lfds.train import distributed
distributed.CHECKPOINT_SECONDS = 0.0
from lfds.cli import main
if __name__ == "__main__":
    main()
"""


def test_the_latest_history_and_the_first_error_are_kept():
    reports = Reports()
    assert reports.take() is reports.failure() is None
    for epochs in (1, 2):
        reports.add(Progress(loss=[0.5] * epochs))
    assert reports.take().epochs == 2
    assert reports.take() is None
    reports.fail("DataError", "first")
    reports.fail("SpecError", "second")
    assert reports.failure() == ("DataError", "first")


def test_an_address_that_nobody_answers_at_is_one_line(tmp_path):
    pytest.importorskip("ray")
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))  # bound and not listening: nothing else can answer there
        address = f"127.0.0.1:{unused.getsockname()[1]}"
        with pytest.raises(SpecError, match=f"^ray: no cluster answers at '{address}'; start one"):
            train_on_ray(prepared(tmp_path, ranks=2), address, lambda _: None)


class Ray:
    """A cluster with so many accelerators."""

    def __init__(self, gpus):
        self._resources = {"CPU": 8.0, "GPU": float(gpus)}

    def cluster_resources(self):
        return self._resources


@pytest.mark.parametrize(
    ("device", "gpus", "expected"),
    [("cpu", 4, False), ("cuda", 0, True), ("auto", 2, True), ("auto", 1, False)],
)
def test_accelerators_are_used_where_there_are_enough(tmp_path, device, gpus, expected):
    assert ray_train._uses_accelerators(Ray(gpus), on_device(tmp_path, device)) is expected


def test_a_cluster_without_the_devices_is_refused(tmp_path):
    with pytest.raises(SpecError, match="workers: 2 processes need a GPU each, and the cluster ha"):
        ray_train._train(Ray(0), on_device(tmp_path, "cuda"), None)
    with pytest.raises(SpecError, match='device: a cluster computes on "cpu" or "cuda", not "mps"'):
        ray_train._uses_accelerators(Ray(0), on_device(tmp_path, "mps"))


def on_device(folder, device):
    fit = prepared(folder, ranks=2)
    return replace(fit, training=fit.training.model_copy(update={"device": device}))
