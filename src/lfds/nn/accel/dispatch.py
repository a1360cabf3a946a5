"""How the code is being run: eagerly, traced, exported, transformed, or under autocast."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn

from lfds.nn import accel

# Values up to which several threads would hardly share a pass between them.
LITTLE = 2**18


def is_traced() -> bool:
    """Whether torch is only recording what would be done, for ``compile`` or ``export``."""
    return torch.compiler.is_compiling()


def only_basic_operations() -> bool:
    """Whether operators of our own cannot be used.

    An ONNX file cannot hold them, and the transforms of ``torch.func`` (``jvp``, ``hessian``, ...)
    cannot see through them; torch has no public name for asking the second.
    """
    return torch.onnx.is_in_onnx_export() or torch._C._are_functorch_transforms_active()


def runs_eagerly(tensor: Tensor) -> bool:
    """Whether ``tensor`` is an ordinary one, and what is done with it is done at once."""
    ordinary = type(tensor) in (Tensor, nn.Parameter) and not tensor.is_meta
    return ordinary and not is_traced() and not only_basic_operations()


def runs_natively(tensor: Tensor) -> bool:
    """Whether loops over ``tensor`` are left to :mod:`lfds.nn.accel`, which works in one thread.

    torch shares large work out among its threads where it has several.
    """
    little = tensor.numel() <= LITTLE or torch.get_num_threads() == 1
    return little and has_kernels_for(tensor)


def has_kernels_for(tensor: Tensor) -> bool:
    """Whether :mod:`lfds.nn.accel` is there, and works on such values."""
    return (
        accel.numba_installed()
        and tensor.device.type == "cpu"
        and tensor.dtype in (torch.float32, torch.float64)
    )


def values_may_be_read(tensor: Tensor) -> bool:
    """Whether looking at the values of ``tensor`` is cheap here, and allowed at all."""
    return tensor.device.type == "cpu" and not is_traced() and not only_basic_operations()


def autocasts(tensor: Tensor) -> bool:
    """Whether autocast would lower the precision of products with ``tensor``."""
    device = tensor.device.type
    return torch.amp.is_autocast_available(device) and torch.is_autocast_enabled(device)


@contextmanager
def own_precision(tensor: Tensor) -> Iterator[None]:
    """Keep autocast out: it would lower the precision of single products in the middle."""
    if not autocasts(tensor):
        yield
        return
    with torch.autocast(tensor.device.type, enabled=False):
        yield


def working_dtype(x: Tensor) -> torch.dtype:
    """The precision to compute in: float32 for anything below, and rounded once at the end."""
    return torch.float64 if x.dtype == torch.float64 else torch.float32
