import os
import signal
from multiprocessing import active_children

import pytest

from lfds.compare.engines.local import ProcessEngine, SerialEngine, engine_for
from lfds.compare.fold import RunDirectory
from lfds.results.record import Failure, Outcome
from tests.compare.small import tasks_for, without_cost


def run(engine, tasks, folder, on_step=lambda *_: None):
    ends = {}
    engine.run(tasks, RunDirectory(folder), on_step, lambda task, end: ends.update({task.key: end}))
    return ends


def test_one_worker_runs_in_this_process_and_more_in_others():
    assert isinstance(engine_for(1), SerialEngine)
    assert engine_for(3).workers == 3


def test_two_processes_in_another_order_give_the_same_bits(tmp_path):
    tasks = tasks_for(tmp_path, pools=["max", "learned-spectral"])
    steps = []
    serial = run(SerialEngine(), tasks, tmp_path / "a")
    parallel = run(
        ProcessEngine(2), tasks[::-1], tmp_path / "b", lambda task, step: steps.append(step.key)
    )
    assert serial.keys() == parallel.keys()
    for task in tasks:
        assert isinstance(serial[task.key], Outcome)
        assert without_cost(task.record(serial[task.key])) == without_cost(
            task.record(parallel[task.key])
        )
    assert sorted(steps) == sorted(2 * [task.key for task in tasks])


@pytest.mark.slow
def test_a_killed_process_fails_only_its_fold(tmp_path):
    tasks = tasks_for(tmp_path, epochs=300)
    tasks = [tasks[0], *tasks_for(tmp_path, pools=["max", "mean"])]
    killed = []

    def kill(task, step):
        if task is tasks[0] and not killed:
            killed.append(task.key)
            (child,) = active_children()
            os.kill(child.pid, signal.SIGKILL)

    ends = run(ProcessEngine(1), tasks, tmp_path / "run", kill)
    assert ends[tasks[0].key].reason.startswith("the process that ran the fold ended by signal 9")
    assert all(isinstance(ends[task.key], Outcome) for task in tasks[1:])
    assert not active_children()


def test_no_process_outlives_an_interruption(tmp_path):
    def interrupt(*_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(ProcessEngine(2), tasks_for(tmp_path, epochs=300), tmp_path / "run", interrupt)
    assert not active_children()


def test_a_failing_fold_does_not_stop_the_others(tmp_path):
    tasks = tasks_for(tmp_path)
    broken = tasks[0].model_copy(update={"data": tmp_path / "nowhere"})
    ends = run(SerialEngine(), [broken, tasks[1]], tmp_path / "run")
    assert isinstance(ends[broken.key], Failure)
    assert isinstance(ends[tasks[1].key], Outcome)
