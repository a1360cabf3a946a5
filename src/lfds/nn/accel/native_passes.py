"""The spatial layer after its product, by the kernels of :mod:`lfds.nn.accel.numba_spatial`."""

from typing import final

import numpy as np
import torch
from torch import Tensor, nn

from lfds.nn.accel.bags import Bags
from lfds.nn.accel.batch_norm import Norm, pace
from lfds.nn.accel.layer_passes import Passes, Saved
from lfds.nn.ops.edges import Rows

_NONE: dict[torch.dtype, np.ndarray] = {
    torch.float32: np.empty(0, np.float32),
    torch.float64: np.empty(0, np.float64),
}


@final
class NativePasses(Passes):
    """In one thread, in half the passes over memory."""

    @staticmethod
    def there(
        linear: Tensor, norm: nn.BatchNorm1d, bags: Bags, silence: Tensor | None
    ) -> tuple[Tensor, Saved]:
        from lfds.nn.accel.numba_spatial import arrive

        rows = linear.numpy()
        mean, spread = _statistics(rows, norm)
        out = linear.new_empty(rows.shape[0], rows.shape[1] // 2)
        learned = norm.weight.detach().numpy(), norm.bias.detach().numpy()
        edges = _arrays(bags.edges.rows, out.dtype)
        arrive(rows, *learned, mean, spread, *edges, _factors(silence, out), out.numpy())
        return out, (linear, torch.from_numpy(mean), torch.from_numpy(spread))

    @staticmethod
    def back(
        grad: Tensor,
        scale: Tensor,
        norm: Norm,
        bags: Bags,
        silence: Tensor | None,
        saved: Saved,
    ) -> tuple[Tensor, Tensor, Tensor]:
        from lfds.nn.accel.numba_spatial import give_back, through_norm

        active, mean, spread = (part.numpy() for part in saved if part is not None)
        both = grad.new_empty(active.shape)
        sums = np.zeros((2, active.shape[1]))
        edges = _arrays(bags.edges.columns, grad.dtype)
        arrived = grad.contiguous().numpy()
        give_back(arrived, _factors(silence, grad), active, *edges, both.numpy(), *sums)
        of_norm = grad.new_empty(2, active.shape[1])
        normed_by = scale.detach().numpy(), mean, spread, norm.training
        through_norm(active, both.numpy(), *normed_by, *sums, *of_norm.numpy())
        return both, of_norm[0], of_norm[1]


def _statistics(rows: np.ndarray, norm: nn.BatchNorm1d) -> tuple[np.ndarray, np.ndarray]:
    """Rectify in place; return what to norm by, mean and spread, and learn from it in training."""
    from lfds.nn.accel.numba_spatial import learn_statistics, rectify, rectify_and_measure

    assert norm.running_mean is not None
    assert norm.running_var is not None
    running = norm.running_mean.numpy(), norm.running_var.numpy()
    if not norm.training:
        rectify(rows)
        return running[0].copy(), np.sqrt(running[1] + running[1].dtype.type(norm.eps))
    mean, variance = np.empty((2, rows.shape[1]), rows.dtype)
    rectify_and_measure(rows, mean, variance)
    learn_statistics(rows.shape[0], pace(norm), mean, variance, *running)
    return mean, np.sqrt(variance + variance.dtype.type(norm.eps))


def _arrays(rows: Rows, dtype: torch.dtype) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    weight = rows.weight if rows.weight.dtype == dtype else rows.weight.to(dtype)
    return rows.ptr.numpy(), rows.column.numpy(), weight.numpy()


def _factors(silence: Tensor | None, x: Tensor) -> np.ndarray:
    """A factor for each node; none at all where none is silenced."""
    return _NONE[x.dtype] if silence is None else silence.to(x.dtype).flatten().numpy()
