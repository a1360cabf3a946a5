"""Run a normalization on the rows of a batch, a single row included."""

import torch
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
    return distributed and isinstance(norm, nn.SyncBatchNorm)


def reset_parameters(norm: nn.Module) -> None:
    """Reset a norm; what was put in its place may have nothing to reset."""
    getattr(norm, "reset_parameters", lambda: None)()
