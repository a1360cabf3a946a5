"""Gradients that can be taken once: a second derivative is refused in words."""

from collections.abc import Callable
from functools import wraps
from typing import Any

import torch
from torch import Tensor

Found = tuple[Tensor | None, ...]


def no_second_derivative(what: str) -> RuntimeError:
    """Return the error for a gradient that is differentiated again."""
    return RuntimeError(
        f"{what} has no second derivative; a gradient penalty has to stop at its output, or, in "
        "evaluation mode, go through torch.func.grad, which takes the slow way: do not pass "
        "create_graph=True"
    )


def differentiable_once(
    what: str,
) -> Callable[[Callable[..., Found]], Callable[..., Found]]:
    """Mark the backward of a ``torch.autograd.Function`` as one that has no backward itself.

    Args:
        what: Has no second derivative, in the words of the error.
    """

    def marked(backward: Callable[..., Found]) -> Callable[..., Found]:
        @wraps(backward)
        def first(ctx: Any, *grads: Tensor | None) -> Found:
            with torch.no_grad():
                found = backward(ctx, *grads)
            if not torch.is_grad_enabled():
                return found
            # With create_graph=True. Gradients depend on what was kept as well as on what came
            # back: without a way to both, a second derivative would be taken for zero.
            told = [part for part in (*grads, *ctx.saved_tensors) if part is not None]
            return tuple(one if one is None else _refusing(what, one, told) for one in found)

        return first

    return marked


def _refusing(what: str, value: Tensor, told: list[Tensor]) -> Tensor:
    refusing: Tensor = _Refusal.apply(what, value, *told)  # type: ignore[no-untyped-call]
    return refusing


class _Refusal(torch.autograd.Function):
    """A value that depends on others in a way that cannot be differentiated."""

    @staticmethod
    def forward(ctx: Any, what: str, value: Tensor, *_: Tensor) -> Tensor:
        ctx.what = what
        return value.view_as(value)

    @staticmethod
    def backward(ctx: Any, *_: Tensor) -> Found:
        raise no_second_derivative(ctx.what)
