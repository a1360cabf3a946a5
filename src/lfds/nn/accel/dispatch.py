"""How the code is being run: eagerly, traced, exported, transformed, or under autocast."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn


def is_traced() -> bool:
    """Whether torch only records operations, for ``compile`` or ``export``."""
    return torch.compiler.is_compiling()


def only_basic_operations() -> bool:
    """Whether operators of our own cannot be used.

    An ONNX file cannot hold them, and the transforms of ``torch.func`` (``jvp``, ``hessian``, ...)
    cannot see through them; torch has no public name for asking the second.
    """
    return torch.onnx.is_in_onnx_export() or torch._C._are_functorch_transforms_active()


def runs_eagerly(tensor: Tensor) -> bool:
    """Whether ``tensor`` is an ordinary tensor, and operations on it are run at once."""
    ordinary = type(tensor) in (Tensor, nn.Parameter) and not tensor.is_meta
    return ordinary and not is_traced() and not only_basic_operations()


def values_may_be_read(tensor: Tensor) -> bool:
    """Whether looking at the values of ``tensor`` is cheap here, and allowed at all."""
    return tensor.device.type == "cpu" and not is_traced() and not only_basic_operations()


def autocasts(tensor: Tensor) -> bool:
    """Whether autocast would lower the precision of products with ``tensor``."""
    device = tensor.device.type
    return torch.amp.is_autocast_available(device) and torch.is_autocast_enabled(device)


@contextmanager
def own_precision(tensor: Tensor) -> Iterator[None]:
    """Switch autocast off: it would lower the precision of single products inside an operation."""
    if not autocasts(tensor):
        yield
        return
    with torch.autocast(tensor.device.type, enabled=False):
        yield


def working_dtype(x: Tensor) -> torch.dtype:
    """The precision to compute in: float32 for anything below; results are rounded once."""
    return torch.float64 if x.dtype == torch.float64 else torch.float32
