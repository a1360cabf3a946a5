"""What an atlas shows, computed by the network itself: shares, picks and predictions."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
from torch import Tensor

from lfds.data.encodings.encoder import Encoder
from lfds.data.graphset import GraphSet
from lfds.estimator.output_decoding import AmountMeaning, ClassMeaning
from lfds.explain.capture import latent_pools, look
from lfds.explain.layout import fitted, lay_out
from lfds.explain.predictions import predictions
from lfds.explain.record import AtlasNumbers, Floats, GraphView, PoolView, Whole, deciding
from lfds.explain.structures import draw
from lfds.nn import GraphNetwork, LFDSPool
from lfds.nn.ops.ragged import runs_of_nodes
from lfds.nn.slot_modules import SlotReadout

# In words, what a readout takes of all slots beside their maxima.
BESIDE: Mapping[SlotReadout, str] = {
    "max": "",
    "max+mean": "means",
    "max+weighted": "sums by learned weights",
}
_NODES_OF_A_PIECE = 1 << 18
_NODES_OF_A_BATCH = 2048


def atlas_numbers(
    network: GraphNetwork,
    encoder: Encoder,
    graphs: GraphSet,
    meaning: ClassMeaning | AmountMeaning,
    shown: Sequence[int],
) -> AtlasNumbers:
    """Compute all numbers of an atlas.

    Args:
        network: A network that pools on at least one latent structure; left as it was.
        encoder: What makes the features that the network was trained on.
        graphs: The graphs over which maps are averaged.
        meaning: What the outputs of the network stand for.
        shown: Which of the graphs are drawn.
    """
    pools = latent_pools(network)
    outputs, looks = [], []
    for encoded, rows in _pieces(encoder, graphs):
        found, seen = look(network, pools, encoded.batch(rows))
        outputs.append(_plain(found))
        looks.append([(_plain(one.mass), _plain(one.picks)) for one in seen])
    views = tuple(
        PoolView(
            name=type(pool.structure).__name__,
            drawing=draw(pool.structure),
            mass=np.concatenate([seen[place][0] for seen in looks]),
            picks=np.concatenate([seen[place][1] for seen in looks]),
            beside=BESIDE[pool.readout],
        )
        for place, pool in enumerate(pools)
    )
    chosen = encoder.transform(graphs[list(shown)])
    return AtlasNumbers(
        name=graphs.name,
        **predictions(np.concatenate(outputs), graphs, meaning),
        pools=views,
        graphs=tuple(
            view_of(network, pools, views, chosen[place], number)
            for place, number in enumerate(shown)
        ),
        through=(*(pool.out_channels for pool in pools), network.out_channels),
    )


def _pieces(encoder: Encoder, graphs: GraphSet) -> Iterator[tuple[GraphSet, slice]]:
    """Encode some graphs at a time, and yield runs of them small enough for one batch."""
    for piece in runs_of_nodes(graphs.ptr, _NODES_OF_A_PIECE):
        encoded = encoder.transform(graphs[piece])
        for rows in runs_of_nodes(encoded.ptr, _NODES_OF_A_BATCH):
            yield encoded, rows


def view_of(
    network: GraphNetwork,
    pools: Sequence[LFDSPool],
    views: Sequence[PoolView],
    graph: GraphSet,
    number: int,
) -> GraphView:
    """Return one graph as it is drawn, alone: a graph's shares do not depend on its company."""
    looks = look(network, pools, graph.batch([0]))[1]
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
