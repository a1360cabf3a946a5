"""Bring the channels of nodes to one scale before nodes are shared out."""

from typing import final

from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812


@final
class NodeNorm(nn.Module):
    r"""Norm every channel over all nodes of a batch.

    .. math::
        x_{ij} \leftarrow \frac{x_{ij} - \mu_j}{\sqrt{\sigma_j^2 + \varepsilon}}

    What a graph layer leaves is a sum over neighbours, which may be far from zero in some channels
    and many times as large in one as in another; such channels would decide where nodes land.

    Nothing is learned but the running mean and variance, which evaluation goes by, so that a graph
    has the same vector in any company. A single node has no spread: it is normed by the running
    statistics, in training too.

    Args:
        channels: Width of the nodes.
    """

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.norm = nn.BatchNorm1d(channels, affine=False)

    @property
    def learns(self) -> bool:
        """Whether the next batch moves the statistics."""
        return self.norm.training

    def reset_parameters(self) -> None:
        """Forget the statistics."""
        self.norm.reset_parameters()

    def forward(self, x: Float[Tensor, "nodes channels"]) -> Float[Tensor, "nodes channels"]:
        norm = self.norm
        if not norm.training or x.shape[0] > 1:
            normed: Tensor = norm(x)
            return normed
        return F.batch_norm(x, norm.running_mean, norm.running_var, eps=norm.eps)
