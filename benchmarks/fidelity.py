r"""Whether the nodes that the atlas calls decisive are: what their removal does to the prediction.

Run: python -m benchmarks.fidelity DATA
Fits a loop on MUTAG, ENZYMES and PC Graphs, explains graphs that it was not fitted on, and writes
the table of docs/atlas.md.

Every method orders the nodes of a graph by their support for the predicted class, and calls the
first fifth decisive. Fidelity+ and fidelity- are those of ``torch_geometric.explain.metric`` for
explanations of the model: how often the prediction changes without the decisive nodes, and with
the decisive nodes alone. Nodes are taken out together with their edges; the others keep their
features. The drop is that of the probability of the predicted class without the decisive nodes.
"""

import argparse
import csv
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

import torch
from torch import Tensor, nn
from torch_geometric.explain import Explainer, Explanation, GNNExplainer
from torch_geometric.explain.metric import fidelity

import lfds
from benchmarks.marks import markdown_table, write_between
from lfds.data.batch import Batch
from lfds.data.datasets.pc_graphs.generate import PCGraphsSettings, pc_graphs
from lfds.data.graphset import GraphSet
from lfds.data.splits import stratified_folds
from lfds.explain.attribution import Attribution, attribute, representation, scores_by
from lfds.explain.capture import edges_of, latent_pools
from lfds.nn import Edges

PAGE = Path(__file__).parents[1] / "docs" / "atlas.md"
RESULTS = Path(__file__).parent / "results" / "fidelity.csv"
DECISIVE = 0.2
CONFIG = {"mode": "multiclass_classification", "task_level": "graph", "return_type": "raw"}


@dataclass(frozen=True)
class Case:
    """One graph and what is to be explained.

    Attributes:
        model: The fitted classifier.
        batch: The graph, encoded.
        found: Its attribution as in the atlas.
        gradients: The same by gradients alone.
        output: The predicted class.
        seed: A number of its own.
    """

    model: lfds.LFDSClassifier
    batch: Batch
    found: Attribution
    gradients: Attribution
    output: int
    seed: int


class Removable(nn.Module):
    """A network that takes out nodes whose last feature, which is one, was masked to zero.

    PyG masks features; a node that is masked completely is taken out with its edges, whose own
    features stay as they are.
    """

    def __init__(self, case: Case) -> None:
        super().__init__()
        self.network, self.edge_features = case.model.network_, case.batch.edge_x

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        """Return the outputs for one graph, its edges as PyG writes them."""
        present = x[:, -1] > 0
        edges = Edges.from_index(edge_index, x.shape[0], features=self.edge_features)
        edges = edges.subgraph(present)
        ptr = torch.tensor([0, int(present.sum())])
        outputs: Tensor = self.network(x[present, :-1], ptr, edges)
        return outputs


def with_ones(batch: Batch) -> Tensor:
    """Return the features of nodes, and a one for each."""
    return torch.cat([batch.x, torch.ones(batch.x.shape[0], 1)], dim=1)


def edge_index_of(batch: Batch) -> Tensor:
    """Return the edges of a batch as PyG writes them."""
    edges = edges_of(batch)
    return torch.stack([edges.rows.column.long(), edges.target.long()])


def random_order(case: Case) -> Tensor:
    """Nodes in random order."""
    return torch.rand(case.batch.x.shape[0], generator=torch.Generator().manual_seed(case.seed))


def by_degree(case: Case) -> Tensor:
    """Nodes with many neighbours first, equal ones in random order."""
    return case.batch.edge_ptr.diff() + 0.5 * random_order(case)


def saliency(case: Case) -> Tensor:
    """The absolute gradient of the class by the features of each node."""
    x = case.batch.x.clone().requires_grad_()
    outputs = case.model.network_(x, case.batch.ptr, edges_of(case.batch))
    score = scores_by(case.model.decoder_)(outputs)[0, case.output]
    (gradient,) = torch.autograd.grad(score, x)
    return gradient.abs().sum(dim=1)


def gnn_explainer(case: Case) -> Tensor:
    """PyG's GNNExplainer with a mask over nodes, its defaults otherwise."""
    torch.manual_seed(case.seed)
    explainer = Explainer(
        Removable(case),
        GNNExplainer(epochs=100),
        explanation_type="model",
        node_mask_type="object",
        model_config=CONFIG,
    )
    mask = explainer(with_ones(case.batch), edge_index_of(case.batch)).node_mask
    return mask[:, 0]


METHODS: Mapping[str, Callable[[Case], Tensor]] = {
    "random nodes": random_order,
    "highest degree": by_degree,
    "saliency": saliency,
    "GNNExplainer (PyG)": gnn_explainer,
    "atlas, by gradients (large graphs)": lambda case: case.gradients.nodes[:, case.output],
    "**atlas**": lambda case: case.found.nodes[:, case.output],
}


def judged(case: Case, support: Tensor) -> tuple[float, float, float]:
    """Return the drop of the probability, fidelity+ and fidelity- of an order of nodes."""
    count = case.batch.x.shape[0]
    decisive = torch.zeros(count, 1)
    decisive[support.argsort(descending=True, stable=True)[: max(1, round(DECISIVE * count))]] = 1
    explainer = Explainer(
        Removable(case),
        GNNExplainer(),
        explanation_type="model",
        node_mask_type="object",
        model_config=CONFIG,
    )
    x, edge_index = with_ones(case.batch), edge_index_of(case.batch)
    explanation = Explanation(x=x, edge_index=edge_index, node_mask=decisive)
    explanation.target, explanation._model_args = torch.tensor([case.output]), []
    plus, minus = fidelity(explainer, explanation)
    with torch.no_grad():
        left = explainer.get_masked_prediction(x, edge_index, 1 - decisive, None)
    scores = scores_by(case.model.decoder_)
    after = scores(left)[0, case.output].sigmoid()
    return float(case.found.scores[case.output].sigmoid() - after), plus, minus


def cases(graphs: GraphSet, epochs: int, most: int) -> tuple[list[Case], float]:
    """Fit on four fifths; return graphs of the other fifth to explain, and the accuracy there."""
    fold = stratified_folds(graphs.y.numpy(), folds=5, seed=0)[0]
    train, test = graphs[sorted([*fold.train, *fold.validation])], graphs[fold.test]
    model = lfds.LFDSClassifier("loop", epochs=epochs, seed=0).fit(train)
    accuracy = float((model.predict(test) == model.classes_[test.y.numpy()]).mean())
    network, decoder = model.network_.eval(), model.decoder_
    pools, encoded = latent_pools(network), model.encoder_.transform(test)
    average = representation(network, pools, encoded.batch(slice(None))).mean()
    made = []
    for number in range(min(most, len(test))):
        batch = encoded.batch([number])
        found = attribute(network, pools, batch, decoder, average)
        gradients = attribute(network, pools, batch, decoder, average, largest_removal=0)
        made.append(Case(model, batch, found, gradients, int(found.scores.argmax()), number))
    return made, accuracy


SETS: Mapping[str, Callable[[Path], GraphSet]] = {
    "MUTAG": lambda data: lfds.load_dataset("MUTAG", root=data),
    "ENZYMES": lambda data: lfds.load_dataset("ENZYMES", root=data),
    "PC Graphs": lambda _: pc_graphs(PCGraphsSettings(graphs_per_class=40)).graphs,
}
EPOCHS = {"MUTAG": 60, "ENZYMES": 20, "PC Graphs": 20}
COLUMNS = ("dataset", "graphs", "accuracy", "epochs", "method", "drop", "plus", "minus")


def measured(name: str, data: Path, epochs: int, most: int) -> list[dict[str, str]]:
    """Return what all methods find on one dataset."""
    explained, accuracy = cases(SETS[name](data), epochs, most)
    rows = []
    for method, order in METHODS.items():
        found = zip(*(judged(case, order(case)) for case in explained), strict=True)
        drop, plus, minus = (f"{fmean(part):.4f}" for part in found)
        values = (name, len(explained), f"{accuracy:.4f}", epochs, method, drop, plus, minus)
        rows.append(dict(zip(COLUMNS, map(str, values), strict=True)))
        print(f"{name}, {method}: drop {drop}, fidelity+ {plus}, fidelity- {minus}", flush=True)
    return rows


def table(rows: list[dict[str, str]]) -> str:
    """Return the table of all datasets and methods."""
    found = {(row["dataset"], row["method"]): row for row in rows}
    names = [name for name in SETS if any(row["dataset"] == name for row in rows)]
    head = [""]
    for name in names:
        head += [f"{name}: drop", "fidelity+", "fidelity\N{MINUS SIGN}"]
    lines = []
    for method in METHODS:
        shown = [f"{float(found[n, method][c]):.2f}" for n in names for c in COLUMNS[5:]]
        lines.append([method, *shown])
    notes = [found[name, "random nodes"] for name in names]
    sizes = ", ".join(
        f"{one['graphs']} graphs of {one['dataset']} ({one['epochs']} epochs, "
        f"{100 * float(one['accuracy']):.0f} % correct)"
        for one in notes
    )
    return (
        f"{markdown_table(head, lines)}\n\nA loop of 16 slots, fitted on four fifths of each "
        f"dataset; explained are {sizes} of the other fifth."
    )


def main() -> None:
    """Measure some datasets, and write what is known of all of them to docs/atlas.md."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("data", type=Path, help="folder of MUTAG and ENZYMES")
    parser.add_argument("--sets", nargs="*", default=list(SETS), choices=list(SETS))
    parser.add_argument("--graphs", type=int, default=40)
    options = parser.parse_args()
    torch.set_num_threads(1)
    for name in options.sets:
        made = measured(name, options.data, EPOCHS[name], options.graphs)
        before = list(csv.DictReader(RESULTS.open(encoding="utf-8"))) if RESULTS.exists() else []
        rows = [row for row in before if row["dataset"] != name] + made
        with RESULTS.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
        write_between(PAGE, "fidelity", table(rows))


if __name__ == "__main__":
    main()
