"""Batch norm over the rows of all ranks, on any device: torch's SyncBatchNorm needs a GPU."""

from typing import Any, final

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch.nn.functional import batch_norm
from torch.nn.modules.batchnorm import _BatchNorm


@final
class RankBatchNorm(_BatchNorm):
    r"""A batch norm whose mean and variance are those of the rows of all ranks together.

    .. math::
        \mu = \frac{1}{n} \sum_r n_r \mu_r, \qquad
        \sigma^2 = \frac{1}{n} \sum_r n_r \left( \sigma_r^2 + (\mu_r - \mu)^2 \right), \qquad
        n = \sum_r n_r

    Ranks then compute what a single process would compute with the whole batch, and all of them
    have the same running statistics. A rank may have no rows at all.

    Args:
        norm: Parameters and running statistics are the same objects as those of this norm.
        process_group: Of the ranks.
    """

    def __init__(self, norm: nn.BatchNorm1d, process_group: Any) -> None:
        super().__init__(norm.num_features, norm.eps, norm.momentum, norm.affine)
        self.weight, self.bias = norm.weight, norm.bias
        self.running_mean, self.running_var = norm.running_mean, norm.running_var
        self.num_batches_tracked = norm.num_batches_tracked
        self.process_group = process_group
        self.train(norm.training)

    def forward(self, input: Tensor) -> Tensor:
        if not self.training:
            return self._by_running_statistics(input)
        rows = input.float()
        mean, variance, count = _combined(_statistics(rows.detach()), self.process_group)
        if count < 2:  # a single row has no variance; see `normalize_rows`
            return self._by_running_statistics(input)
        self._update_statistics(mean, variance * (count / (count - 1)))
        inverse = torch.rsqrt(variance + self.eps)
        normalized: Tensor = _Normalize.apply(  # type: ignore[no-untyped-call]
            rows, self.weight, self.bias, mean, inverse, count, self.process_group
        )
        return normalized.to(input.dtype)

    def _by_running_statistics(self, input: Tensor) -> Tensor:
        mean, variance = self.running_mean, self.running_var
        return batch_norm(input, mean, variance, self.weight, self.bias, eps=self.eps)

    def _update_statistics(self, mean: Tensor, variance: Tensor) -> None:
        assert self.num_batches_tracked is not None
        assert self.running_mean is not None
        assert self.running_var is not None
        with torch.no_grad():
            self.num_batches_tracked.add_(1)
            rate = self.momentum
            rate = 1 / float(self.num_batches_tracked) if rate is None else rate
            self.running_mean.lerp_(mean, rate)
            self.running_var.lerp_(variance, rate)


class _Normalize(torch.autograd.Function):
    r"""Rows minus the mean of all ranks, over their standard deviation, scaled and shifted.

    .. math::
        \hat{x} = (x - \mu) / s, \quad s = \sqrt{\sigma^2 + \epsilon}, \quad
        y = w \hat{x} + b, \qquad
        \mathrm{d}x = \frac{w}{s} \left( \mathrm{d}y - \frac{1}{n} \sum \mathrm{d}y
            - \hat{x} \, \frac{1}{n} \sum \hat{x} \, \mathrm{d}y \right)

    The sums are over the rows of all ranks, but in the gradients of :math:`w` and :math:`b`, which
    are added up with those of all other parameters.
    """

    @staticmethod
    def forward(
        ctx: Any,
        rows: Tensor,
        weight: Tensor | None,
        bias: Tensor | None,
        mean: Tensor,
        inverse: Tensor,
        count: int,
        group: Any,
    ) -> Tensor:
        ctx.save_for_backward(rows, weight, mean, inverse)
        ctx.count, ctx.group = count, group
        scale = inverse if weight is None else inverse * weight
        normalized = (rows - mean).mul_(scale)
        return normalized if bias is None else normalized.add_(bias)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        rows, weight, mean, inverse = ctx.saved_tensors
        own = _sums(grad, rows, mean, inverse)
        means = torch.stack(_gathered(own, ctx.group)).sum(dim=0) / ctx.count
        scale = inverse if weight is None else inverse * weight
        found = (rows - mean).mul_(-inverse * means[1]).sub_(means[0]).add_(grad).mul_(scale)
        learned = (None, None) if weight is None else (own[1], own[0])
        return found, *learned, None, None, None, None


def _statistics(rows: Tensor) -> Tensor:
    """Return mean and variance of the rows of this rank, and their number, in one vector."""
    if not len(rows):
        return rows.new_zeros(2 * rows.shape[1] + 1)
    # On a CPU `var_mean` takes several times as long, and the kernel of torch's batch norm rounds
    # too much for ranks that have few rows.
    mean = rows.mean(dim=0)
    variance = (rows - mean).square_().mean(dim=0)
    return torch.cat([mean, variance, rows.new_tensor([len(rows)])])


def _sums(grad: Tensor, rows: Tensor, mean: Tensor, inverse: Tensor) -> Tensor:
    """Return the sums of the gradient, and of its product with the normalized rows."""
    if not len(rows):
        return rows.new_zeros(2, rows.shape[1])
    ones = torch.ones_like(mean)
    _, products, total = torch.ops.aten.native_batch_norm_backward(
        grad, rows, ones, None, None, mean, inverse, True, 0.0, [False, True, True]
    )
    return torch.stack([total, products])


def _combined(own: Tensor, group: Any) -> tuple[Tensor, Tensor, int]:
    """Return mean, variance and number of the rows of all ranks, added up in their order."""
    table = torch.stack(_gathered(own, group)).double()
    channels = (table.shape[1] - 1) // 2
    counts = table[:, -1:]
    count = counts.sum()
    share = counts / count.clamp(min=1)
    means, variances = table[:, :channels], table[:, channels:-1]
    mean = (share * means).sum(dim=0)
    variance = (share * (variances + torch.square(means - mean))).sum(dim=0)
    return mean.to(own.dtype), variance.to(own.dtype), int(count)


def _gathered(own: Tensor, group: Any) -> list[Tensor]:
    """Return the tensors of all ranks in order; between processes faster than their sum."""
    parts = [torch.empty_like(own) for _ in range(dist.get_world_size(group))]
    dist.all_gather(parts, own, group=group)
    return parts


def synchronize_norms(model: nn.Module, group: Any) -> None:
    """Put a :class:`RankBatchNorm` in the place of every batch norm of a model.

    Their names do not change.

    Args:
        model: Is changed in place.
        group: The process group whose ranks have parts of the same batches.
    """
    for module in list(model.modules()):
        for name, norm in list(module.named_children()):
            if type(norm) is nn.BatchNorm1d:
                setattr(module, name, RankBatchNorm(norm, group))
