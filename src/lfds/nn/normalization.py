"""Normalization of the rows of a batch, nodes or vectors of graphs; a single row included."""

from typing import final

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm


def normalize_rows(norm: nn.Module, rows: Tensor) -> Tensor:
    """Run ``norm`` on ``rows`` [rows, channels]; any module may have been put in its place.

    A single row has no variance: a batch norm normalizes it by the running statistics, in training
    too, and leaves them as they are.
    """
    # Checked in training only: the number of rows may be unknown while torch traces.
    if not updates_statistics(norm) or rows.shape[0] > 1 or _waits_for_others(norm):
        normalized: Tensor = norm(rows)
        return normalized
    norm.training = False  # not F.batch_norm, which would pass by hooks and parametrizations
    try:
        normalized = norm(rows)
    finally:
        norm.training = True
    return normalized


def updates_statistics(norm: nn.Module) -> bool:
    """Whether ``norm`` is a batch norm whose running statistics the next batch updates."""
    return norm.training and isinstance(norm, _BatchNorm) and norm.running_mean is not None


def _waits_for_others(norm: nn.Module) -> bool:
    """Whether other processes expect the rows of this one, however few."""
    distributed = torch.distributed.is_available() and torch.distributed.is_initialized()
    return distributed and hasattr(norm, "process_group")  # as torch's SyncBatchNorm has


def reset_parameters(norm: nn.Module) -> None:
    """Reset a norm; what was put in its place may have nothing to reset."""
    getattr(norm, "reset_parameters", lambda: None)()


@final
class ChannelNorm(nn.Module):
    r"""Normalize every channel over all rows of a batch: nodes, or vectors of graphs.

    .. math::
        x_{ij} \leftarrow \frac{x_{ij} - \mu_j}{\sqrt{\sigma_j^2 + \varepsilon}}

    The output of a graph layer is a sum over neighbours, which may be far from zero in some
    channels and many times larger in one than in another. Without normalization such channels
    would decide to which slots the nodes go.

    There are no parameters, only the running mean and variance. Evaluation uses these, so that the
    vector of a graph does not depend on its batch. A single row has no variance: it is normalized
    by the running statistics, in training too.

    Args:
        channels: Width of the nodes.
    """

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.norm = nn.BatchNorm1d(channels, affine=False)

    @property
    def learns(self) -> bool:
        """Whether the next batch updates the running statistics."""
        return updates_statistics(self.norm)

    def reset_parameters(self) -> None:
        """Forget the statistics."""
        reset_parameters(self.norm)

    def forward(self, x: Float[Tensor, "nodes channels"]) -> Float[Tensor, "nodes channels"]:
        return normalize_rows(self.norm, x)
