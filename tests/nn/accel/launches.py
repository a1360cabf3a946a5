"""Counts what a device would be asked to do, on the CPU: operations, and reads by the host."""

from collections import Counter
from contextlib import ExitStack, contextmanager
from unittest import mock

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from lfds.nn.accel.dispatch import use_backend
from lfds.nn.ops import distribute_device, segment_matmul

# Operators whose result, or the shape of it, the host has to wait for.
READS = {
    "aten::_local_scalar_dense",
    "aten::equal",
    "aten::is_nonzero",
    "aten::masked_select",
    "aten::nonzero",
    "aten::repeat_interleave.Tensor",
    "aten::_unique2",
    "aten::unique_consecutive",
}
MADE_OF = {
    "lfds::distribute_on_device": distribute_device._forward,
    "lfds::distribute_on_device_backward": distribute_device._run_backward,
    "lfds::weighted_sums": segment_matmul._weighted_sums,
    "lfds::weighted_sums_backward": segment_matmul._weighted_sums_backward,
}
# Views and allocations launch nothing.
FREE = {"aten::empty", "aten::new_empty", "aten::detach", "aten::alias", "aten::lift_fresh"}


class Launches(TorchDispatchMode):
    """Counts while active; the CPU stands in for a device inside of :func:`counting`."""

    def __init__(self):
        super().__init__()
        self.operations, self.reads = Counter(), Counter()

    @property
    def count(self):
        return sum(self.operations.values())

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        name = func._schema.name
        kwargs = kwargs or {}
        if name in MADE_OF:  # what an operator of our own is made of counts
            with self:
                return MADE_OF[name](*args, **kwargs)
        full = f"{name}.{func._overloadname}" if func._overloadname else name
        full = full.removesuffix(".default")
        if name == "aten::index" and any(
            one is not None and one.dtype == torch.bool for one in args[1]
        ):
            self.reads["aten::index by a mask"] += 1
        if full in READS or name in READS:
            waits = full != "aten::repeat_interleave.Tensor" or kwargs.get("output_size") is None
            self.reads[full] += waits
        if not func.is_view and name not in FREE:
            self.operations[full] += 1
        return func(*args, **kwargs)


@contextmanager
def counting():
    """Let the CPU stand in for a device, and count what it is asked to do."""
    with use_backend("batched"), Launches() as launches, ExitStack() as patches:
        # On the CPU these read memory without an operator.
        for name in ("tolist", "numpy", "__array__"):
            patches.enter_context(mock.patch.object(torch.Tensor, name, counted(launches, name)))
        yield launches


def counted(launches, name):
    plain = getattr(torch.Tensor, name)

    def read(tensor, *args, **kwargs):
        launches.reads[name] += 1
        return plain(tensor, *args, **kwargs)

    return read
