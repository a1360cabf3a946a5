"""Checks of what a pooling is called with, and their error messages.

Shapes, dtypes and options are always checked.  The *values* of ``index`` and ``ptr`` are checked in
eager mode on the CPU, where that costs a fraction of a percent, and by the compiled operator when
it runs there; while tracing there are no values, and on an accelerator reading them would stall the
device.
Features are never scanned in advance: a value that is not finite turns its graph's first pooled
number into NaN, so one number per graph is checked (see :func:`check_finite`).
:func:`check_batch` checks everything on any device.
"""

import math
import operator
from collections.abc import Iterable
from typing import Any, NoReturn

import torch
import torch.fx
from torch import Tensor

from lfds.config.messages import did_you_mean
from lfds.nn.accel.dispatch import autocasts, values_may_be_read

INTEGERS = (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8)
LOW_PRECISION = (torch.float16, torch.bfloat16)


class NotFiniteError(ValueError):
    """Values are infinite or NaN: those of the input, or parameters after training diverged."""


def check_count(name: str, value: Any, *, least: int = 1) -> int:
    """Return ``value`` as an integer of at least ``least``."""
    try:
        count = operator.index(value)
    except TypeError:
        count = None
    if count is None or isinstance(value, bool):
        raise TypeError(f"{name} must be an integer, got {value!r}")
    if count < least:
        raise ValueError(f"{name} must be at least {least}, got {value}")
    return count


def check_number(name: str, value: Any) -> float:
    """Return ``value`` as a float."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"{name} must be a number, got {value!r}")
    return float(value)


def check_choice(name: str, value: object, known: Iterable[str]) -> None:
    """``value`` is one of the names there are."""
    known = tuple(known)
    if value not in known:
        raise ValueError(
            f"{name} must be one of {', '.join(known)}, got {value!r}{did_you_mean(value, known)}"
        )


def check_flag(name: str, value: Any) -> bool:
    """Return ``value``, which must be True or False itself."""
    if not isinstance(value, bool):
        raise TypeError(f"{name} must be True or False, got {value!r}")
    return value


def check_not_scripted(x: object = None) -> None:
    """Refuse ``torch.jit.trace`` and ``torch.fx``, which fix the sizes of a batch."""
    recorded: bool = torch.jit.is_tracing()  # type: ignore[attr-defined, no-untyped-call]
    if recorded and not torch.onnx.is_in_onnx_export():
        refuse_to_record("torch.jit.trace")
    if isinstance(x, torch.fx.Proxy):
        refuse_to_record("torch.fx.symbolic_trace")


def refuse_to_record(tool: str) -> NoReturn:
    """Say which tool cannot record the layer, and which can."""
    raise RuntimeError(
        f"{tool} cannot record lfds.nn, whose batches are ragged; "
        "use torch.export.export(model, args) or torch.compile(model), which can"
    )


def check_is_tensor(x: Tensor) -> None:
    """``x`` is a tensor, and not what a tool puts in its place that cannot record the layer."""
    check_not_scripted(x)
    if not isinstance(x, Tensor):
        raise TypeError(
            f"x must be a tensor [nodes, channels], got {type(x).__name__}; "
            "convert: torch.as_tensor(x)"
        )


def check_nodes(x: Tensor) -> None:
    """``x`` is a floating-point matrix with one row per node."""
    check_is_tensor(x)
    if x.dim() != 2:
        raise ValueError(
            f"x must have two dimensions [nodes, channels], got {list(x.shape)}; "
            "put all nodes of all graphs in one matrix and say with index or ptr whose they are"
        )
    if not x.is_floating_point():
        raise TypeError(f"x must be of a floating-point dtype, got {x.dtype}; convert: x.float()")
    if x.layout != torch.strided:
        raise TypeError(f"x must be dense, got {x.layout}; convert: x.to_dense()")


def check_node_dim(x: Tensor, dim: int) -> None:
    """``dim`` is a dimension of ``x``, and not the last one, in which the channels are."""
    if x.dim() > 1 and (not -x.dim() <= dim < x.dim() or dim % x.dim() == x.dim() - 1):
        raise ValueError(
            f"dim must be the node dimension of x {list(x.shape)}, any but the last, which holds "
            f"the channels, got {dim}; use -2, or transpose x"
        )


def check_weight(weight: Tensor, x: Tensor) -> None:
    """``weight`` holds a number for every row of ``x``, finite and not negative."""
    if not isinstance(weight, Tensor):
        raise TypeError(
            f"weight must be a tensor [nodes], got {type(weight).__name__}; "
            "convert: torch.as_tensor(weight)"
        )
    if weight.shape != x.shape[:1]:
        raise ValueError(
            f"weight must hold a number for each of the {x.shape[0]} rows of x, "
            f"got {list(weight.shape)}"
        )
    if weight.dtype != x.dtype:
        raise TypeError(
            f"weight must be of the dtype of x, {x.dtype}, got {weight.dtype}; "
            f"convert: weight.to({x.dtype})"
        )
    if not values_may_be_read(weight):
        return
    bad = (~((weight >= 0) & weight.isfinite())).nonzero()
    if bad.numel():
        node = int(bad[0])
        raise ValueError(
            f"weight must be finite and not negative, got {float(weight[node])} for node {node}"
        )


def check_padded(x: Tensor, mask: Tensor | None) -> None:
    """``x`` is [graphs, most, channels], and ``mask`` says of every row whether it is a node."""
    if not isinstance(x, Tensor) or x.dim() != 3:
        found = f"{list(x.shape)}" if isinstance(x, Tensor) else type(x).__name__
        raise ValueError(f"x must be a padded batch [graphs, nodes, channels], got {found}")
    if mask is None:
        return
    if not isinstance(mask, Tensor) or mask.dtype != torch.bool or mask.shape != x.shape[:2]:
        found = (
            f"{mask.dtype} {list(mask.shape)}" if isinstance(mask, Tensor) else type(mask).__name__
        )
        raise ValueError(
            f"mask must be of torch.bool {list(x.shape[:2])}, true for every row of x that is a "
            f"node, got {found}"
        )


def check_features(x: Tensor, channels: int) -> None:
    """``x`` is a floating-point matrix with one row per node and ``channels`` columns."""
    check_nodes(x)
    if x.shape[1] != channels:
        raise ValueError(
            f"x must have {channels} channels, got {x.shape[1]} (shape {list(x.shape)}); "
            f"build the pooling with in_channels={x.shape[1]} or project x to {channels}"
        )


def check_precision(x: Tensor, weight: Any) -> None:
    """``x`` is of the dtype of a module's first weight, or autocast makes both the same.

    Where products were replaced, by quantized ones for example, there may be no such tensor.
    """
    if not isinstance(weight, Tensor) or x.dtype == weight.dtype:
        return
    if autocasts(x) and torch.float64 not in (x.dtype, weight.dtype):  # which it leaves alone
        return
    raise TypeError(
        f"x must be of the dtype of the parameters, {weight.dtype}, got {x.dtype}; "
        f"convert one: x.to({weight.dtype}) or model.to({x.dtype})"
    )


def check_edge_features(features: Tensor | None, channels: int, x: Tensor) -> None:
    """``features`` has ``channels`` columns, and the dtype of the nodes ``x``."""
    found = 0 if features is None else features.shape[1]
    if found != channels:
        raise ValueError(
            f"edges must have {channels} features each, got {found}; build the network with "
            f"edge_channels={found}, or Edges with features of {channels} columns"
        )
    if features is not None and features.dtype != x.dtype:
        raise TypeError(
            f"features of edges must be of the dtype of x, {x.dtype}, got {features.dtype}; "
            f"convert: features.to({x.dtype})"
        )


def check_num_graphs(dim_size: Any) -> None:
    """``dim_size`` counts graphs, or is left out."""
    if dim_size is not None and not isinstance(dim_size, torch.SymInt):
        check_count("dim_size", dim_size, least=0)


def check_index(index: Tensor, num_nodes: int, num_graphs: int | None) -> None:
    """``index`` names the graph of every node, from 0 to ``num_graphs - 1``, in any order."""
    check_index_shape(index, num_nodes)
    if values_may_be_read(index):
        check_index_values(index, num_graphs)


def check_index_shape(index: Tensor, num_nodes: int) -> None:
    """The half of :func:`check_index` that reads no values."""
    _check_integer_vector("index", index)
    if index.shape[0] != num_nodes:
        raise ValueError(
            f"index must name a graph for each of the {num_nodes} rows of x, "
            f"got {index.shape[0]} entries"
        )


def check_index_values(index: Tensor, num_graphs: int | None) -> None:
    """The half of :func:`check_index` that reads the values."""
    if index.numel() == 0:
        return
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


def check_ptr(ptr: Tensor, num_nodes: int, num_graphs: int | None = None) -> None:
    """``ptr`` starts at 0, never goes down, and ends at the number of nodes."""
    _check_integer_vector("ptr", ptr)
    if ptr.shape[0] == 0:
        raise ValueError("ptr must hold one entry more than there are graphs, got none; use [0]")
    if num_graphs is not None and ptr.shape[0] != num_graphs + 1:
        raise ValueError(
            f"ptr must hold dim_size + 1 = {num_graphs + 1} entries, got {ptr.shape[0]}; "
            "leave dim_size out, it follows from ptr"
        )
    if values_may_be_read(ptr):
        check_ptr_values(ptr, num_nodes)


def check_ptr_values(ptr: Tensor, num_nodes: int) -> None:
    """The half of :func:`check_ptr` that reads the values."""
    if int(ptr[0]) != 0:
        raise ValueError(
            f"ptr must start at 0, got {int(ptr[0])}; prepend a zero to the cumulated sizes"
        )
    if bool((ptr[1:] < ptr[:-1]).any()):
        graph = int((ptr[1:] < ptr[:-1]).nonzero()[0])
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
    """Where both are given, ``index`` must say what ``ptr`` says; reads the values."""
    expected = torch.repeat_interleave(ptr.long().diff())
    differs = (index != expected).nonzero()
    if differs.numel():
        node = int(differs[0])
        raise ValueError(
            f"index and ptr must agree, but node {node} is in graph {int(index[node])} by index "
            f"and in graph {int(expected[node])} by ptr; pass only one of them"
        )


def check_anchors(x: Tensor, anchors: Tensor, num_graphs: int) -> None:
    """``anchors`` is [slots, channels], or [graphs, slots, channels], of the dtype of ``x``."""
    if not isinstance(anchors, Tensor):
        raise TypeError(
            f"anchors must be a tensor [slots, channels], got {type(anchors).__name__}; "
            "convert: torch.as_tensor(anchors)"
        )
    if anchors.dim() not in (2, 3) or anchors.shape[-1] != x.shape[1]:
        raise ValueError(
            f"anchors must be [slots, {x.shape[1]}] or [graphs, slots, {x.shape[1]}] to meet "
            f"x of shape {list(x.shape)}, got {list(anchors.shape)}"
        )
    if anchors.dim() == 3 and anchors.shape[0] != num_graphs:
        raise ValueError(
            f"anchors must hold one matrix for each of the {num_graphs} graphs of ptr, "
            f"got {anchors.shape[0]}"
        )
    if anchors.shape[-2] == 0:
        raise ValueError("anchors must hold at least one slot, got none")
    if anchors.dtype != x.dtype:
        raise TypeError(
            f"x and anchors must share a dtype, got {x.dtype} and {anchors.dtype}; "
            f"convert one: x.to({anchors.dtype}) or pool.to({x.dtype})"
        )


def check_finite(
    slots: Tensor, x: Tensor, anchors: Tensor, ptr: Tensor, order: Tensor | None
) -> None:
    """No value of ``x`` is infinite or NaN, found out from what was pooled from it.

    One bad value makes a node's whole row of shares NaN, and with it every number pooled from its
    graph, so the first number of each graph suffices.  In low precision a sum may also overflow in
    one slot and not in another: there all slots are checked.

    Args:
        slots: What was pooled, [graphs, slots, channels].
        x: The nodes it was pooled from, graph after graph.
        anchors: The anchors of the slots.
        ptr: Where each graph begins.
        order: Where each node stood in the input, if nodes were moved.
    """
    if slots.numel() == 0 or not values_may_be_read(slots):
        return
    checked = slots.detach() if slots.dtype in LOW_PRECISION else slots.detach()[:, 0, 0]
    # A sum is finite only if all of its terms are, and is faster than a test of each.
    if math.isfinite(checked.sum(dtype=torch.float64).item()):
        return
    finite = checked.reshape(slots.shape[0], -1).isfinite().all(dim=1)
    check_finite_features(x, ptr, order)
    if not anchors.detach().isfinite().all():
        raise NotFiniteError(
            "anchors must be finite, got infinite or NaN values: training has diverged; "
            "lower the learning rate, and start again from reset_parameters()"
        )
    raise NotFiniteError(
        f"x is finite, but pooling graph {int((~finite).nonzero()[0])} overflows {x.dtype} "
        f"(largest value {float(x.detach().abs().max()):.3g}); normalize the features, "
        "use reduction='mean', or a wider dtype"
    )


def check_finite_features(x: Tensor, ptr: Tensor, order: Tensor | None) -> None:
    """Every value of ``x`` is finite; reads all of ``x``."""
    finite = x.detach().isfinite()
    bad = (~finite.all(dim=1)).nonzero()[:, 0]
    if bad.numel() == 0:
        return
    row = int(bad[0])
    channel = int((~finite[row]).nonzero()[0])
    graph = int(torch.searchsorted(ptr, row, right=True)) - 1
    node = row if order is None else int(order[row])
    raise NotFiniteError(
        f"x must be finite, got {float(x.detach()[row, channel])} at node {node}, "
        f"channel {channel} (graph {graph}); {bad.numel()} of {x.shape[0]} nodes are affected: "
        "clean the input, or lower the learning rate if it was finite before"
    )


def check_spread(x: Tensor, ptr: Tensor, order: Tensor | None) -> None:
    """``x`` is finite, and its dtype can hold the variance of its channels.

    Called before running statistics are updated: one bad value would spoil them for good.

    Args:
        x: The nodes, graph after graph.
        ptr: Where each graph begins.
        order: Where each node stood in the input, if nodes were moved.
    """
    if x.shape[0] == 0:
        return
    wide = torch.float32 if x.dtype in LOW_PRECISION else x.dtype
    largest = float(x.detach().to(wide).square().mean(dim=0).max())
    if largest <= torch.finfo(x.dtype).max:
        return
    check_finite_features(x, ptr, order)
    raise NotFiniteError(
        f"x is finite, but the variance of its channels overflows {x.dtype} "
        f"(largest value {float(x.detach().abs().max()):.3g}); normalize the features, "
        "use a wider dtype, or node_norm=False"
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
    check_num_graphs(dim_size)
    where, order = torch.tensor([0, x.shape[0]], device=x.device), None
    if ptr is not None:
        check_ptr(ptr, x.shape[0], dim_size)
        check_ptr_values(ptr, x.shape[0])
        where = ptr.long()
    if index is not None:
        check_index_shape(index, x.shape[0])
        check_index_values(index, dim_size)
        if ptr is not None:
            check_agreement(index, ptr)
        grouped, order = torch.sort(index.long(), stable=True)
        where = torch.searchsorted(grouped, torch.arange(int(index.max()) + 2 if len(index) else 1))
    check_finite_features(x if order is None else x[order], where, order)


def _check_integer_vector(name: str, tensor: Tensor) -> None:
    if not isinstance(tensor, Tensor):
        raise TypeError(
            f"{name} must be a tensor of integers, got {type(tensor).__name__}; "
            f"convert: torch.as_tensor({name})"
        )
    if tensor.dtype not in INTEGERS:
        raise TypeError(
            f"{name} must be of an integer dtype, got {tensor.dtype}; convert: {name}.long()"
        )
    if tensor.dim() != 1:
        raise ValueError(f"{name} must have one dimension, got {list(tensor.shape)}")
