"""Random numbers from a stream of one's own, instead of torch's global generator.

The global generator belongs to the whole process: fits in two threads would draw from it in turns,
and no seed could reproduce either. A stream is known to the thread that opened it only.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from typing import Any, final

import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode

from lfds.nn.accel.dispatch import is_traced, only_basic_operations

_NONE: Mapping[str, Any] = {}


@final
class _Stream:
    """The generators of a seed, one for each device."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._generators: dict[torch.device, torch.Generator] = {}

    def on(self, device: torch.device) -> torch.Generator:
        if device not in self._generators:
            self._generators[device] = torch.Generator(device).manual_seed(self._seed)
        return self._generators[device]


_stream: ContextVar[_Stream | None] = ContextVar("lfds_random_stream", default=None)


@contextmanager
def draw_from(seed: int) -> Iterator[None]:
    """Let the modules of lfds draw from the stream of a seed inside the block, in this thread."""
    token = _stream.set(_Stream(seed))
    try:
        yield
    finally:
        _stream.reset(token)


@contextmanager
def initialize_from(seed: int) -> Iterator[None]:
    """Let every operation of torch draw from the stream of a seed, as initial weights are drawn.

    Every operation inside the block takes some microseconds longer.
    """
    with draw_from(seed), draws_of_others():
        yield


@contextmanager
def draws_of_others() -> Iterator[None]:
    """Let modules that are not ours draw from the stream of :func:`draw_from`, if there is one."""
    stream = None if is_traced() else _stream.get()
    with nullcontext() if stream is None else _Redirected(stream):
        yield


def uniform(shape: Sequence[int], device: torch.device) -> Tensor:
    """Draw numbers from 0 to 1 from the stream of :func:`draw_from`; else from torch's own."""
    return torch.rand(*shape, device=device, generator=_generator_for(device))


@final
class Dropout(nn.Dropout):
    """torch's dropout, drawn from the stream of :func:`draw_from`: the same numbers."""

    def forward(self, input: Tensor) -> Tensor:
        """Set values to zero with probability ``p``, and scale the others by ``1 / (1 - p)``."""
        generator = _generator_for(input.device)
        if generator is None or not self.training or self.p in (0, 1):
            return super().forward(input)
        mask = torch.empty_like(input).bernoulli_(1 - self.p, generator=generator)
        return input * mask.div_(1 - self.p)


def _generator_for(device: torch.device) -> torch.Generator | None:
    if is_traced() or only_basic_operations():
        return None
    stream = _stream.get()
    return None if stream is None else stream.on(device)


@final
class _Redirected(TorchDispatchMode):
    """Gives a generator to every operation that draws from the global one, in this thread."""

    def __init__(self, stream: _Stream) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._stream = stream

    def __torch_dispatch__(
        self,
        func: Any,
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        given = kwargs or _NONE
        if torch.Tag.nondeterministic_seeded not in func.tags or given.get("generator") is not None:
            return func(*args, **given)
        operation = _taking_generator(func)
        if operation is None:
            return func(*args, **given)
        tensors = [value for value in args if isinstance(value, Tensor)]
        device = tensors[0].device if tensors else torch.device(given.get("device") or "cpu")
        if device.type == "meta":  # nothing is drawn
            return func(*args, **given)
        return operation(*args, **given, generator=self._stream.on(device))


def _taking_generator(func: Any) -> Any:
    """Return the variant of an operation that takes a generator, or None."""
    packet = func.overloadpacket
    # `uniform_` takes one itself; `rand` has a variant `rand.generator`.
    for name in (func._overloadname, "generator"):
        variant = getattr(packet, name, None)
        if variant is not None and any(a.name == "generator" for a in variant._schema.arguments):
            return variant
    return None
