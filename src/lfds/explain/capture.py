"""What the latent structures of a network do with the nodes of a batch, recorded by hooks."""

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from lfds.config.registry import STRUCTURES
from lfds.data.batch import Batch
from lfds.explain import ExplainError
from lfds.nn import Edges, GraphNetwork
from lfds.nn.pool import LatentPool
from lfds.train.device import to_device


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


def latent_pools(network: GraphNetwork) -> list[LatentPool]:
    """Return the LatentPool modules of a network."""
    pools = [module for module in network.modules() if isinstance(module, LatentPool)]
    if not pools:
        raise ExplainError(
            f"an atlas needs a model with a latent structure, not pool={network.settings.pool!r}; "
            f"fit one with {', '.join(STRUCTURES)}"
        )
    return pools


def edges_of(batch: Batch) -> Edges:
    """Return the edges of a batch as a network takes them."""
    return Edges.from_rows(batch.edge_ptr, batch.edge_dst, features=batch.edge_x)


@torch.no_grad()
def trace_pools(
    network: GraphNetwork, pools: Sequence[LatentPool], batch: Batch
) -> tuple[Tensor, list[PoolTrace]]:
    """Run a network on a batch; return its outputs and the trace of each pool."""
    inputs: dict[LatentPool, tuple[Tensor, Tensor]] = {}

    def record(pool: Any, args: tuple[Tensor, ...]) -> None:
        x, _, ptr, *_ = args  # LatentPool.__call__ passes all arguments on by position
        inputs[pool] = (x, ptr)

    was_training = network.training
    network.eval()
    try:
        with ExitStack() as hooks:
            for pool in pools:
                hook = pool.register_forward_pre_hook(record)
                hooks.callback(hook.remove)
            batch = to_device(batch, next(network.parameters()).device)
            outputs: Tensor = network(batch.x, batch.ptr, edges_of(batch))
        return outputs, [_trace(pool, *inputs[pool]) for pool in pools]
    finally:
        network.train(was_training)


def _trace(pool: LatentPool, x: Tensor, ptr: Tensor) -> PoolTrace:
    shares = pool.shares(x, ptr=ptr)
    sizes = ptr.diff()
    received = torch.stack([part.sum(dim=0) for part in shares.split(sizes.tolist())])
    mass = received / sizes.clamp(min=1)[:, None]
    return PoolTrace(shares, mass, pool.picks(x, ptr=ptr))
