r"""The operator behind :func:`lfds.nn.distribute` on accelerators: slots and their masses at once.

With weights :math:`u_i` of the nodes, 1 by default, and the shares :math:`p_{ik}`,

.. math::
    \mathbf{y}_{gk} = \frac{1}{c_{gk}} \sum_{i \in g} u_i \, p_{ik} \, \mathbf{x}_i, \qquad
    m_{gk} = \sum_{i \in g} u_i \, p_{ik}

Shares are computed again in the backward pass, whatever the number of nodes: on an accelerator
that takes less time than to write and read them. How often the device is called does not depend on
the number of graphs, and the host never waits for it.
"""

from typing import Any

import torch
from torch import Tensor

from lfds.nn.accel import batched
from lfds.nn.accel.dispatch import backend_for, own_precision, working_dtype

# A smaller mass counts as none: the division by it, and its gradient, stay in the range of float32.
LEAST_MASS = 1e-12

torch.library.define(
    "lfds::distribute_on_device",
    "(Tensor x, Tensor anchors, Tensor ptr, Tensor? weight, str reduction) -> (Tensor, Tensor)",
)
torch.library.define(
    "lfds::distribute_on_device_backward",
    "(Tensor grad, Tensor? grad_mass, Tensor x, Tensor anchors, Tensor ptr, Tensor? weight,"
    " Tensor slots, Tensor mass, str reduction) -> (Tensor, Tensor, Tensor)",
)


def distribute_on_device(
    x: Tensor, anchors: Tensor, ptr: Tensor, reduction: str, weight: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """Return the slots, in the dtype of ``x``, and their masses in the precision of the sums.

    Args:
        x: Node features, graph after graph.
        anchors: [slots, channels], or for each graph.
        ptr: Where each graph begins.
        reduction: What sums are divided by: ``"mean"`` by numbers of nodes, whatever their weights.
        weight: Weight of every node; 1 by default.
    """
    slots, mass = torch.ops.lfds.distribute_on_device(x, anchors, ptr, weight, reduction)
    return slots, mass


def _forward(
    x: Tensor, anchors: Tensor, ptr: Tensor, weight: Tensor | None, reduction: str
) -> tuple[Tensor, Tensor]:
    weights = anchors.to(working_dtype(x))
    with own_precision(x):
        if backend_for(x) == "triton":
            from lfds.nn.accel import triton_distribute

            return triton_distribute.place(x, weights, ptr, weight, reduction)
        sums, mass = batched.place(x, weights, ptr, weight)
    if reduction == "mean":
        sums /= _sizes(ptr)
    elif reduction == "mass":
        sums /= mass.clamp(min=LEAST_MASS)[:, :, None]
    return sums.to(x.dtype), mass


def _run_backward(
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
    weights = anchors.to(working_dtype(x))
    with own_precision(x):
        if backend_for(x) == "triton":
            from lfds.nn.accel import triton_distribute

            given = (x, weights, ptr, weight, slots, mass, reduction)
            found = triton_distribute.place_backward(grad, grad_mass, *given)
        else:
            grad = grad.to(weights.dtype)
            grad, grad_mass = _undo_division(grad, grad_mass, slots, ptr, mass, reduction)
            found = batched.place_backward(grad, grad_mass, x, weights, ptr, weight)
    grad_x, grad_anchors, grad_weight = found
    by_weight = grad_weight.new_empty(0) if weight is None else grad_weight.to(weight.dtype)
    return grad_x, grad_anchors.to(anchors.dtype), by_weight


def _undo_division(
    grad: Tensor,
    grad_mass: Tensor | None,
    slots: Tensor,
    ptr: Tensor,
    mass: Tensor,
    reduction: str,
) -> tuple[Tensor, Tensor | None]:
    """Return the gradients of the sums and of the masses."""
    if reduction == "mean":
        return grad / _sizes(ptr), grad_mass
    if reduction == "sum":
        return grad, grad_mass
    grad = grad / mass.clamp(min=LEAST_MASS)[:, :, None]
    by_division = torch.where(mass >= LEAST_MASS, -(grad * slots).sum(dim=-1), 0.0)
    return grad, by_division if grad_mass is None else grad_mass + by_division


def _sizes(ptr: Tensor) -> Tensor:
    return ptr.diff().clamp(min=1)[:, None, None]


def _shapes(
    x: Tensor, anchors: Tensor, ptr: Tensor, weight: Tensor | None, reduction: str
) -> tuple[Tensor, Tensor]:
    shape = (ptr.shape[0] - 1, anchors.shape[-2])
    return x.new_empty(*shape, x.shape[1]), x.new_empty(shape, dtype=working_dtype(x))


def _backward_shapes(
    grad: Tensor,
    grad_mass: Tensor | None,
    x: Tensor,
    anchors: Tensor,
    ptr: Tensor,
    weight: Tensor | None,
    *_: Any,
) -> tuple[Tensor, Tensor, Tensor]:
    by_weight = x.new_empty(0, dtype=working_dtype(x))
    if weight is not None:
        by_weight = weight.new_empty(weight.shape)
    return x.new_empty(x.shape), anchors.new_empty(anchors.shape), by_weight


def _keep(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, Tensor]) -> None:
    x, anchors, ptr, weight, ctx.reduction = inputs
    slots, mass = output
    ctx.save_for_backward(x, anchors, ptr, weight, slots, mass)
    ctx.set_materialize_grads(False)


def _backward(
    ctx: Any, grad: Tensor | None, grad_mass: Tensor | None
) -> tuple[Tensor | None, Tensor | None, None, Tensor | None, None]:
    if grad is None and grad_mass is None:
        return None, None, None, None, None
    saved = ctx.saved_tensors
    grad = torch.zeros_like(saved[4]) if grad is None else grad
    grad_x, grad_anchors, by_weight = torch.ops.lfds.distribute_on_device_backward(
        grad, grad_mass, *saved, ctx.reduction
    )
    return grad_x, grad_anchors, None, None if saved[3] is None else by_weight, None


def refuse_second_backward(ctx: Any, *_: Tensor) -> None:
    """Say that there is no second derivative, and what to do."""
    raise RuntimeError(
        "lfds.nn.distribute has no second derivative; a gradient penalty has to stop at its "
        "output, or, in evaluation mode, go through torch.func.grad, which takes the slow way: do "
        "not pass create_graph=True"
    )


torch.library.impl("lfds::distribute_on_device", "default", _forward)
torch.library.impl("lfds::distribute_on_device_backward", "default", _run_backward)
torch.library.register_fake("lfds::distribute_on_device", _shapes)
torch.library.register_fake("lfds::distribute_on_device_backward", _backward_shapes)
torch.library.register_autograd("lfds::distribute_on_device", _backward, setup_context=_keep)
torch.library.register_autograd("lfds::distribute_on_device_backward", refuse_second_backward)
