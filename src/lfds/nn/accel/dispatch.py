"""How the code is being run, and which backend runs it: the only place that decides either.

Backends of the ragged operations, by the device of their input:

- ``"cpu"``: plain torch, tuned for the CPU (:mod:`lfds.nn.ops`);
- ``"triton"``: fused kernels, on CUDA and ROCm where ``triton`` is installed;
- ``"batched"``: torch operations over all graphs at once, on any other device.
"""

import importlib.util
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

import torch
from torch import Tensor, nn

Backend = Literal["cpu", "triton", "batched"]

HAS_TRITON = importlib.util.find_spec("triton") is not None

# Not context variables: backward passes on accelerators run in a thread of torch's own.
_forced: Backend | None = None
_checks = False


def backend_for(x: Tensor) -> Backend:
    """The backend that computes with ``x``."""
    if _forced is not None:
        return _forced
    if x.device.type in ("cpu", "meta"):
        return "cpu"
    # Products of the kernels accumulate in float32: float64 would lose half of its digits.
    fused = x.device.type == "cuda" and x.dtype != torch.float64 and HAS_TRITON
    return "triton" if fused else "batched"


def is_accelerated(x: Tensor) -> bool:
    """Whether ``x`` is on a device that a read of values, or a loop over graphs, holds up."""
    return backend_for(x) != "cpu"


@contextmanager
def use_backend(backend: Backend) -> Iterator[None]:
    """Run everything inside on a backend, whatever the device: for tests and measurements.

    ``"batched"`` runs on every device. ``"triton"`` runs on the CPU in triton's interpreter, that
    is with ``TRITON_INTERPRET=1`` set before ``triton`` is imported.
    """
    global _forced
    before, _forced = _forced, backend
    try:
        yield
    finally:
        _forced = before


@contextmanager
def check_values() -> Iterator[None]:
    """Check values on accelerators too, as on the CPU.

    Indices out of range, and infinite or NaN features, are found by reading values, for which the
    host has to wait for an accelerator; there they are not looked for otherwise.
    """
    global _checks
    before, _checks = _checks, True
    try:
        yield
    finally:
        _checks = before


def is_traced() -> bool:
    """Whether torch only records operations, for ``compile`` or ``export``."""
    return torch.compiler.is_compiling()


def is_exported() -> bool:
    """Whether torch records operations for ``torch.export``, which cannot leave a graph.

    Code that ``torch.compile`` sees is told that it is exported, up to torch 2.11.
    """
    return torch.compiler.is_exporting() and not torch.compiler.is_dynamo_compiling()


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
    """Whether looking at the values of ``tensor`` is cheap here or requested, and allowed."""
    if is_traced() or only_basic_operations() or tensor.is_meta:
        return False
    return _checks or not is_accelerated(tensor)


# Asked once: torch 2.10 does not compile the question.
_AUTOCAST_DEVICES = frozenset(
    device
    for device in ("cpu", "cuda", "mps", "xpu", "hpu", "xla", "mtia", "privateuseone")
    if torch.amp.is_autocast_available(device)
)


def autocasts(tensor: Tensor) -> bool:
    """Whether autocast would lower the precision of products with ``tensor``."""
    device = tensor.device.type
    return device in _AUTOCAST_DEVICES and torch.is_autocast_enabled(device)


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
