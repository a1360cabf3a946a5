"""``distribute`` by fused Triton kernels: which are launched, with which blocks and buffers.

Forward: one launch for the tiles, and one that adds up the tiles of large graphs and writes zeros
for empty ones. Backward: one launch for all gradients, and one that adds up the parts of the
anchors' gradient. Shares never leave the chip.

Where slots or channels do not fit into one block, logits are computed once more: a launch before
finds the normalization of each node, and the backward pass has one for nodes and one for anchors.
"""

from typing import Any, NamedTuple

import torch
import triton
from torch import Tensor

from lfds.nn.accel import triton_kernels as kernels
from lfds.nn.accel.tiles import first_tiles, num_tiles, tile_size

LEAST_MASS = 1e-12

# Largest block that one program holds in registers; more slots or channels take several.
MOST_SLOTS, MOST_CHANNELS = 64, 64

# Programs that add up the gradient of anchors of all graphs: their parts are small, and enough to
# fill the largest accelerators.
PROGRAMS = 512


# Suits blocks of 64 by 64. Products and sums may be fused, whatever triton's default is.
OPTIONS = {"num_warps": 4, "num_stages": 2, "enable_fp_fusion": True}


class Blocks(NamedTuple):
    """How much of a problem one program works on at a time."""

    BLOCK_N: int
    BLOCK_K: int
    BLOCK_C: int


class Problem(NamedTuple):
    """A batch cut into tiles, and everything that its kernels are compiled for."""

    tiles: int
    where: tuple[Tensor, Tensor, int, int]
    blocks: Blocks
    num_k: int
    num_c: int
    constants: dict[str, Any]

    @property
    def in_one_block(self) -> bool:
        """Whether all slots and channels fit into one block."""
        return self.num_k == 1 and self.num_c == 1


def blocks_for(slots: int, channels: int) -> Blocks:
    """Return the blocks for a number of slots and channels; products need at least 16."""
    fitting = [max(16, triton.next_power_of_2(width)) for width in (slots, channels)]
    return Blocks(32, min(fitting[0], MOST_SLOTS), min(fitting[1], MOST_CHANNELS))


def precision_for(x: Tensor) -> str:
    """Return how float32 operands are multiplied.

    Three products of TF32 have nearly the precision of float32. One has more than float16 and
    bfloat16, in which results are then rounded; for float32 torch's own setting decides.
    """
    if torch.version.hip is not None:
        return "ieee"
    low = x.dtype != torch.float32
    return "tf32" if low or torch.get_float32_matmul_precision() != "highest" else "tf32x3"


def _problem(x: Tensor, anchors: Tensor, ptr: Tensor, reduction: str) -> Problem:
    num_graphs, (slots, channels) = ptr.shape[0] - 1, anchors.shape[-2:]
    blocks = blocks_for(slots, channels)
    size = tile_size(x.shape[0], num_graphs, least=blocks.BLOCK_N)
    constants = {
        "ANCHORS_APART": slots * channels if anchors.dim() == 3 else 0,
        "SLOTS": slots,
        "CHANNELS": channels,
        "REDUCTION": reduction,
        "LEAST": LEAST_MASS,
        "PRECISION": precision_for(x),
        **blocks._asdict(),
    }
    num_k, num_c = triton.cdiv(slots, blocks.BLOCK_K), triton.cdiv(channels, blocks.BLOCK_C)
    tiles = num_tiles(x.shape[0], num_graphs, size)
    where = (ptr, first_tiles(ptr, size), num_graphs, size)
    return Problem(tiles, where, blocks, num_k, num_c, constants)


def launch(kernel: Any, grid: tuple[int, ...], like: Tensor, *given: Any, **constants: Any) -> None:
    """Launch a kernel on the device of ``like``."""
    if like.is_cuda:
        with torch.cuda.device(like.device):
            kernel[grid](*given, **constants, **OPTIONS)
    else:  # triton's interpreter
        kernel[grid](*given, **constants)


def place(
    x: Tensor, anchors: Tensor, ptr: Tensor, weight: Tensor | None, reduction: str
) -> tuple[Tensor, Tensor]:
    """Return the slots and masses of every graph; anchors are float32."""
    x, anchors, weight = x.contiguous(), anchors.contiguous(), _packed(weight)
    shape = (ptr.shape[0] - 1, *anchors.shape[-2:])
    slots = x.new_empty(shape)
    mass = anchors.new_empty(shape[:2])
    if 0 in shape or x.shape[0] == 0:
        return slots.zero_(), mass.zero_()
    problem = _problem(x, anchors, ptr, reduction)
    log_sums = _log_sums(x, anchors, problem)
    part = anchors.new_empty(problem.tiles, *shape[1:])
    part_mass = anchors.new_empty(part.shape[:2])
    results = (slots, mass, part, part_mass)
    launch(
        kernels.place_kernel,
        (problem.tiles, problem.num_k, problem.num_c),
        x,
        *(x, anchors, x if weight is None else weight, log_sums, *problem.where, *results),
        WEIGHTED=weight is not None,
        ALL_SLOTS=problem.num_k == 1,
        **problem.constants,
    )
    _combine(problem, (part, part_mass), (slots, mass), reduction)
    return slots, mass


def _packed(tensor: Tensor | None) -> Tensor | None:
    return None if tensor is None else tensor.contiguous()


def _log_sums(x: Tensor, anchors: Tensor, problem: Problem) -> Tensor:
    """Return the log-sum-exp of every node, where slots take several blocks."""
    if problem.num_k == 1:
        return anchors
    found = anchors.new_empty(x.shape[0])
    launch(
        kernels.statistics_kernel,
        (problem.tiles,),
        x,
        *(x, anchors, x, x, x, x, *problem.where, found, found),
        BACKWARD=False,
        BY_MASS=False,
        **problem.constants,
    )
    return found


def _combine(
    problem: Problem,
    parts: tuple[Tensor, Tensor],
    results: tuple[Tensor, Tensor],
    reduction: str | None,
) -> None:
    """Add up parts of tiles by graph; with a reduction, only where a graph has not just one."""
    names = ("SLOTS", "CHANNELS", "LEAST", "BLOCK_K", "BLOCK_C")
    ptr, first, num_graphs, _ = problem.where
    launch(
        kernels.combine_kernel,
        (num_graphs, problem.num_k, problem.num_c),
        parts[0],
        *(ptr, first, *parts, *results),
        REDUCTION=reduction or "sum",
        ALWAYS=reduction is None,
        WITH_MASS=reduction is not None,
        **{name: problem.constants[name] for name in names},
    )


def place_backward(
    grad: Tensor,
    grad_mass: Tensor | None,
    x: Tensor,
    anchors: Tensor,
    ptr: Tensor,
    weight: Tensor | None,
    slots: Tensor,
    mass: Tensor,
    reduction: str,
) -> tuple[Tensor, Tensor, Tensor]:
    """Return the gradients of nodes, anchors and weights."""
    x, anchors, weight = x.contiguous(), anchors.contiguous(), _packed(weight)
    grad = grad.contiguous()
    grad_x, grad_weight = torch.empty_like(x), anchors.new_empty(0 if weight is None else len(x))
    if grad.numel() == 0 or x.shape[0] == 0:
        return grad_x.zero_(), torch.zeros_like(anchors), grad_weight.zero_()
    problem = _problem(x, anchors, ptr, reduction)
    # A gradient of anchors per graph has a part for every tile.
    per_graph, tiles = anchors.dim() == 3, problem.tiles
    each = 1 if per_graph else triton.cdiv(tiles, PROGRAMS)
    part = anchors.new_empty(triton.cdiv(tiles, each), *anchors.shape[-2:])
    by_mass = grad_mass is not None
    given = (grad, x if grad_mass is None else grad_mass.contiguous(), slots, mass)
    where = problem.where
    constants = {"BY_MASS": by_mass, **problem.constants}
    log_sums = inner = x
    if not problem.in_one_block:
        log_sums = anchors.new_empty(x.shape[0])
        # The gradient of a weight is what shares and their gradients add up to.
        inner = torch.empty_like(log_sums) if weight is None else grad_weight
        found = (log_sums, inner)
        launch(
            kernels.statistics_kernel,
            (tiles,),
            x,
            *(x, anchors, *given, *where, *found),
            BACKWARD=True,
            **constants,
        )
    constants["WEIGHTED"] = weight is not None
    common = (x, anchors, x if weight is None else weight, *given, *where, log_sums, inner)
    if problem.in_one_block:
        arguments = (*common, grad_x, grad_weight, part, tiles, each)
        launch(kernels.backward_kernel, part.shape[:1], x, *arguments, **constants)
    else:
        grid = (part.shape[0], problem.num_k, problem.num_c)
        launch(
            kernels.nodes_backward_kernel, (tiles, problem.num_c), x, *common, grad_x, **constants
        )
        launch(kernels.anchors_backward_kernel, grid, x, *common, part, tiles, each, **constants)
    if not per_graph:
        return grad_x, part.sum(dim=0), grad_weight
    grad_anchors = torch.empty_like(anchors)
    _combine(problem, (part, part), (grad_anchors, grad_anchors), None)
    return grad_x, grad_anchors, grad_weight
