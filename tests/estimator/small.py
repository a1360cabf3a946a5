"""Graphs that are easily told apart, and a network that is fitted in no time."""

from functools import cache

import networkx as nx
import numpy as np

import lfds

FAST = {"slots": 4, "epochs": 2, "batch_size": 8, "options": {"width": 8, "head_width": 8}}
NAMES = ("path", "ring")


def drawn(count=24):
    """Rings and paths in turn, with a kind and a weight for every node."""
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


def names(count=24):
    return [NAMES[number % 2] for number in range(count)]


@cache
def graphs(count=24):
    return lfds.GraphSet.from_networkx(
        drawn(count), names(count), attributes=["weight"], label="kind", name="drawn"
    )


@cache
def amounts(count=24):
    return graphs(count).sizes.numpy() * 1.5


@cache
def classifier():
    """A fitted one; do not fit it again."""
    return lfds.LFDSClassifier(**FAST, seed=1).fit(graphs())


@cache
def regressor():
    return lfds.LFDSRegressor(**FAST).fit(graphs(), amounts())
