"""Targets as classes or as numbers, whatever a file wrote them as."""

import numpy as np
import torch

from lfds.config.messages import first_of
from lfds.data.errors import DataError, TaskError, quoted
from lfds.data.graphset import GraphSet
from lfds.data.readers.arrays import targets_from
from lfds.data.readers.tables import Task


def as_task(graphs: GraphSet, task: Task) -> GraphSet:
    """Return the graphs with targets for a task; ``auto`` leaves them as they are.

    Args:
        graphs: Their classes have to be numbers for regression, and their numbers whole ones for
            classification.
        task: What the targets are used as.

    >>> graphs = GraphSet.from_arrays([1, 1], [[], []], [0.0, 1.0])
    >>> as_task(graphs, "classification").classes
    (0, 1)
    """
    if (
        task == "auto"
        or not graphs.has_targets
        or bool(graphs.classes) == (task == "classification")
    ):
        return graphs
    return _as_classes(graphs) if task == "classification" else _as_numbers(graphs)


def _as_numbers(graphs: GraphSet) -> GraphSet:
    names = np.array(graphs.classes)
    if names.dtype.kind not in "iuf":
        name = quoted(str(names[0]))
        problem = f"regression needs numbers, and the targets are names such as {name}"
        raise TaskError(problem, found=name, source="task")
    values = torch.from_numpy(names.astype(np.float32))[graphs.y]
    if graphs.y.ndim == 2:
        values[~graphs.known_targets] = torch.nan
    return graphs.with_targets(values, ())


def _as_classes(graphs: GraphSet) -> GraphSet:
    known = graphs.y[graphs.known_targets.reshape(graphs.y.shape)]
    broken = known[known != known.round()]
    if len(broken):
        found = f"{broken[0].item():g}"
        problem = f"classes need names or whole numbers, and a target is {found}"
        raise TaskError(problem, found=found, source="task")
    if graphs.y.ndim == 1:
        y, classes = targets_from(known.numpy().astype(np.int64), len(graphs))
        return graphs.with_targets(y, classes)
    classes = tuple(int(one) for one in known.unique().tolist())
    if len(classes) > 2:
        raise DataError(
            f"several targets need the same two classes, not {len(classes)}: {first_of(classes)}; "
            "leave it out for numbers",
            source="task",
        )
    indices = torch.bucketize(graphs.y, torch.tensor(classes, dtype=torch.float32))
    return graphs.with_targets(torch.where(graphs.known_targets, indices, -1), classes)
