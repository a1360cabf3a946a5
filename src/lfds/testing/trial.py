"""What the laws try a pooling on: some graphs, and an exact copy of the pooling."""

import copy
from collections.abc import Callable, Sequence
from typing import Protocol

import torch
from torch import Tensor, nn

SIZES = (5, 1, 9, 2)


class Pooling(Protocol):
    """Anything that is called like a PyG ``Aggregation``."""

    def __call__(self, x: Tensor, index: Tensor, *, dim_size: int) -> Tensor: ...


def collate(graphs: Sequence[Tensor]) -> tuple[Tensor, Tensor]:
    """Put graphs one after the other: all nodes, and the graph of each."""
    sizes = torch.tensor([len(graph) for graph in graphs])
    return torch.cat(list(graphs)), torch.repeat_interleave(sizes)


def draw_graphs(channels: int, sizes: Sequence[int] = SIZES, *, seed: int = 0) -> list[Tensor]:
    """Draw the features of graphs of the given sizes, in float64."""
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(size, channels, dtype=torch.float64, generator=generator) for size in sizes]


def after(words: str) -> Callable[[str], str]:
    """Put our words before those of ``torch.testing.assert_close``."""
    return lambda details: f"{words}\n{details}"


def graphs_for(
    pool: Pooling, graphs: Sequence[Tensor] | None, channels: int | None, seed: int
) -> list[Tensor]:
    """The graphs given, in float64, or some that fit the pooling."""
    if graphs is not None:
        return [graph.double() for graph in graphs]
    for name in ("in_channels", "channels"):
        channels = getattr(pool, name, None) if channels is None else channels
    if channels is None:
        raise ValueError(
            f"the width of {type(pool).__name__} is not known; pass channels= or graphs="
        )
    return draw_graphs(channels, seed=seed)


def ready(pool: Pooling, channels: int) -> Pooling:
    """A copy in float64 and evaluation mode, no longer quite as it was born.

    At birth many a parameter is exactly zero or one, and running statistics are trivial: a wrong
    pooling could hide there, and a right one has kinks there (slots that tie) at which no gradient
    can be checked.
    """
    if not isinstance(pool, nn.Module):
        return pool
    trial = copy.deepcopy(pool).double().train()
    generator = torch.Generator().manual_seed(1)
    x, index = collate(draw_graphs(channels, (40, 30), seed=1))
    # Dropout draws from torch's own generator: on a fork of it, the caller's is left alone.
    with torch.no_grad(), torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        for parameter in trial.parameters():
            nudge = torch.randn(parameter.shape, dtype=torch.float64, generator=generator)
            parameter.add_(0.1 * nudge)
        trial(x, index, dim_size=2)
    return trial.eval()
