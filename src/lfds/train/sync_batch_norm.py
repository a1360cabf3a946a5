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
        found = _Normalize.apply(input, self.eps, self.process_group)  # type: ignore[no-untyped-call]
        normalized, mean, variance, count = found
        if count < 2:  # a single row has no variance; see `normalize_rows`
            return self._by_running_statistics(input)
        self._update_statistics(mean, variance * (count / (count - 1)))
        if self.weight is None:
            return normalized
        return torch.addcmul(self.bias, normalized, self.weight).to(input.dtype)

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
    r"""Rows minus the mean of all ranks, over their standard deviation.

    .. math::
        \hat{x} = (x - \mu) / s, \quad s = \sqrt{\sigma^2 + \epsilon}, \qquad
        \mathrm{d}x = \frac{1}{s} \left( \mathrm{d}\hat{x} - \frac{1}{n} \sum \mathrm{d}\hat{x}
            - \hat{x} \, \frac{1}{n} \sum \hat{x} \, \mathrm{d}\hat{x} \right)

    The sums are over the rows of all ranks.
    """

    @staticmethod
    def forward(
        ctx: Any, rows: Tensor, eps: float, group: Any
    ) -> tuple[Tensor, Tensor, Tensor, int]:
        wide = rows.float()
        own = wide.new_zeros(2 * rows.shape[1] + 1)
        if len(rows):
            variance, mean = torch.var_mean(wide, dim=0, correction=0)
            own = torch.cat([mean, variance, wide.new_tensor([len(rows)])])
        mean, variance, count = _combined(own, group)
        scale = torch.rsqrt(variance + eps)
        normalized = (wide - mean).mul_(scale)
        ctx.save_for_backward(normalized, scale)
        ctx.count, ctx.group = count, group
        ctx.mark_non_differentiable(mean, variance)
        return normalized.to(rows.dtype), mean, variance, count

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor, *_: Any) -> tuple[Tensor, None, None]:
        normalized, scale = ctx.saved_tensors
        wide = grad.float()
        sums = torch.stack([wide.sum(dim=0), (wide * normalized).sum(dim=0)])
        dist.all_reduce(sums, group=ctx.group)
        sums /= ctx.count
        found = torch.addcmul(wide - sums[0], normalized, sums[1], value=-1).mul_(scale)
        return found.to(grad.dtype), None, None


def _combined(own: Tensor, group: Any) -> tuple[Tensor, Tensor, int]:
    """Return mean, variance and number of the rows of all ranks, added up in their order."""
    parts = [torch.empty_like(own) for _ in range(dist.get_world_size(group))]
    dist.all_gather(parts, own, group=group)
    table = torch.stack(parts).double()
    channels = (table.shape[1] - 1) // 2
    counts = table[:, -1:]
    count = counts.sum()
    share = counts / count.clamp(min=1)
    means, variances = table[:, :channels], table[:, channels:-1]
    mean = (share * means).sum(dim=0)
    variance = (share * (variances + torch.square(means - mean))).sum(dim=0)
    return mean.to(own.dtype), variance.to(own.dtype), int(count)


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
