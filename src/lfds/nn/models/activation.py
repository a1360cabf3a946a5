"""The function f of the network: ReLU, then batch norm."""

from typing import final

from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812


@final
class Activation(nn.Module):
    """ReLU, then batch norm over all rows.

    A single row has no spread to be normed by: it is normed by the running statistics, in training
    as afterwards, and leaves them as they are.

    Args:
        channels: Number of columns.
    """

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.norm = nn.BatchNorm1d(channels)

    def forward(self, rows: Float[Tensor, "rows channels"]) -> Float[Tensor, "rows channels"]:
        rows = F.relu(rows)
        norm = self.norm
        # Asked in training only: while torch records, nobody knows how many nodes a ranking leaves.
        if not norm.training or rows.shape[0] > 1:
            normed: Tensor = norm(rows)
            return normed
        return F.batch_norm(
            rows, norm.running_mean, norm.running_var, norm.weight, norm.bias, eps=norm.eps
        )
