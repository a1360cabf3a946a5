"""Inference on very large graphs, some rows at a time, so that it needs little memory."""

from collections.abc import Iterator

import torch
from torch import Tensor, nn

from lfds.nn.accel.dispatch import is_traced

LARGE = 1 << 17
"""A batch with more nodes, which one graph has alone, is worked on some rows at a time."""

ROWS_AT_A_TIME = 1 << 15


def is_large(x: Tensor) -> bool:
    """Whether there are so many nodes that memory counts, and no gradient needs the whole."""
    return (
        x.shape[0] > LARGE
        and x.device.type == "cpu"
        and not torch.is_grad_enabled()
        and not is_traced()
    )


def is_observed(*modules: nn.Module | None) -> bool:
    """Whether a hook wants to see what a module computes, which must be the whole then."""
    given = [module for module in modules if module is not None]
    return any(module._forward_hooks or module._forward_pre_hooks for module in given)


def row_chunks(rows: int) -> Iterator[tuple[int, int]]:
    """Yield where some rows at a time begin and end."""
    for start in range(0, rows, ROWS_AT_A_TIME):
        yield start, min(start + ROWS_AT_A_TIME, rows)


def chunks_of(x: Tensor, ptr: Tensor) -> Iterator[tuple[Tensor, Tensor]]:
    """Yield some nodes at a time, and where each graph begins among them."""
    for start, stop in row_chunks(x.shape[0]):
        yield x[start:stop], ptr.clamp(start, stop) - start
