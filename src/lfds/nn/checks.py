"""What may be handed to a pooling, and the words for what may not.

Shapes and dtypes are always checked.  The *values* of ``index`` and ``ptr`` are checked in eager
mode on the CPU, where looking at them costs a fraction of a percent; on an accelerator a look would
stall the device, and under ``torch.compile`` or ``torch.export`` it would break the graph.
Features are never scanned in advance: a value that is not finite turns its graph's first pooled
number into NaN, so one number per graph is looked at (see :func:`check_finite`).
Whoever wants everything checked on any device calls :func:`check_batch`.
"""

import torch
from torch import Tensor

INTEGERS = (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8)


def values_may_be_read(tensor: Tensor) -> bool:
    """Whether looking at the values of ``tensor`` is cheap here, and allowed at all."""
    return tensor.device.type == "cpu" and not torch.compiler.is_compiling()


def check_features(x: Tensor, channels: int, dim: int = -2) -> None:
    """``x`` is a floating-point matrix with one row per node and ``channels`` columns."""
    if not isinstance(x, Tensor):
        raise TypeError(f"x must be a tensor [nodes, channels], got {type(x).__name__}")
    if x.dim() != 2:
        raise ValueError(
            f"x must have two dimensions [nodes, channels], got {list(x.shape)}; "
            "put all nodes of all graphs in one matrix and say with index or ptr whose they are"
        )
    if dim not in (0, -2):
        raise ValueError(f"dim must be the node dimension of x, 0 or -2, got {dim}; transpose x")
    if not x.is_floating_point():
        raise TypeError(f"x must be of a floating-point dtype, got {x.dtype}; convert: x.float()")
    if x.shape[1] != channels:
        raise ValueError(
            f"x must have {channels} channels, got {x.shape[1]} (shape {list(x.shape)}); "
            f"build the pooling with channels={x.shape[1]} or project x to {channels}"
        )


def check_index(index: Tensor, num_nodes: int, num_graphs: int | None) -> None:
    """``index`` names the graph of every node, from 0 to ``num_graphs - 1``, in any order."""
    _check_integer_vector("index", index)
    if index.shape[0] != num_nodes:
        raise ValueError(
            f"index must name a graph for each of the {num_nodes} rows of x, "
            f"got {index.shape[0]} entries"
        )
    if index.shape[0] == 0 or not values_may_be_read(index):
        return
    check_index_values(index, num_graphs)


def check_index_values(index: Tensor, num_graphs: int | None) -> None:
    """The half of :func:`check_index` that reads the values."""
    smallest, largest = (int(bound) for bound in index.aminmax())
    if smallest < 0:
        node = int((index < 0).nonzero()[0])
        raise ValueError(
            f"index must not be negative, got {int(index[node])} for node {node}; "
            "drop nodes that belong to no graph"
        )
    if num_graphs is not None and largest >= num_graphs:
        node = int((index >= num_graphs).nonzero()[0])
        raise ValueError(
            f"index must be below dim_size={num_graphs}, got {int(index[node])} for node {node}; "
            f"pass dim_size={largest + 1} or more"
        )


def check_ptr(ptr: Tensor, num_nodes: int, num_graphs: int | None) -> None:
    """``ptr`` starts at 0, never goes down, and ends at the number of nodes."""
    _check_integer_vector("ptr", ptr)
    if ptr.shape[0] == 0:
        raise ValueError("ptr must hold one entry more than there are graphs, got none; use [0]")
    if num_graphs is not None and ptr.shape[0] != num_graphs + 1:
        raise ValueError(
            f"ptr must hold dim_size + 1 = {num_graphs + 1} entries, got {ptr.shape[0]}; "
            "leave dim_size out, ptr tells it"
        )
    if values_may_be_read(ptr):
        check_ptr_values(ptr, num_nodes)


def check_ptr_values(ptr: Tensor, num_nodes: int) -> None:
    """The half of :func:`check_ptr` that reads the values."""
    if int(ptr[0]) != 0:
        raise ValueError(
            f"ptr must start at 0, got {int(ptr[0])}; prepend a zero to the cumulated sizes"
        )
    falls = (ptr[1:] < ptr[:-1]).nonzero()
    if falls.numel():
        graph = int(falls[0])
        raise ValueError(
            f"ptr must not go down, got {int(ptr[graph])} then {int(ptr[graph + 1])} "
            f"at graph {graph}; it is the cumulated sum of the graph sizes"
        )
    if int(ptr[-1]) != num_nodes:
        raise ValueError(
            f"ptr must end at the number of rows of x, {num_nodes}, got {int(ptr[-1])}; "
            "x and ptr are not of the same batch"
        )


def check_agreement(index: Tensor, ptr: Tensor) -> None:
    """Where both are given, ``index`` must say what ``ptr`` says."""
    if not values_may_be_read(index):
        return
    expected = torch.repeat_interleave(ptr.diff())
    differs = (index != expected).nonzero()
    if differs.numel():
        node = int(differs[0])
        raise ValueError(
            f"index and ptr must agree, but node {node} is in graph {int(index[node])} by index "
            f"and in graph {int(expected[node])} by ptr; pass only one of them"
        )


def check_anchors(x: Tensor, anchors: Tensor, ptr: Tensor) -> None:
    """``anchors`` is [slots, channels], or [graphs, slots, channels], of the dtype of ``x``."""
    if anchors.dim() not in (2, 3) or anchors.shape[-1] != x.shape[1]:
        raise ValueError(
            f"anchors must be [slots, {x.shape[1]}] or [graphs, slots, {x.shape[1]}] to meet "
            f"x of shape {list(x.shape)}, got {list(anchors.shape)}"
        )
    if anchors.dim() == 3 and anchors.shape[0] != ptr.shape[0] - 1:
        raise ValueError(
            f"anchors must hold one matrix for each of the {ptr.shape[0] - 1} graphs of ptr, "
            f"got {anchors.shape[0]}"
        )
    if anchors.shape[-2] == 0:
        raise ValueError("anchors must hold at least one slot, got none")
    if anchors.dtype != x.dtype:
        raise TypeError(
            f"x and anchors must share a dtype, got {x.dtype} and {anchors.dtype}; "
            f"convert one: x.to({anchors.dtype}) or pool.to({x.dtype})"
        )


def check_finite(x: Tensor, slots: Tensor, ptr: Tensor) -> None:
    """No value of ``x`` is infinite or NaN, judged by what was pooled from it.

    One bad value makes a node's whole row of shares NaN, and with it every number pooled from its
    graph, so the first number of each graph tells.
    """
    if slots.numel() == 0 or not values_may_be_read(slots):
        return
    sentinel = slots.detach()[:, 0, 0]
    if sentinel.isfinite().all():
        return
    check_finite_features(x, ptr)
    graph = int((~sentinel.isfinite()).nonzero()[0])
    raise ValueError(
        f"x is finite, but pooling graph {graph} overflows {x.dtype} (largest value "
        f"{float(x.detach().abs().max()):.3g}); normalise the features, check that the anchors "
        "are finite, or use reduction='mean'"
    )


def check_finite_features(x: Tensor, ptr: Tensor) -> None:
    """Every value of ``x`` is finite; reads all of ``x``."""
    x = x.detach()
    bad = (~x.isfinite()).nonzero()
    if bad.numel() == 0:
        return
    node, channel = bad[0].tolist()
    graph = int(torch.searchsorted(ptr, node, right=True)) - 1
    raise ValueError(
        f"x must be finite, got {float(x[node, channel])} at node {node}, channel {channel} "
        f"(graph {graph}); {len({row for row, _ in bad.tolist()})} of {x.shape[0]} nodes are "
        "affected: clean the input, or lower the learning rate if it was finite before"
    )


def check_batch(
    x: Tensor,
    channels: int,
    *,
    index: Tensor | None = None,
    ptr: Tensor | None = None,
    dim_size: int | None = None,
) -> None:
    """Check everything about a batch, its values included, on any device.

    Args:
        x: Node features, [nodes, channels].
        channels: The width the pooling was built for.
        index: Graph of every node, in any order.
        ptr: Where each graph begins, and where the last one ends.
        dim_size: Number of graphs.
    """
    check_features(x, channels)
    where = torch.tensor([0, x.shape[0]], device=x.device)
    if ptr is not None:
        check_ptr(ptr, x.shape[0], dim_size)
        check_ptr_values(ptr, x.shape[0])
        where = ptr
    if index is not None:
        check_index(index, x.shape[0], dim_size)
        check_index_values(index, dim_size)
    check_finite_features(x, where)


def _check_integer_vector(name: str, tensor: Tensor) -> None:
    if not isinstance(tensor, Tensor):
        raise TypeError(f"{name} must be a tensor of integers, got {type(tensor).__name__}")
    if tensor.dtype not in INTEGERS:
        raise TypeError(
            f"{name} must be of an integer dtype, got {tensor.dtype}; convert: {name}.long()"
        )
    if tensor.dim() != 1:
        raise ValueError(f"{name} must have one dimension, got {list(tensor.shape)}")
