"""Computes the numbers of an atlas with the network itself: shares, picks and predictions."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from lfds.config.network import SlotReadout
from lfds.data.encodings.encoder import Encoder
from lfds.data.errors import DataError
from lfds.data.graphset import GraphSet
from lfds.estimator.options import Label
from lfds.estimator.output_decoding import ClassDecoder, Decoder, MultiLabelDecoder
from lfds.estimator.targets import class_indices, class_labels, regression_targets
from lfds.explain.capture import latent_pools, trace_pools
from lfds.explain.drawing import draw_structure
from lfds.explain.layout import fit_to_square, stress_layout
from lfds.explain.record import (
    AtlasNumbers,
    Floats,
    GraphView,
    Integers,
    PoolView,
    contributions,
)
from lfds.explain.topography import expected_error, scattered_nodes
from lfds.nn import GraphNetwork, LFDSPool
from lfds.nn.ops.ragged import runs_of_nodes

# What a readout takes of all slots beside their maxima, in words.
EXTRA_READOUTS: Mapping[SlotReadout, str] = {
    "max": "",
    "max+mean": "means",
    "max+weighted": "learned weighted sums",
}
NODES_OF_A_PIECE = 1 << 18
NODES_OF_A_BATCH = 2048


def atlas_numbers(
    network: GraphNetwork,
    encoder: Encoder,
    graphs: GraphSet,
    decoder: Decoder,
    shown: Sequence[int],
    *,
    nodes_of_a_piece: int = NODES_OF_A_PIECE,
    nodes_of_a_batch: int = NODES_OF_A_BATCH,
) -> AtlasNumbers:
    """Compute all numbers of an atlas.

    Args:
        network: A network with at least one latent structure; it is not changed.
        encoder: Computes the features that the network was fitted on.
        graphs: The graphs that maps are averaged over.
        decoder: Turns the outputs of the network into probabilities or values.
        shown: Which of the graphs are drawn.
        nodes_of_a_piece: Number of nodes that are encoded at a time.
        nodes_of_a_batch: Number of nodes in a batch.
    """
    pools = latent_pools(network)
    neighbours = [_neighbours(pool) for pool in pools]
    outputs, traces = [], []
    for piece in runs_of_nodes(graphs.ptr, nodes_of_a_piece):
        encoded = encoder.transform(graphs[piece].in_memory())
        for rows in runs_of_nodes(encoded.ptr, nodes_of_a_batch):
            found, seen = trace_pools(network, pools, encoded.batch(rows))
            outputs.append(_array(found))
            traces.append(
                [
                    (_array(one.mass), _array(one.picks), _scattered(one.shares, near))
                    for one, near in zip(seen, neighbours, strict=True)
                ]
            )
    views = tuple(
        PoolView(
            name=type(pool.structure).__name__,
            drawing=draw_structure(pool.structure),
            mass=np.concatenate([trace[number][0] for trace in traces]),
            picks=np.concatenate([trace[number][1] for trace in traces]),
            extra_readout=EXTRA_READOUTS[pool.readout],
            **_topography([trace[number][2] for trace in traces], near),
        )
        for number, (pool, near) in enumerate(zip(pools, neighbours, strict=True))
    )
    return AtlasNumbers(
        name=graphs.name,
        **predictions(np.concatenate(outputs), graphs, decoder),
        pools=views,
        graphs=tuple(_views(network, encoder, graphs, shown, pools, views)),
        head_channels=(*(pool.out_channels for pool in pools), network.vector_channels),
    )


def predictions(outputs: Floats, graphs: GraphSet, decoder: Decoder) -> dict[str, Any]:
    """Return predictions and true targets of each graph, as fields of AtlasNumbers."""
    nothing = np.zeros((len(graphs), 0), dtype=np.float32)
    if isinstance(decoder, ClassDecoder):
        return {
            "classes": tuple(str(name) for name in decoder.names),
            "target": true_classes(graphs, decoder.names),
            "probabilities": decoder.probabilities(outputs).astype(np.float32),
            "values": nothing,
            "true_values": nothing,
        }
    several = isinstance(decoder, MultiLabelDecoder)
    read = decoder.probabilities if isinstance(decoder, MultiLabelDecoder) else decoder.values
    values = read(outputs).reshape(len(graphs), -1).astype(np.float32)
    return {
        "classes": (),
        "target": np.full(len(graphs), -1),
        "probabilities": nothing,
        # Of several targets with two classes, the probability of the second.
        "values": values,
        "true_values": nothing if several else true_values(graphs, values.shape[1]),
    }


def with_targets(graphs: GraphSet, y: Any, decoder: Decoder) -> GraphSet:
    """Return the graphs with targets that the user passed.

    Args:
        graphs: The targets that they carry are replaced.
        y: What ``fit`` takes; classes of the model, or as many values as it predicts.
        decoder: The decoder of the model.
    """
    if isinstance(decoder, ClassDecoder):
        indices = class_indices(class_labels(y, graphs), decoder.labels)
        return graphs.with_targets(indices, tuple(str(name) for name in decoder.names))
    if isinstance(decoder, MultiLabelDecoder):
        return graphs  # predictions of several targets are shown without the true ones
    values = regression_targets(y, graphs).reshape(len(graphs), -1)
    if values.shape[1] != decoder.outputs:
        raise DataError(
            f"has {values.shape[1]} targets for each graph, and the model {decoder.outputs}",
            source="y",
        )
    return graphs.with_targets(torch.from_numpy(values).float(), ())


def true_classes(graphs: GraphSet, classes: Sequence[Label]) -> Integers:
    """Return the class of each graph as an index into ``classes``; -1 where it is none of them."""
    if not graphs.classes:
        return np.full(len(graphs), -1)
    # Numbers are equal whatever their type (1, 1.0, True); strings may spell numbers.
    by_value = {name: index for index, name in enumerate(classes)}
    by_text = {str(name): index for index, name in enumerate(classes)}
    indices = [by_value.get(name, by_text.get(str(name), -1)) for name in graphs.classes]
    targets: Integers = np.array(indices)[graphs.y.numpy()].astype(np.int64)
    return targets


def true_values(graphs: GraphSet, width: int) -> Floats:
    """Return the targets that graphs carry ``[graphs, width]``; NaN if their shape differs."""
    y = graphs.y.numpy()
    carried = np.array(graphs.classes)[y] if graphs.classes else y
    if carried.dtype.kind not in "iuf" or carried.size != len(graphs) * width:
        return np.full((len(graphs), width), np.nan, dtype=np.float32)
    return carried.reshape(len(graphs), width).astype(np.float32)


def spread_over_classes(target: Iterable[int], count: int) -> list[int]:
    """Choose at most ``count`` graphs: the first of each class, then the second of each ..."""
    seen: dict[int, int] = {}
    turns = []
    for number, position in enumerate(target):
        turns.append((seen.setdefault(position, 0), number))
        seen[position] += 1
    return sorted(number for _, number in sorted(turns)[:count])


def node_positions(graph: GraphSet, edges: Integers) -> np.ndarray:
    """Return where the nodes of one graph are drawn: their coordinates, or a layout."""
    own = graph.coordinates.numpy().astype(np.float64)
    if own.shape[1] == 0:
        return stress_layout(graph.num_nodes, edges)
    width = min(max(own.shape[1], 2), 3)
    positions = np.zeros((len(own), width))
    positions[:, : min(own.shape[1], width)] = own[:, :width]
    return fit_to_square(positions)


def undirected_edges(graph: GraphSet) -> Integers:
    """Return the edges of one graph ``[edges, 2]``, each once, without self loops."""
    receiver = np.repeat(np.arange(graph.num_nodes), graph.degrees.numpy())
    ends = np.sort(np.stack([graph.edge_dst.numpy().astype(np.int64), receiver], axis=1), axis=1)
    return np.unique(ends[ends[:, 0] != ends[:, 1]], axis=0)


def _views(
    network: GraphNetwork,
    encoder: Encoder,
    graphs: GraphSet,
    shown: Sequence[int],
    pools: Sequence[LFDSPool],
    views: Sequence[PoolView],
) -> Iterator[GraphView]:
    encoded = encoder.transform(graphs[list(shown)].in_memory())
    for place, number in enumerate(shown):
        graph = encoded[place]
        # Alone: the shares of a graph do not depend on the others of a batch.
        traces = trace_pools(network, pools, graph.batch([0]))[1]
        shares = tuple(_array(trace.shares) for trace in traces)
        edges = undirected_edges(graph)
        yield GraphView(
            number=number,
            positions=node_positions(graph, edges).astype(np.float32),
            has_coordinates=graph.coordinates.shape[1] > 0,
            edges=edges,
            shares=shares,
            contributions=tuple(
                contributions(own, view.picked[number])
                for own, view in zip(shares, views, strict=True)
            ),
        )


def _neighbours(pool: LFDSPool) -> NDArray[np.bool_] | None:
    """Which slots are neighbours; None where that is learned, or where no slot has any."""
    laplacian = pool.structure.laplacian()
    if laplacian is None:
        return None
    near = laplacian.fill_diagonal_(0).detach().cpu().numpy() != 0
    return near if near.any() else None


def _scattered(shares: Tensor, neighbours: NDArray[np.bool_] | None) -> NDArray[np.bool_]:
    if neighbours is None:
        return np.zeros(0, dtype=bool)
    return scattered_nodes(_array(shares), neighbours)


def _topography(
    scattered: list[NDArray[np.bool_]], neighbours: NDArray[np.bool_] | None
) -> dict[str, float]:
    every = np.concatenate(scattered)
    if neighbours is None or not len(every):
        return {}
    return {"topographic_error": every.mean().item(), "random_error": expected_error(neighbours)}


def _array(tensor: Tensor) -> Floats:
    return tensor.cpu().float().numpy()
