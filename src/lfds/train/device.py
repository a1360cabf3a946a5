"""Where and how precisely a network runs: devices and their backends, autocast, graphs there."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import fields, replace
from math import prod

import numpy as np
import torch
from torch import Tensor

from lfds.config.messages import SpecError
from lfds.config.training import Precision
from lfds.data.batch import Batch, as_rows
from lfds.data.graphset import GraphSet

CPU = torch.device("cpu")

# Of the free memory of a device, a set of graphs may take this part; the rest is for training.
PART_FOR_GRAPHS = 0.25

# What networks are trained on.
_USED = ("x", "ptr", "edge_ptr", "edge_dst", "edge_x", "y")


def resolve_device(name: str) -> torch.device:
    """Return a device by name; ``"auto"`` is the accelerator of this machine, or else the CPU.

    >>> resolve_device("cpu")
    device(type='cpu')
    """
    if name == "auto":
        found = torch.accelerator.current_accelerator() if has_accelerator() else None
        return CPU if found is None else torch.device(found.type)
    try:
        device = torch.device(name)
    except RuntimeError:
        raise SpecError(
            f'device: no device is called {name!r}; use device="auto", "cpu", "cuda" or "mps"'
        ) from None
    if device.type != "cpu" and not _is_available(device):
        here = resolve_device("auto").type
        raise SpecError(f'device: there is no {name!r} on this machine; use device="{here}"')
    return device


def backend_of(device: torch.device | str = "cpu") -> str:
    """Return what trainings on a device are computed by, as records and checkpoints name it.

    The same backend gives the same bits; with another one sums are rounded in another order, which
    training amplifies from epoch to epoch.
    """
    where = torch.device(device)
    if where.type == "cuda":
        unit = torch.cuda.get_device_name(where)
    elif where.type == "cpu":
        unit = torch.backends.cpu.get_cpu_capability()
    else:
        unit = ""
    return " ".join(part for part in ("torch", torch.__version__, where.type, unit) if part)


def has_accelerator() -> bool:
    """Whether torch can use an accelerator of this machine."""
    return torch.accelerator.is_available()


def _is_available(device: torch.device) -> bool:
    if not has_accelerator() or device.type == "meta":
        return False
    found = torch.accelerator.current_accelerator()
    same = found is not None and found.type == device.type
    return same and (device.index or 0) < torch.accelerator.device_count()


def autocast(device: torch.device, precision: Precision) -> AbstractContextManager[object]:
    """Return the context in which a network runs forward in a precision."""
    if precision == "32":
        return nullcontext()
    return torch.autocast(device.type, dtype=torch.bfloat16)


def to_device(batch: Batch, device: torch.device) -> Batch:
    """Return a batch on a device; the host does not wait for the copy where it need not."""
    if device.type == "cpu":
        return batch
    parts = {entry.name: getattr(batch, entry.name) for entry in fields(batch)}
    if device.type == "cuda":  # only pinned memory is copied while the host goes on
        parts = {name: part.pin_memory() for name, part in parts.items()}
    return replace(
        batch, **{name: part.to(device, non_blocking=True) for name, part in parts.items()}
    )


class GraphsOnDevice:
    """A set of graphs on a device, from which batches are assembled there.

    Only numbers of graphs go to the device for a batch. All shapes are known from pointers that
    stay on the host, so that the host does not wait.

    Args:
        graphs: A set whose tensors fit into the memory of the device.
        device: Where they go.
    """

    def __init__(self, graphs: GraphSet, device: torch.device) -> None:
        self._starts, self._edge_starts = graphs.ptr.numpy(), graphs.edge_ptr.numpy()
        self._x, self._ptr, self._edge_ptr, self._edge_dst, self._edge_x, self._y = (
            getattr(graphs, name).to(device) for name in _USED
        )
        self._length, self.device = len(graphs), device

    def __len__(self) -> int:
        return self._length

    def batch(self, graphs: Tensor) -> Batch:
        """Return a batch of these graphs, without labels and attributes of edges.

        Networks see their features ``edge_x`` only, which are made of both.
        """
        numbers = np.atleast_1d(np.asarray(as_rows(graphs, self._length)))
        first, last = self._starts.take(numbers), self._starts.take(numbers + 1)
        num_nodes = int((last - first).sum())
        num_edges = int((self._edge_starts.take(last) - self._edge_starts.take(first)).sum())
        rows = torch.from_numpy(numbers).to(self.device, non_blocking=True)
        begin = self._ptr[rows]
        ptr = _pointers(self._ptr[rows + 1] - begin)
        # The row of the set that each row of the batch is; likewise for edges.
        nodes = _ranges(begin, ptr, num_nodes)
        first_edge = self._edge_ptr[nodes]
        edge_ptr = _pointers(self._edge_ptr[nodes + 1] - first_edge)
        edges = _ranges(first_edge, edge_ptr, num_edges)
        # Numbers of nodes are local to a graph, which begins somewhere else in the batch.
        shift = _repeated(ptr[:-1], ptr, num_nodes)
        sources = self._edge_dst[edges] + _repeated(shift, edge_ptr, num_edges)
        nothing = self._x.new_empty(num_edges, 0)
        return Batch(
            x=self._x[nodes],
            ptr=ptr,
            edge_ptr=edge_ptr,
            edge_dst=sources,
            y=self._y[rows],
            edge_attributes=nothing,
            edge_labels=nothing,
            edge_x=self._edge_x[edges] if self._edge_x.shape[1] else nothing,
        )


def _pointers(counts: Tensor) -> Tensor:
    return torch.nn.functional.pad(counts.cumsum(0), (1, 0))


def _repeated(values: Tensor, ptr: Tensor, length: int) -> Tensor:
    return torch.repeat_interleave(values, ptr.diff(), output_size=length)


def _ranges(starts: Tensor, ptr: Tensor, length: int) -> Tensor:
    return _repeated(starts - ptr[:-1], ptr, length) + torch.arange(length, device=ptr.device)


class _Moving:
    """A set too large for a device: every batch is copied there."""

    def __init__(self, graphs: GraphSet, device: torch.device) -> None:
        self._graphs, self._device = graphs, device

    def __len__(self) -> int:
        return len(self._graphs)

    def batch(self, graphs: Tensor) -> Batch:
        return to_device(self._graphs.batch(graphs), self._device)


Source = GraphSet | GraphsOnDevice | _Moving
"""Anything that batches are taken from."""


def on_device(graphs: GraphSet, device: torch.device) -> Source:
    """Return graphs whose batches are on a device: the whole set is there, if it fits."""
    if device.type == "cpu":
        return graphs
    fits = sum(_sizes(graphs)) <= PART_FOR_GRAPHS * _free_memory(device)
    return GraphsOnDevice(graphs.in_memory(), device) if fits else _Moving(graphs, device)


def _sizes(graphs: GraphSet) -> Iterator[int]:
    none = graphs[0:0].in_memory()  # a set in parts is not read to know its size
    for name in _USED:
        tensor: Tensor = getattr(none, name)
        yield prod(graphs.shape_of(name)) * tensor.element_size()


def _free_memory(device: torch.device) -> float:
    """Return the free memory of a device; 4 GB where torch cannot tell."""
    if device.type == "cuda":
        return float(torch.cuda.mem_get_info(device)[0])
    return 4e9
