"""A small dataset, small specs and tasks to try experiments on."""

from functools import cache

import torch

from lfds.compare.datasets import load_sets, make_ready
from lfds.compare.given_splits import find_splits, follow_folds
from lfds.compare.runner import tasks_of
from lfds.config.comparison import make_spec
from lfds.data.graphset import GraphSet

PER_CLASS = 6


@cache
def graphs(classes=2, per_class=PER_CLASS):
    """Rings of 3 and more nodes; the label of the nodes tells the class, mostly."""
    generator = torch.Generator().manual_seed(3)
    sizes = [3 + k % 5 for k in range(classes * per_class)]
    edges, labels, start = [], [], 0
    for number, size in enumerate(sizes):
        ring = torch.arange(size)
        there = torch.stack([ring, (ring + 1) % size]) + start
        edges.append(torch.cat([there, there.flip(0)], dim=1))
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
    told = {"data": [str(path)], "pools": ["max"], "folds": 2, "epochs": 2, "batch_size": 4}
    return make_spec(told | {"options": {"width": 8, "head_width": 8, "slots": 4}} | options)


def tasks_for(folder, **options):
    spec = spec_for(folder, **options)
    sets = load_sets(spec, folder)
    given = find_splits(spec, sets)
    ready = make_ready(spec, sets, folder / "run", given=given)
    return tasks_of(follow_folds(spec, given), ready)


class Silent:
    """A watcher that remembers."""

    def __init__(self):
        self.began, self.steps, self.ended = None, [], []

    def begin(self, tasks, known, torn):
        self.began = (len(tasks), len(known), torn)

    def step(self, task, step):
        self.steps.append(step)

    def end(self, task, record):
        self.ended.append(record)


def timeless(record):
    """Return a record without what is never the same twice: time and memory."""
    content = record.model_dump()
    if content["outcome"] is not None:
        del content["outcome"]["seconds"], content["outcome"]["peak_memory"]
    return content
