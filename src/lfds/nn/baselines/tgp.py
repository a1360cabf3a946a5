"""Poolers of torch-geometric-pool (``tgp``): one down-sizing, two layers on what is left."""

import warnings
from collections.abc import Container, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from threading import RLock
from typing import Any, NamedTuple, final

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from lfds.config.messages import closest
from lfds.config.network import NetworkSettings
from lfds.config.registry import TGP_PREFIX
from lfds.nn.baselines.base import GraphPooling
from lfds.nn.ops.edges import Edges
from lfds.nn.ops.ragged import index_from_ptr, ragged
from lfds.nn.ops.segment import ragged_max
from lfds.nn.randomness import draws_of_others, initialize_from
from lfds.nn.spatial import SpatialLayer

_NUMPY = RLock()


@final
class CoarsePool(GraphPooling):
    """One down-sizing by a pooler of ``tgp``, two spatial layers after it, and their maxima.

    Graphs without nodes, which ``tgp`` does not support, get zeros. The losses of the pooler are
    the penalty.

    Args:
        channels: Width of the nodes.
        name: The pooler, as ``tgp`` calls it.
        clusters: Number of clusters, for poolers that take one.
        ratio: Part of the nodes that are kept, for poolers that take one.
    """

    @classmethod
    def from_settings(cls, settings: NetworkSettings) -> "CoarsePool":
        name = settings.pool.removeprefix(TGP_PREFIX)
        return cls(settings.width, name, settings.clusters, settings.ratio)

    def __init__(self, channels: int, name: str, clusters: int = 64, ratio: float = 0.5) -> None:
        super().__init__(channels, 2 * channels)
        self.pooler, width = make_pooler(name, channels, clusters, ratio)
        self.layers = nn.ModuleList(
            [SpatialLayer(width, channels), SpatialLayer(channels, channels)]
        )
        self._penalty: Tensor | None = None

    def forward(
        self, nodes: Float[Tensor, "nodes channels"], ptr: Int[Tensor, "boundaries"], edges: Edges
    ) -> Float[Tensor, "boundaries-1 out_channels"]:
        filled = ptr.diff() > 0
        vectors = nodes.new_zeros(ptr.shape[0] - 1, self.out_channels)
        self._penalty = None
        if not filled.any():
            return vectors + nodes.sum()  # zeros, connected to the graph of gradients
        start = torch.cat([ptr[:-1][filled], ptr[-1:]])
        return vectors.index_copy(0, filled.nonzero()[:, 0], self._pooled(nodes, start, edges))

    def _pooled(self, nodes: Tensor, ptr: Tensor, edges: Edges) -> Tensor:
        with same_draws():
            coarse = self.pooler(
                x=nodes,
                adj=torch.stack([edges.rows.column.long(), edges.target]),
                edge_weight=edges.rows.weight.to(nodes.dtype),
                batch=index_from_ptr(ptr, nodes.shape[0]),
            )
        if coarse.loss:
            self._penalty = torch.stack(list(coarse.loss.values())).sum()
        x, pairs = coarse.x, coarse.edge_index
        weight = x.new_ones(pairs.shape[1])
        if coarse.edge_weight is not None:
            weight = coarse.edge_weight.view(-1).to(x.dtype)
        coarse_edges = WeightedPairs(pairs, weight)
        vectors = []
        for layer in self.layers:
            x = layer(x, coarse_edges)
            batch = ragged(x, coarse.batch, None, ptr.shape[0] - 1)
            vectors.append(ragged_max(batch.x, batch.ptr))
        return torch.cat(vectors, dim=1)

    def penalty(self) -> Float[Tensor, ""]:
        return super().penalty() if self._penalty is None else self._penalty

    def __getstate__(self) -> dict[str, Any]:
        # The penalty belongs to the graph of its batch: a copy of the module starts without.
        return {**self.__dict__, "_penalty": None}


class WeightedPairs(NamedTuple):
    """Edges as pairs of nodes, with weights that are learned from as well."""

    pairs: Int[Tensor, "2 edges"]
    weight: Float[Tensor, "edges"]

    def add_neighbours(self, own: Tensor, sent: Tensor) -> Tensor:
        """Add to each node what its neighbours send."""
        source, target = self.pairs
        return own.index_add(0, target, self.weight[:, None] * sent[source])


@cache
def check_pooler(name: str) -> None:
    """Refuse a pooler that does not exist, or that cannot work here, with the reason.

    Args:
        name: As ``tgp`` calls it; ``_u`` at the end asks for the variant without padding.
    """
    make_pooler(name, channels=4, clusters=3, ratio=0.5)


def make_pooler(name: str, channels: int, clusters: int, ratio: float) -> tuple[nn.Module, int]:
    """Build a pooler of ``tgp``, and find the width of the nodes after it.

    The pooler is run on a small graph: that gives the width, and shows what is missing before
    anything is trained.

    Args:
        name: As ``tgp`` calls it.
        channels: Width of the nodes.
        clusters: Number of clusters, for poolers that take one.
        ratio: Part of the nodes that are kept, for poolers that take one.
    """
    known = _known(name)
    base = name.removesuffix("_u")
    if base not in known or (name != base and "batched" not in _options(known[base])):
        raise ValueError(_unknown(name, known))
    wanted: dict[str, Any] = {
        "in_channels": channels,
        "k": clusters,
        "ratio": ratio,
        "sparse_output": True,  # clusters as nodes of one batch, those that are padding left out
        "adj_transpose": False,  # pooled edges go from the first row to the second, as others do
    }
    if name != base:
        wanted["batched"] = False
    options = {key: wanted[key] for key in wanted if key in _options(known[base])}
    try:
        pooler: nn.Module = known[base](**options)
        return pooler, _width_after(pooler, channels)
    except Exception as error:  # poolers raise many different exceptions
        reason = (str(error) or type(error).__name__).splitlines()[0]
        raise ValueError(f"pool '{TGP_PREFIX}{name}' does not work here: {reason}") from error


@contextmanager
def same_draws() -> Iterator[None]:
    """Let poolers that draw from numpy (``eigen``, ``nmf``) draw the same at every call.

    What they draw from torch comes from the stream of the training; numpy's global stream would
    make a fold depend on the folds before it. Threads have to take turns for it.
    """
    with _NUMPY, draws_of_others():
        before = np.random.get_state()
        np.random.seed(0)
        try:
            yield
        finally:
            np.random.set_state(before)


def _known(name: str) -> Mapping[str, Any]:
    try:
        from tgp.poolers import pooler_map
    except (ImportError, OSError) as error:  # OSError: compiled for another torch
        raise ValueError(
            f"pool '{TGP_PREFIX}{name}' needs torch-geometric-pool and torch_scatter ({error}); "
            "install them with: pip install --no-build-isolation torch_scatter (compiles, for "
            "minutes) and then: pip install 'lfds[tgp]'"
        ) from error
    poolers: Mapping[str, Any] = pooler_map
    return poolers


def _unknown(name: str, known: Mapping[str, Any]) -> str:
    near = closest(name, known)
    hint = "" if near is None else f"; did you mean '{TGP_PREFIX}{near}'?"
    return (
        f"pool must be {TGP_PREFIX} and one of {', '.join(known)}, got '{TGP_PREFIX}{name}'{hint}"
    )


def _options(pooler: Any) -> Container[str]:
    options: Container[str] = pooler.get_signature().args
    return options


def _width_after(pooler: nn.Module, channels: int) -> int:
    ring = torch.arange(6)
    ahead, back = torch.stack([ring, ring.roll(1)]), torch.stack([ring.roll(1), ring])
    edges = torch.cat([ahead, back], dim=1)
    # torch warns once per process about sparse matrices as tgp builds them; here it is silenced.
    quiet = warnings.catch_warnings(action="ignore", category=UserWarning)
    with quiet, initialize_from(0), torch.no_grad():
        x = torch.randn(6, channels)
        pooled = pooler.eval()(
            x=x, adj=edges, edge_weight=torch.ones(12), batch=torch.zeros_like(ring)
        )
    pooler.train()
    return int(pooled.x.shape[-1])
