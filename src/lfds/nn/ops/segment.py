"""Maximum, sum and mean over the nodes of every graph; zero for a graph without nodes."""

import torch
from jaxtyping import Float, Int
from torch import Tensor

from lfds.nn.accel.dispatch import working_dtype
from lfds.nn.ops.ragged import index_from_ptr
from lfds.nn.ops.segment_matmul import weighted_sums


def ragged_max(
    x: Float[Tensor, "nodes channels"], ptr: Int[Tensor, "boundaries"]
) -> Float[Tensor, "boundaries-1 channels"]:
    r"""Take the maximum over the nodes of every graph.

    .. math::
        m_{gc} = \max_{i \in g} x_{ic}

    Nodes that tie get equal parts of the gradient, so that it does not depend on their order.
    """
    # Not `segment_reduce`, whose negative gradients are not divided among ties (torch 2.13). Not in
    # low precision, in which ties cannot be counted.
    rows = x.to(working_dtype(x))
    graph = index_from_ptr(ptr, x.shape[0])[:, None].expand_as(x)
    lowest = rows.new_full((ptr.shape[0] - 1, x.shape[1]), -torch.inf)
    largest = lowest.scatter_reduce(0, graph, rows, "amax")
    return torch.where((ptr.diff() > 0)[:, None], largest, 0.0).to(x.dtype)


def ragged_sum(
    x: Float[Tensor, "nodes channels"], ptr: Int[Tensor, "boundaries"]
) -> Float[Tensor, "boundaries-1 channels"]:
    """Sum the nodes of every graph."""
    return weighted_sums(x.new_ones(x.shape[0], 1), x, ptr)[:, 0]


def ragged_mean(
    x: Float[Tensor, "nodes channels"], ptr: Int[Tensor, "boundaries"]
) -> Float[Tensor, "boundaries-1 channels"]:
    """Average the nodes of every graph."""
    return ragged_sum(x, ptr) / ptr.diff().clamp(min=1)[:, None]
