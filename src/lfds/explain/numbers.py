"""What an atlas shows, computed by the network itself: shares, picks and predictions."""

from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from lfds.data.batch import Batch
from lfds.data.encodings.encoder import Encoder
from lfds.data.graphset import GraphSet
from lfds.explain.errors import ExplainError
from lfds.explain.layout import fitted, lay_out
from lfds.explain.record import AtlasNumbers, Floats, GraphView, PoolView, Whole, deciding
from lfds.explain.structures import draw
from lfds.nn import Edges, GraphClassifier, LFDSPool

_GRAPHS_AT_ONCE = 32
_NO_TARGETS: tuple[str | int, ...] = (0,)  # what a set holds that was read without any


@dataclass(frozen=True, eq=False)
class Look:
    """What one structure did with the graphs of a batch.

    Attributes:
        shares: ``[nodes, slots]``.
        mass: ``[graphs, slots]``.
        picks: ``[graphs, depth, slots]``.
    """

    shares: Tensor
    mass: Tensor
    picks: Tensor


def atlas_numbers(
    network: GraphClassifier,
    encoder: Encoder,
    graphs: GraphSet,
    classes: Sequence[str | int],
    shown: Sequence[int],
) -> AtlasNumbers:
    """Compute all numbers of an atlas.

    Args:
        network: A network that pools on at least one latent structure; left as it was.
        encoder: What makes the features that the network was trained on.
        graphs: The graphs over which maps are averaged.
        classes: Names of what the network tells apart.
        shown: Which of the graphs are drawn.
    """
    pools = latent_pools(network)
    encoded = encoder.transform(graphs)
    probabilities, looks = [], []
    for rows in torch.arange(len(graphs)).split(_GRAPHS_AT_ONCE):
        logits, seen = look(network, pools, encoded.batch(rows))
        probabilities.append(logits.softmax(dim=1))
        looks.append([Look(one.shares[:0], one.mass, one.picks) for one in seen])
    views = tuple(
        PoolView(
            name=type(pool.structure).__name__,
            drawing=draw(pool.structure),
            mass=_plain(torch.cat([seen[place].mass for seen in looks])),
            picks=_plain(torch.cat([seen[place].picks for seen in looks])),
        )
        for place, pool in enumerate(pools)
    )
    return AtlasNumbers(
        name=graphs.name,
        classes=tuple(str(name) for name in classes),
        target=known_targets(graphs, classes),
        probabilities=_plain(torch.cat(probabilities)),
        pools=views,
        graphs=tuple(view_of(network, pools, views, encoded, number) for number in shown),
        through=(*(pool.out_channels for pool in pools), network.out_channels),
    )


def latent_pools(network: GraphClassifier) -> list[LFDSPool]:
    """Return the poolings on latent structures that a network is made of."""
    pools = [module for module in network.modules() if isinstance(module, LFDSPool)]
    if not pools:
        raise ExplainError(
            f"an atlas needs a model with a latent structure, but this one pools by "
            f"{network.settings.pool!r}; fit one with loop, image, array, sequence, "
            f"learned-spatial or learned-spectral"
        )
    return pools


@torch.no_grad()
def look(
    network: GraphClassifier, pools: Sequence[LFDSPool], batch: Batch
) -> tuple[Tensor, list[Look]]:
    """Run the network on a batch, and see what each pooling makes of the nodes it is handed."""
    handed: dict[LFDSPool, tuple[Tensor, Tensor]] = {}
    was_training = network.training
    network.eval()
    try:
        with ExitStack() as hooks:
            for pool in pools:
                hook = pool.register_forward_pre_hook(_keeping(handed), with_kwargs=True)
                hooks.callback(hook.remove)
            edges = Edges.from_rows(batch.edge_ptr, batch.edge_dst)
            logits: Tensor = network(batch.x, batch.ptr, edges)
        return logits, [_look(pool, *handed[pool]) for pool in pools]
    finally:
        network.train(was_training)


def _keeping(handed: dict[LFDSPool, tuple[Tensor, Tensor]]) -> Any:
    def keep(pool: LFDSPool, args: tuple[Tensor, ...], options: dict[str, Any]) -> None:
        x, _, ptr = (*args, None, None)[:3]
        handed[pool] = (x, options.get("ptr", ptr))

    return keep


def _look(pool: LFDSPool, x: Tensor, ptr: Tensor) -> Look:
    shares = pool.shares(x, ptr=ptr)
    sizes = ptr.diff()
    received = torch.stack([part.sum(dim=0) for part in shares.split(sizes.tolist())])
    mass = received / sizes.clamp(min=1)[:, None]
    return Look(shares, mass, pool.picks(x, ptr=ptr))


def view_of(
    network: GraphClassifier,
    pools: Sequence[LFDSPool],
    views: Sequence[PoolView],
    encoded: GraphSet,
    number: int,
) -> GraphView:
    """Return one graph as it is drawn, alone: a graph's shares do not depend on its company."""
    graph = encoded[number]
    looks = look(network, pools, encoded.batch([number]))[1]
    shares = tuple(_plain(one.shares) for one in looks)
    edges = undirected(graph)
    true_place = graph.coordinates.shape[1] > 0
    return GraphView(
        number=number,
        xy=places_of(graph, edges).astype(np.float32),
        true_place=true_place,
        edges=edges,
        shares=shares,
        deciding=tuple(
            deciding(own, view.picked[number]) for own, view in zip(shares, views, strict=True)
        ),
    )


def places_of(graph: GraphSet, edges: Whole) -> np.ndarray:
    """Return where the nodes of one graph are drawn: their own coordinates, or a layout."""
    own = graph.coordinates.numpy().astype(np.float64)
    if own.shape[1] == 0:
        return lay_out(graph.num_nodes, edges)
    width = min(max(own.shape[1], 2), 3)
    places = np.zeros((len(own), width))
    places[:, : min(own.shape[1], width)] = own[:, :width]
    return fitted(places)


def undirected(graph: GraphSet) -> Whole:
    """Return the edges of one graph ``[edges, 2]``, each once, loops left out."""
    receiver = np.repeat(np.arange(graph.num_nodes), graph.degrees.numpy())
    ends = np.sort(np.stack([graph.edge_dst.numpy().astype(np.int64), receiver], axis=1), axis=1)
    return np.unique(ends[ends[:, 0] != ends[:, 1]], axis=0)


def known_targets(graphs: GraphSet, classes: Sequence[str | int]) -> Whole:
    """Return the class of each graph as a position in ``classes``; -1 where it is none of them."""
    if graphs.classes in ((), _NO_TARGETS):
        return np.full(len(graphs), -1)
    places = {str(name): place for place, name in enumerate(classes)}
    of_position = np.array([places.get(str(name), -1) for name in graphs.classes])
    return of_position[graphs.y.numpy()].astype(np.int64)


def spread_over_classes(target: Iterable[int], count: int) -> list[int]:
    """Choose at most ``count`` graphs: the first of each class, then the second of each ..."""
    seen: dict[int, int] = {}
    turns = []
    for number, position in enumerate(target):
        turns.append((seen.setdefault(position, 0), number))
        seen[position] += 1
    return sorted(number for _, number in sorted(turns)[:count])


def _plain(tensor: Tensor) -> Floats:
    return tensor.cpu().float().numpy()
