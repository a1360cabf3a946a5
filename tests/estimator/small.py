"""Small graphs of two classes, and estimators that are fitted on them in a moment."""

from functools import cache

import networkx as nx
import numpy as np

import lfds

FAST = {"slots": 4, "epochs": 2, "batch_size": 8, "options": {"width": 8, "head_width": 8}}
NAMES = ("path", "ring")


def networkx_graphs(count=24):
    """Paths and rings in turn; every node has a category and a number."""
    rng = np.random.default_rng(0)
    graphs = []
    for number in range(count):
        make = nx.cycle_graph if number % 2 else nx.path_graph
        graph = make(3 + number % 4)
        for node in graph.nodes:
            graph.nodes[node]["kind"] = int(rng.integers(3)) + 3 * (number % 2)
            graph.nodes[node]["weight"] = float(rng.normal())
        graphs.append(graph)
    return graphs


def labels(count=24):
    return [NAMES[number % 2] for number in range(count)]


@cache
def graphs(count=24):
    return lfds.GraphSet.from_networkx(
        networkx_graphs(count), labels(count), attributes=["weight"], label="kind", name="drawn"
    )


@cache
def values(count=24):
    """Regression targets: the sizes of the graphs, scaled."""
    return graphs(count).sizes.numpy() * 1.5


@cache
def classifier():
    """A fitted classifier; do not fit it again."""
    return lfds.LFDSClassifier(**FAST, seed=1).fit(graphs())


@cache
def regressor():
    """A fitted regressor; do not fit it again."""
    return lfds.LFDSRegressor(**FAST).fit(graphs(), values())
