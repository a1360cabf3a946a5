"""One look into a running network: what its latent structures do with the nodes of a batch."""

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from lfds.data.batch import Batch
from lfds.explain.errors import ExplainError
from lfds.nn import STRUCTURES, Edges, GraphNetwork, LFDSPool

Handed = dict[LFDSPool, tuple[Tensor, Tensor]]


@dataclass(frozen=True, eq=False)
class PoolTrace:
    """What one structure did with the graphs of a batch.

    Attributes:
        shares: ``[nodes, slots]``.
        mass: ``[graphs, slots]``.
        picks: ``[graphs, depth, slots]``.
    """

    shares: Tensor
    mass: Tensor
    picks: Tensor


def latent_pools(network: GraphNetwork) -> list[LFDSPool]:
    """Return the poolings on latent structures that a network is made of."""
    pools = [module for module in network.modules() if isinstance(module, LFDSPool)]
    if not pools:
        raise ExplainError(
            f"an atlas needs a model with a latent structure, but this one pools by "
            f"{network.settings.pool!r}; fit one with {', '.join(STRUCTURES)}"
        )
    return pools


@torch.no_grad()
def look(
    network: GraphNetwork, pools: Sequence[LFDSPool], batch: Batch
) -> tuple[Tensor, list[PoolTrace]]:
    """Run the network on a batch, and see what each pooling makes of the nodes it is handed."""
    handed: Handed = {}
    was_training = network.training
    network.eval()
    try:
        with ExitStack() as hooks:
            for pool in pools:
                hook = pool.register_forward_pre_hook(_keeping(handed))
                hooks.callback(hook.remove)
            edges = Edges.from_rows(batch.edge_ptr, batch.edge_dst)
            logits: Tensor = network(batch.x, batch.ptr, edges)
        return logits, [_look(pool, *handed[pool]) for pool in pools]
    finally:
        network.train(was_training)


def _keeping(handed: Handed) -> Callable[[Any, Any], None]:
    def keep(pool: LFDSPool, args: tuple[Tensor, ...]) -> None:
        x, _, ptr, *_ = args  # LFDSPool.__call__ hands all arguments on in their order
        handed[pool] = (x, ptr)

    return keep


def _look(pool: LFDSPool, x: Tensor, ptr: Tensor) -> PoolTrace:
    shares = pool.shares(x, ptr=ptr)
    sizes = ptr.diff()
    received = torch.stack([part.sum(dim=0) for part in shares.split(sizes.tolist())])
    mass = received / sizes.clamp(min=1)[:, None]
    return PoolTrace(shares, mass, pool.picks(x, ptr=ptr))
