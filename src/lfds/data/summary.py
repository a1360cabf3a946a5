"""Statistics of a set of graphs, and what it lacks."""

from dataclasses import dataclass

import torch
from torch import Tensor

from lfds.data.datasets.catalog import Published
from lfds.data.graphset import MISSING_CLASS, GraphSet

_MAX_BINS = 24


@dataclass(frozen=True)
class Distribution:
    """Minimum, quartiles, maximum and mean of some integers, and a histogram.

    Attributes:
        histogram: Number of values in each of at most 24 equal bins from minimum to maximum.
    """

    minimum: int
    lower_quartile: int
    median: int
    upper_quartile: int
    maximum: int
    mean: float
    histogram: tuple[int, ...]


@dataclass(frozen=True)
class Summary:
    """Statistics of a set of graphs.

    Attributes:
        undirected_edges: Number of node pairs with an edge in either direction, and of self loops.
        one_way_edges: Number of edges without their reverse.
        self_loops: Number of edges from a node to itself.
        class_counts: Number of graphs of each class; of several targets, of each of them together.
        sizes: Number of nodes per graph.
        degrees: Number of edges received per node.
        isolated_nodes: Number of nodes without edges, apart from self loops.
        empty_graphs: Number of graphs without nodes.
        constant_attributes: Columns of attributes with a single value.
    """

    undirected_edges: int
    one_way_edges: int
    self_loops: int
    class_counts: dict[str | int, int]
    sizes: Distribution
    degrees: Distribution
    isolated_nodes: int
    empty_graphs: int
    constant_attributes: list[int]


def summarize(graphs: GraphSet) -> Summary:
    """Return the statistics of a set."""
    edge_index = graphs.edge_index
    senders, receivers = edge_index
    is_loop = senders == receivers
    loops = int(is_loop.sum())
    forward = receivers * graphs.num_nodes + senders
    backward = senders * graphs.num_nodes + receivers
    one_way = int((~torch.isin(backward, forward)).sum())
    connected = torch.zeros(graphs.num_nodes, dtype=torch.bool)
    connected[edge_index[:, ~is_loop]] = True
    counts = []
    if graphs.classes:
        known = graphs.y[graphs.y != MISSING_CLASS]
        counts = known.bincount(minlength=graphs.num_classes).tolist()
    return Summary(
        undirected_edges=(graphs.num_edges - loops - one_way) // 2 + one_way + loops,
        one_way_edges=one_way,
        self_loops=loops,
        class_counts=dict(zip(graphs.classes, counts, strict=True)),
        sizes=distribution(graphs.sizes),
        degrees=distribution(graphs.degrees),
        isolated_nodes=int((~connected).sum()),
        empty_graphs=int((graphs.sizes == 0).sum()),
        constant_attributes=_constant_columns(graphs.attributes),
    )


def distribution(values: Tensor) -> Distribution:
    """Return the distribution of integers; all zeros if there are none."""
    if len(values) == 0:
        return Distribution(0, 0, 0, 0, 0, 0.0, ())
    ordered = values.sort().values
    last = len(ordered) - 1
    low, lower, median, upper, high = (int(ordered[last * part // 4]) for part in range(5))
    bins = min(_MAX_BINS, high - low + 1)
    bin_of = (values - low) * bins // (high - low + 1)
    histogram = tuple(bin_of.bincount(minlength=bins).tolist())
    return Distribution(low, lower, median, upper, high, float(values.double().mean()), histogram)


def missing(graphs: GraphSet, summary: Summary) -> list[str]:
    """Return what a user may expect and the set does not have, one phrase each."""
    found = []
    if not graphs.width("attributes") and not graphs.width("labels"):
        found.append("no node features: use a structural encoding")
    elif not graphs.width("attributes"):
        found.append("no node attributes, labels only")
    elif not graphs.width("labels"):
        found.append("no node labels, attributes only")
    if summary.constant_attributes:
        columns = ", ".join(map(str, summary.constant_attributes))
        found.append(f"constant attributes: column {columns}")
    empty_classes = [str(name) for name, count in summary.class_counts.items() if count == 0]
    if empty_classes:
        found.append(f"no graph of class {', '.join(empty_classes)}")
    found += _missing_targets(graphs)
    if graphs.num_edges == 0:
        found.append("no edges at all")
    return found


def _missing_targets(graphs: GraphSet) -> list[str]:
    if not graphs.has_targets:
        return ["no targets: nothing to learn from or evaluate with"]
    return ["only one class: nothing to classify"] if len(graphs.classes) == 1 else []


def differences(graphs: GraphSet, summary: Summary, published: Published) -> list[str]:
    """Return how a set differs from its published statistics."""
    count = max(len(graphs), 1)
    measured = {
        "graphs": (len(graphs), published.graphs, 0.0),
        "classes": (graphs.num_classes, published.classes, 0.0),
        "nodes per graph": (graphs.num_nodes / count, published.mean_nodes, 0.00501),
        "edges per graph": (summary.undirected_edges / count, published.mean_edges, 0.00501),
    }
    return [
        f"{name}: {found:g}, published {expected:g}"
        for name, (found, expected, rounding) in measured.items()
        if abs(found - expected) > rounding
    ]


def _constant_columns(table: Tensor) -> list[int]:
    if len(table) < 2:
        return []
    return (table == table[0]).all(dim=0).nonzero().flatten().tolist()
