"""What a set of graphs is like: counts, distributions, and what it lacks."""

from dataclasses import dataclass

import torch
from torch import Tensor

from lfds.data.datasets.catalog import Published
from lfds.data.graphset import GraphSet

_MOST_STEPS = 24


@dataclass(frozen=True)
class Spread:
    """The least, the quartiles and the most of some numbers, their mean, and a histogram.

    Attributes:
        counts: How many numbers fall in each of at most 24 equal steps from least to most.
    """

    least: int
    low: int
    median: int
    high: int
    most: int
    mean: float
    counts: tuple[int, ...]


@dataclass(frozen=True)
class Summary:
    """What a set of graphs is like.

    Attributes:
        undirected_edges: Pairs of nodes with an edge in either direction, loops included.
        one_way_edges: Edges without their reverse.
        class_counts: Graphs of each class.
        sizes: Nodes of graphs.
        degrees: Edges received by nodes.
        isolated_nodes: Nodes that neither send nor receive, but for a loop.
        empty_graphs: Graphs without nodes.
        constant_attributes: Columns of attributes with one value only.
    """

    undirected_edges: int
    one_way_edges: int
    self_loops: int
    class_counts: dict[str | int, int]
    sizes: Spread
    degrees: Spread
    isolated_nodes: int
    empty_graphs: int
    constant_attributes: list[int]


def summarise(graphs: GraphSet) -> Summary:
    """Count what there is to count."""
    receiver = torch.repeat_interleave(graphs.degrees)
    first = graphs.ptr[:-1].repeat_interleave(graphs.sizes)
    sender = graphs.edge_dst + first[receiver]
    loops = int((sender == receiver).sum())
    there = receiver * graphs.num_nodes + sender
    back = sender * graphs.num_nodes + receiver
    one_way = int((~torch.isin(back, there)).sum())
    touched = torch.zeros(graphs.num_nodes, dtype=torch.bool)
    touched[sender[sender != receiver]] = True
    touched[receiver[sender != receiver]] = True
    counts = graphs.y.bincount(minlength=graphs.num_classes).tolist() if graphs.classes else []
    return Summary(
        undirected_edges=(graphs.num_edges - loops - one_way) // 2 + one_way + loops,
        one_way_edges=one_way,
        self_loops=loops,
        class_counts=dict(zip(graphs.classes, counts, strict=True)),
        sizes=spread(graphs.sizes),
        degrees=spread(graphs.degrees),
        isolated_nodes=int((~touched).sum()),
        empty_graphs=int((graphs.sizes == 0).sum()),
        constant_attributes=_constant_columns(graphs.attributes),
    )


def spread(numbers: Tensor) -> Spread:
    """Summarise whole numbers; of none at all, everything is 0."""
    if len(numbers) == 0:
        return Spread(0, 0, 0, 0, 0, 0.0, ())
    ordered = numbers.sort().values
    last = len(ordered) - 1
    least, low, median, high, most = (int(ordered[last * part // 4]) for part in range(5))
    steps = min(_MOST_STEPS, most - least + 1)
    step = (numbers - least) * steps // (most - least + 1)
    counts = tuple(step.bincount(minlength=steps).tolist())
    return Spread(least, low, median, high, most, float(numbers.double().mean()), counts)


def lacks(graphs: GraphSet, summary: Summary) -> list[str]:
    """Return one sentence for each thing a user may expect and not find."""
    found = []
    if not graphs.attributes.shape[1] and not graphs.labels.shape[1]:
        found.append("nothing is known of the nodes: use an encoding such as degree or rwse")
    elif not graphs.attributes.shape[1]:
        found.append("no node attributes, labels only")
    elif not graphs.labels.shape[1]:
        found.append("no node labels, attributes only")
    if summary.constant_attributes:
        columns = ", ".join(map(str, summary.constant_attributes))
        found.append(f"attributes that never vary: column {columns}")
    empty_classes = [str(name) for name, count in summary.class_counts.items() if count == 0]
    if empty_classes:
        found.append(f"no graph of class {', '.join(empty_classes)}")
    found += _targets_lacking(graphs)
    if graphs.num_edges == 0:
        found.append("no edges at all")
    return found


def _targets_lacking(graphs: GraphSet) -> list[str]:
    if not graphs.has_targets:
        return ["no labels of graphs: nothing to learn, or to be judged by"]
    return ["only one class: nothing to tell apart"] if len(graphs.classes) == 1 else []


def differences(graphs: GraphSet, summary: Summary, published: Published) -> list[str]:
    """Return what is not as published; nothing when all of it matches."""
    count = max(len(graphs), 1)
    measured = {
        "graphs": (len(graphs), published.graphs, 0.0),
        "classes": (graphs.num_classes, published.classes, 0.0),
        "nodes per graph": (graphs.num_nodes / count, published.mean_nodes, 0.00501),
        "edges per graph": (summary.undirected_edges / count, published.mean_edges, 0.00501),
    }
    return [
        f"{what}: {found:g} where {wanted:g} is published"
        for what, (found, wanted, rounding) in measured.items()
        if abs(found - wanted) > rounding
    ]


def _constant_columns(table: Tensor) -> list[int]:
    if len(table) < 2:
        return []
    return (table == table[0]).all(dim=0).nonzero().flatten().tolist()
