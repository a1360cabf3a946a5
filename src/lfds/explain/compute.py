"""Computes the numbers of an atlas with the network itself: shares, picks and predictions."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from lfds.config.messages import counted
from lfds.config.network import SlotReadout
from lfds.data.encodings.encoder import Encoder
from lfds.data.errors import DataError
from lfds.data.graphset import GraphSet
from lfds.estimator.options import Label
from lfds.estimator.output_decoding import (
    ClassDecoder,
    Decoder,
    MultiLabelDecoder,
    ValueDecoder,
)
from lfds.estimator.target_matching import as_in_model, target_places
from lfds.estimator.targets import (
    class_indices,
    class_labels,
    given_names,
    in_order_of,
    regression_targets,
)
from lfds.explain.attribution import Representation, attribute, average_of, representation
from lfds.explain.capture import latent_pools, trace_pools
from lfds.explain.drawing import draw_structure
from lfds.explain.layout import fit_to_square, stress_layout
from lfds.explain.node_names import (
    Naming,
    bond_orders,
    categories,
    details,
    molecule_positions,
    naming_of,
    symbols,
)
from lfds.explain.record import (
    AtlasNumbers,
    Floats,
    GraphView,
    Integers,
    Neighbourhood,
    PoolView,
    interest,
)
from lfds.explain.slot_meaning import SlotCollector
from lfds.explain.topography import expected_error, scattered_nodes
from lfds.nn import GraphNetwork
from lfds.nn.ops.ragged import runs_of_nodes
from lfds.nn.pool import LatentPool

# What a readout takes of all slots beside their maxima, in words.
EXTRA_READOUTS: Mapping[SlotReadout, str] = {
    "max": "",
    "max+mean": "means",
    "max+weighted": "learned weighted sums",
}
MOST_NEIGHBOURS = 12
NODES_OF_A_PIECE = 1 << 18
NODES_OF_A_BATCH = 2048


def atlas_numbers(
    network: GraphNetwork,
    encoder: Encoder,
    graphs: GraphSet,
    decoder: Decoder,
    shown: int | Sequence[int],
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
        shown: Which of the graphs are drawn, or how many; see :func:`choose_graphs`.
        nodes_of_a_piece: Number of nodes that are encoded at a time.
        nodes_of_a_batch: Number of nodes in a batch.
    """
    pools = latent_pools(network)
    naming = naming_of(graphs)
    category = categories(graphs, naming)
    collectors = [SlotCollector(pool.structure.num_slots, len(naming.legend)) for pool in pools]
    neighbours = [_neighbours(pool) for pool in pools]
    outputs: list[Floats] = []
    traces, seen_slots = [], []
    for piece in runs_of_nodes(graphs.ptr, nodes_of_a_piece):
        encoded = encoder.transform(graphs[piece].in_memory())
        for rows in runs_of_nodes(encoded.ptr, nodes_of_a_batch):
            batch = encoded.batch(rows)
            found, seen = trace_pools(network, pools, batch)
            seen_slots.append((representation(network, pools, batch).mean(), len(batch)))
            start = sum(len(part) for part in outputs)
            own = category[int(graphs.ptr[start]) : int(graphs.ptr[start + len(batch)])]
            for collector, one in zip(collectors, seen, strict=True):
                collector.add(_array(one.shares), batch.ptr.cpu().numpy(), start, own)
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
            typical=collector.typical,
            mix=collector.mix,
            neighbourhoods=tuple(
                tuple(neighbourhood(graphs[[graph]], node, naming) for _, graph, node in some)
                for some in collector.typical
            ),
            **_topography([trace[number][2] for trace in traces], near),
        )
        for number, (pool, near, collector) in enumerate(
            zip(pools, neighbours, collectors, strict=True)
        )
    )
    predicted = predictions(np.concatenate(outputs), graphs, decoder)
    if isinstance(shown, int):
        shown = choose_graphs(predicted, shown)
    return AtlasNumbers(
        name=graphs.name,
        **predicted,
        legend=naming.legend,
        legend_title=naming.title,
        overall=collectors[0].overall,
        pools=views,
        graphs=tuple(
            _views(network, encoder, graphs, shown, pools, decoder, naming, average_of(seen_slots))
        ),
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
        what = counted(values.shape[1], "target")
        raise DataError(f"has {what} for each graph, and the model {decoder.outputs}", source="y")
    values = in_order_of(decoder.names, values, y, graphs)
    return graphs.with_targets(torch.from_numpy(values).float(), ())


def in_model_order(graphs: GraphSet, decoder: Decoder) -> GraphSet:
    """Return graphs with the values that they carry in the order of a model, matched by name.

    Args:
        graphs: Which may carry some of the values, or others.
        decoder: The decoder of the model.
    """
    names = given_names(None, graphs)
    several = isinstance(decoder, ValueDecoder) and not decoder.single
    if not several or graphs.classes or not names:
        return graphs
    try:
        places = target_places(decoder.target_names, names, some=True)
    except DataError:  # of other graphs; their values are not shown
        return graphs
    table = graphs.y.reshape(len(graphs), -1).numpy().astype(np.float64)
    return graphs.with_targets(torch.from_numpy(as_in_model(table, places, np.nan)).float())


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


def choose_graphs(predicted: Mapping[str, Any], count: int) -> list[int]:
    """Choose graphs to draw, classes in turn: one with much to explain, then the next in order.

    Args:
        predicted: What :func:`predictions` returns.
        count: Number of graphs, at most.
    """
    keys = ("target", "probabilities", "values", "true_values")
    much = np.argsort(-interest(*(predicted[key] for key in keys)), kind="stable").tolist()
    target = predicted["target"].tolist()
    half = [much[place] for place in spread_over_classes([target[n] for n in much], -(-count // 2))]
    others = [number for number in range(len(target)) if number not in set(half)]
    rest = spread_over_classes([target[number] for number in others], count - len(half))
    return sorted([*half, *(others[place] for place in rest)])


def neighbourhood(graph: GraphSet, node: int, naming: Naming) -> Neighbourhood:
    """Return a node of one graph and its neighbours, at most :data:`MOST_NEIGHBOURS` of them."""
    edges = undirected_edges(graph)
    touching = edges[(edges == node).any(axis=1)]
    near = touching[touching != node][:MOST_NEIGHBOURS]
    kept = np.array([node, *near.tolist()])
    place = {old: new for new, old in enumerate(kept.tolist())}
    inside = np.isin(edges, kept).all(axis=1)
    names, bonds = symbols(graph, naming), bond_orders(graph, edges, naming)
    positions = node_positions(graph, edges, names, bonds)[kept]
    # Seen from the node, as large as its neighbourhood.
    centred = positions[:, :2] - positions[0, :2]
    scaled = centred / max(float(np.abs(centred).max(initial=0)), 1e-9)
    return Neighbourhood(
        scaled.astype(np.float32),
        np.array([[place[a], place[b]] for a, b in edges[inside].tolist()]).reshape(-1, 2),
        tuple(names[old] for old in kept),
        categories(graph, naming)[kept],
        bonds[inside],
    )


def node_positions(
    graph: GraphSet, edges: Integers, names: Sequence[str] = (), bonds: Integers | None = None
) -> np.ndarray:
    """Return where the nodes of one graph are drawn: their coordinates, or a layout.

    Args:
        graph: One graph.
        edges: Its edges, each once.
        names: The elements of its nodes, if it is a molecule.
        bonds: The orders of its bonds, which are known for molecules.
    """
    own = graph.coordinates.numpy().astype(np.float64)
    if own.shape[1] == 0:
        chemical = (
            molecule_positions(names, edges, bonds) if bonds is not None and bonds.any() else None
        )
        if chemical is not None:
            return fit_to_square(chemical)
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
    pools: Sequence[LatentPool],
    decoder: Decoder,
    naming: Naming,
    average: Representation,
) -> Iterator[GraphView]:
    encoded = encoder.transform(graphs[list(shown)].in_memory())
    for place, number in enumerate(shown):
        graph = encoded[place]
        # Alone: the shares of a graph do not depend on the others of a batch.
        traces = trace_pools(network, pools, graph.batch([0]))[1]
        found = attribute(network, pools, graph.batch([0]), decoder, average)
        edges = undirected_edges(graph)
        names, bonds = symbols(graph, naming), bond_orders(graph, edges, naming)
        yield GraphView(
            number=number,
            positions=node_positions(graph, edges, names, bonds).astype(np.float32),
            symbols=names,
            details=details(graph, naming),
            category=categories(graph, naming),
            bonds=bonds,
            has_coordinates=graph.coordinates.shape[1] > 0,
            edges=edges,
            shares=tuple(_array(trace.shares) for trace in traces),
            scores=_array(found.scores),
            effects=_array(found.nodes),
            exact=found.exact,
            classes=isinstance(decoder, ClassDecoder | MultiLabelDecoder),
            slot_effects=tuple(map(_array, found.slots)),
            beside=_array(found.beside),
            reference=_array(found.reference),
        )


def _neighbours(pool: LatentPool) -> NDArray[np.bool_] | None:
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
