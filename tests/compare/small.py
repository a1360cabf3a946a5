"""A small dataset, small specs and tasks for tests of comparisons."""

from functools import cache

import torch

from lfds.compare.datasets import load_datasets, prepare_datasets
from lfds.compare.given_splits import find_splits, with_given_folds
from lfds.compare.runner import tasks_of
from lfds.config.comparison import make_spec
from lfds.data.graphset import GraphSet

PER_CLASS = 6


@cache
def graphs(classes=2, per_class=PER_CLASS):
    """Rings of 3 and more nodes; most node labels are the class."""
    generator = torch.Generator().manual_seed(3)
    sizes = [3 + k % 5 for k in range(classes * per_class)]
    edges, labels, start = [], [], 0
    for number, size in enumerate(sizes):
        ring = torch.arange(size)
        forward = torch.stack([ring, (ring + 1) % size]) + start
        edges.append(torch.cat([forward, forward.flip(0)], dim=1))
        noisy = torch.rand(size, generator=generator) < 0.3
        labels.append(torch.where(noisy, 7, number % classes))
        start += size
    return GraphSet.from_arrays(
        sizes,
        torch.cat(edges, dim=1),
        [number % classes for number in range(len(sizes))],
        labels=torch.cat(labels).unsqueeze(1),
        name="rings",
    )


def spec_for(folder, **options):
    path = folder / "rings"
    if not path.exists():
        graphs().save(path)
    small = {"data": [str(path)], "pools": ["max"], "folds": 2, "epochs": 2, "batch_size": 4}
    return make_spec(small | {"options": {"width": 8, "head_width": 8, "slots": 4}} | options)


def tasks_for(folder, **options):
    spec = spec_for(folder, **options)
    datasets = load_datasets(spec, folder)
    given = find_splits(spec, datasets)
    prepared = prepare_datasets(spec, datasets, folder / "run", given=given)
    return tasks_of(with_given_folds(spec, given), prepared)


class RecordingObserver:
    """An observer that keeps what it is called with."""

    def __init__(self):
        self.began, self.steps, self.ended = None, [], []

    def begin(self, tasks, stored, torn):
        self.began = (len(tasks), len(stored), torn)

    def step(self, task, step):
        self.steps.append(step)

    def end(self, task, record):
        self.ended.append(record)


def without_cost(record):
    """Return a record without what differs from run to run: time, memory, process."""
    content = record.model_dump()
    if content["outcome"] is not None:
        for name in ("seconds", "peak_memory", "cold_start"):
            del content["outcome"][name]
    return content
