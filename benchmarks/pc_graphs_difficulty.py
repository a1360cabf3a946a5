"""Measure how hard PC Graphs are: random forests on edges, degrees, walks and paths.

Run: python benchmarks/pc_graphs_difficulty.py [--clouds FOLDER] [--per-class N]
Prints a Markdown table of accuracies (5 stratified folds, random forest of 300 trees).
"""

import argparse

import numpy as np
from scipy.sparse.csgraph import shortest_path
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from lfds.data.datasets.pc_graphs.generate import PCGraphsSettings, pc_graphs
from lfds.data.encodings.base import degrees
from lfds.data.encodings.compute import adjacencies
from lfds.data.encodings.rwse import rwse
from lfds.data.graphset import GraphSet
from lfds.data.readers.clouds import CloudSettings

MOST_NEIGHBOURS = 40
LONGEST_PATH = 50


def edge_count(graph) -> np.ndarray:
    return np.array([graph.nnz])


def degree_histogram(graph) -> np.ndarray:
    return np.bincount(degrees(graph).astype(int), minlength=MOST_NEIGHBOURS)[:MOST_NEIGHBOURS]


def return_quantiles(graph) -> np.ndarray:
    """Return the distribution of return probabilities over the nodes, for each number of steps."""
    return np.quantile(rwse(graph, 24), np.linspace(0, 1, 11), axis=0).ravel()


def path_lengths(graph) -> np.ndarray:
    """Return the distributions of distances in hops over pairs, and of means over nodes."""
    hops = shortest_path(graph, unweighted=True)
    # Unconnected nodes get the longest distance that is counted.
    hops = np.minimum(hops, LONGEST_PATH).astype(int)
    pairs = np.bincount(hops.ravel(), minlength=LONGEST_PATH + 1)
    return np.concatenate([pairs, np.quantile(hops.mean(axis=1), np.linspace(0, 1, 21))])


DESCRIPTIONS = {
    "number of edges": edge_count,
    "degree histogram": degree_histogram,
    "random-walk returns": return_quantiles,
    "lengths of shortest paths": path_lengths,
}


def predictions(graphs: GraphSet, describe) -> np.ndarray:
    features = np.stack([describe(graph) for graph in adjacencies(graphs)])
    forest = RandomForestClassifier(300, random_state=0, min_samples_leaf=2)
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    return cross_val_predict(forest, features, graphs.y.numpy(), cv=folds)


def rare_classes_removed(graphs: GraphSet) -> GraphSet:
    """Return the graphs of classes with at least five, as five folds need."""
    counts = np.bincount(graphs.y.numpy())
    return graphs[np.flatnonzero(counts[graphs.y.numpy()] >= 5)]


def report(title: str, graphs: GraphSet) -> None:
    kept = rare_classes_removed(graphs)
    y = kept.y.numpy()
    print(f"\n**{title}**: {len(kept)} graphs, largest class {np.bincount(y).max() / len(y):.1%}\n")
    print("| features of a graph | accuracy | " + " | ".join(map(str, kept.classes)) + " |")
    print("|---|--:|" + "--:|" * len(kept.classes))
    for name, describe in DESCRIPTIONS.items():
        right = predictions(kept, describe) == y
        # A class that was left out has no recall.
        recall = [
            f"{right[y == c].mean():.0%}" if (y == c).any() else "-"
            for c in range(kept.num_classes)
        ]
        print(f"| {name} | {right.mean():.1%} | " + " | ".join(recall) + " |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clouds", help="a folder of real clouds, CLASS/NAME.xyz")
    parser.add_argument("--per-class", type=int, default=500)
    options = parser.parse_args()
    built_in = pc_graphs(PCGraphsSettings(graphs_per_class=options.per_class))
    report("Built-in PC Graphs", built_in.graphs)
    if options.clouds:
        from lfds.data.readers.clouds import read_clouds

        report("Real clouds", read_clouds(options.clouds, CloudSettings()).graphs)


if __name__ == "__main__":
    main()
