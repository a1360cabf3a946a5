"""The maximum over the nodes of every graph by Triton kernels: two launches, and three backward."""

import torch
import triton
import triton.language as tl
from torch import Tensor

from lfds.nn.accel.tiles import first_tiles, num_tiles, tile_size
from lfds.nn.accel.triton_distribute import launch
from lfds.nn.accel.triton_kernels import combine_kernel, load_block, locate

BLOCK_N, MOST_CHANNELS = 32, 128


@triton.jit
def larger(one, other):
    """The larger of two; NaN if one of them is."""
    return tl.where((one != one) | (one > other), one, other)


@triton.jit
def max_kernel(
    x, ptr, first, num_graphs, tile_rows, out, part,
    CHANNELS: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_C: tl.constexpr,
):  # fmt: skip
    """The maximum of one tile: to the result if it is the graph's only tile."""
    tile = tl.program_id(0)
    column = tl.program_id(1) * BLOCK_C + tl.arange(0, BLOCK_C)
    graph, begin, end = locate(first, ptr, tile, num_graphs, tile_rows)
    if begin >= end:
        return
    top = tl.full((BLOCK_C,), float("-inf"), dtype=tl.float32)
    for at in range(begin, end, BLOCK_N):
        row = at + tl.arange(0, BLOCK_N)
        nodes = load_block(x, row, row < end, column, CHANNELS)
        nodes = tl.where((row < end)[:, None], nodes, float("-inf"))
        spoilt = tl.max((nodes != nodes).to(tl.int32), axis=0) > 0
        # A maximum of the hardware passes over NaN: it is put in again.
        top = larger(tl.where(spoilt, float("nan"), tl.max(nodes, axis=0)), top)
    used = column < CHANNELS
    if tl.load(first + graph + 1) - tl.load(first + graph) == 1:
        tl.store(out + graph * CHANNELS + column, top, mask=used)
    else:
        tl.store(part + tile.to(tl.int64) * CHANNELS + column, top, mask=used)


@triton.jit
def combine_max_kernel(first, part, out, CHANNELS: tl.constexpr, BLOCK_C: tl.constexpr):
    """The maximum over the tiles of a graph that does not have just one; 0 where it has none."""
    graph = tl.program_id(0)
    column = tl.program_id(1) * BLOCK_C + tl.arange(0, BLOCK_C)
    begin, end = tl.load(first + graph), tl.load(first + graph + 1)
    used = column < CHANNELS
    if end - begin == 1:
        return
    top = tl.full((BLOCK_C,), float("-inf"), dtype=tl.float32)
    for tile in range(begin, end):
        top = larger(tl.load(part + tile * CHANNELS + column, mask=used, other=0.0), top)
    top = tl.where(end > begin, top, 0.0)
    tl.store(out + graph.to(tl.int64) * CHANNELS + column, top, mask=used)


@triton.jit
def count_kernel(
    x, top, ptr, first, num_graphs, tile_rows, part,
    CHANNELS: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_C: tl.constexpr,
):  # fmt: skip
    """How many nodes of a tile have the maximum of their graph."""
    tile = tl.program_id(0)
    column = tl.program_id(1) * BLOCK_C + tl.arange(0, BLOCK_C)
    graph, begin, end = locate(first, ptr, tile, num_graphs, tile_rows)
    used = column < CHANNELS
    highest = tl.load(top + graph * CHANNELS + column, mask=used, other=0.0).to(tl.float32)
    count = tl.zeros((BLOCK_C,), dtype=tl.float32)
    for at in range(begin, end, BLOCK_N):
        row = at + tl.arange(0, BLOCK_N)
        nodes = load_block(x, row, row < end, column, CHANNELS)
        ties = (nodes == highest[None, :]) & (row < end)[:, None]
        count += tl.sum(ties.to(tl.float32), axis=0)
    tl.store(part + tile.to(tl.int64) * CHANNELS + column, count, mask=used)


@triton.jit
def max_backward_kernel(
    grad, x, top, count, ptr, first, num_graphs, tile_rows, grad_x,
    CHANNELS: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_C: tl.constexpr,
):  # fmt: skip
    """Equal parts of the gradient for all nodes of a tile that have the maximum."""
    tile = tl.program_id(0)
    column = tl.program_id(1) * BLOCK_C + tl.arange(0, BLOCK_C)
    graph, begin, end = locate(first, ptr, tile, num_graphs, tile_rows)
    used = column < CHANNELS
    where = graph * CHANNELS + column
    highest = tl.load(top + where, mask=used, other=0.0).to(tl.float32)
    each = tl.load(grad + where, mask=used, other=0.0).to(tl.float32)
    each = each / tl.maximum(tl.load(count + where, mask=used, other=1.0), 1.0)
    for at in range(begin, end, BLOCK_N):
        row = at + tl.arange(0, BLOCK_N)
        nodes = load_block(x, row, row < end, column, CHANNELS)
        by_x = tl.where(nodes == highest[None, :], each[None, :], 0.0)
        here = grad_x + row[:, None] * CHANNELS + column[None, :]
        tl.store(here, by_x, mask=(row < end)[:, None] & used[None, :])


def _blocks(channels: int) -> tuple[int, int]:
    """Return the channels of a block, and the number of blocks."""
    block = min(MOST_CHANNELS, max(16, triton.next_power_of_2(channels)))
    return block, triton.cdiv(channels, block)


def ragged_max(x: Tensor, ptr: Tensor) -> Tensor:
    """See :func:`lfds.nn.ops.segment.ragged_max`."""
    x, (num_nodes, channels), num_graphs = x.contiguous(), x.shape, ptr.shape[0] - 1
    out = x.new_zeros(num_graphs, channels)
    if x.numel() == 0 or num_graphs == 0:
        return out
    size = tile_size(num_nodes, num_graphs, least=BLOCK_N)
    first, count = first_tiles(ptr, size), num_tiles(num_nodes, num_graphs, size)
    block, num_c = _blocks(channels)
    where = (ptr, first, num_graphs, size)
    part = x.new_empty(count, channels, dtype=torch.float32)
    sizes = {"CHANNELS": channels, "BLOCK_C": block}
    launch(max_kernel, (count, num_c), x, x, *where, out, part, BLOCK_N=BLOCK_N, **sizes)
    launch(combine_max_kernel, (num_graphs, num_c), x, first, part, out, **sizes)
    return out


def ragged_max_backward(grad: Tensor, x: Tensor, ptr: Tensor, top: Tensor) -> Tensor:
    """Return the gradient of the nodes."""
    x, grad, (num_nodes, channels) = x.contiguous(), grad.contiguous(), x.shape
    num_graphs, grad_x = ptr.shape[0] - 1, torch.zeros_like(x)
    if x.numel() == 0 or num_graphs == 0:
        return grad_x
    size = tile_size(num_nodes, num_graphs, least=BLOCK_N)
    first, number = first_tiles(ptr, size), num_tiles(num_nodes, num_graphs, size)
    block, num_c = _blocks(channels)
    where = (ptr, first, num_graphs, size)
    part = x.new_empty(number, 1, channels, dtype=torch.float32)
    count = part.new_empty(num_graphs, 1, channels)
    sizes = {"CHANNELS": channels, "BLOCK_C": block}
    launch(count_kernel, (number, num_c), x, x, top, *where, part, BLOCK_N=BLOCK_N, **sizes)
    launch(
        combine_kernel,
        (num_graphs, 1, num_c),
        x,
        *(ptr, first, part, part, count, count),
        **{"SLOTS": 1, "REDUCTION": "sum", "LEAST": 0.0, "BLOCK_K": 1},
        **{"ALWAYS": True, "WITH_MASS": False},
        **sizes,
    )
    arguments = (grad, x, top, count, *where, grad_x)
    launch(max_backward_kernel, (number, num_c), x, *arguments, BLOCK_N=BLOCK_N, **sizes)
    return grad_x
