"""Readers of objects in memory: arrays, PyG's Data, NetworkX graphs, and inputs of estimators."""

import warnings
from pathlib import Path
from random import Random
from typing import Any

import networkx as nx
import numpy as np
import torch
from torch_geometric.data import Data

from lfds.data import GraphSet
from lfds.estimator.input_conversion import UnseenLabelsWarning
from tests.attack.sanity import check_graphs, check_probabilities
from tests.attack.targets import Read, target
from tests.attack.values import another_value, mutate_value
from tests.estimator.small import classifier, networkx_graphs

_ARRAYS = {
    "sizes": [3, 0, 2],
    "edge_index": [[0, 1, 1, 2, 3, 4, 4], [1, 0, 2, 1, 4, 3, 4]],
    "y": [0, 1, 1],
    "attributes": [[0.5, 1.0], [1.5, 2.0], [2.5, 3.0], [3.5, 4.0], [4.5, 5.0]],
    "labels": [7, 5, 7, 5, 9],
    "edge_attributes": [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0], [6.0]],
    "edge_labels": [1, 1, 2, 2, 1, 1, 3],
    "coordinates": [[0.0, 1, 2], [1, 2, 3], [2, 3, 4], [3, 4, 5], [4, 5, 6]],
}


@target("arrays")
def arrays(random: Random | None, folder: Path) -> Read:
    given: dict[str, Any] = dict(_ARRAYS)
    if random is not None:
        for name in random.sample(sorted(given), random.choice((1, 1, 2))):
            given[name] = other_array(given[name], random)
        for name in sorted(given):
            if random.random() < 0.15 and name not in ("sizes", "edge_index"):
                del given[name]

    def read() -> None:
        check_graphs(GraphSet.from_arrays(**given))

    return read


def other_array(values: Any, random: Random) -> Any:
    """Return an array of another type, shape or content, or something that is no array."""
    if random.random() < 0.4:
        return mutate_value(values, random)
    array = np.array(values)
    how = random.choice(("type", "shape", "content", "tensor", "nothing", "view"))
    if how == "type":
        kinds = ("f2", "f8", "i1", "u1", "u8", "?", "c8", "O", "U5", "S3", "M8[s]", "f4", "i8")
        with np.errstate(all="ignore"):
            return array.astype(random.choice(kinds))
    if how == "shape":
        return random.choice((array[:-1], array[..., None], array.T, array.ravel(), array[:0]))
    if how == "content":
        array = array.astype(float)
        special = (np.nan, np.inf, -np.inf, -1.0, 2.0**40, 1e300, 0.5)
        array.flat[random.randrange(array.size)] = random.choice(special)
        return array if random.random() < 0.5 else array.tolist()
    if how == "tensor":
        return _other_tensor(torch.tensor(values), random)
    if how == "view":
        return random.choice((array[::-1], np.broadcast_to(array[:1], array.shape)))
    return random.choice((None, 5, "text", object(), [[1, 2], [3]], {}, np.float32(3), iter([1])))


def _other_tensor(tensor: torch.Tensor, random: Random) -> torch.Tensor:
    makes = (
        lambda: tensor.to(torch.bfloat16),
        lambda: tensor.double().requires_grad_(),
        lambda: tensor.to(torch.complex64),
        lambda: tensor.to_sparse(),
        lambda: tensor.to("meta"),
        lambda: tensor.bool(),
        lambda: tensor[:0],
        lambda: tensor.flip(0),
        lambda: tensor.reshape(-1),
        lambda: tensor.to(torch.float8_e4m3fn),
        lambda: torch.quantize_per_tensor(tensor.float(), 0.1, 0, torch.qint8),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch's own, about quantized tensors
        return random.choice(makes)()


@target("pyg")
def pyg(random: Random | None, folder: Path) -> Read:
    items: list[Any] = [
        Data(
            x=torch.tensor([[0.5], [1.0], [1.5]]),
            edge_index=torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]]),
            edge_attr=torch.tensor([[1.0], [1.0], [2.0], [2.0]]),
            pos=torch.zeros(3, 3),
            y=torch.tensor([number % 2]),
        )
        for number in range(3)
    ]
    if random is not None:
        _spoil_data(items, random)

    def read() -> None:
        check_graphs(GraphSet.from_pyg(items))

    return read


def _spoil_data(items: list[Any], random: Random) -> None:
    for _ in range(random.choice((1, 1, 2, 3))):
        item = random.choice(items)
        how = random.random()
        if how < 0.1 or not isinstance(item, Data):
            items[random.randrange(len(items))] = random.choice((None, 5, "CCO", Data(), {}, item))
            continue
        key = random.choice(("x", "edge_index", "edge_attr", "pos", "y", "labels", "edge_labels"))
        if how < 0.2:
            item[key] = None
        elif how < 0.3:
            item.num_nodes = random.choice((0, -1, 2, 10**7, 2**62, None, "3", 1.5))
        else:
            value = item.get(key)
            usual = torch.zeros(3) if not isinstance(value, torch.Tensor) else value
            dense = usual.detach().to_dense() if usual.is_sparse else usual
            if dense.device.type == "meta" or dense.is_quantized:
                dense = torch.zeros(3)
            item[key] = other_array(dense.float().tolist() if dense.numel() else [1], random)


@target("networkx")
def networkx(random: Random | None, folder: Path) -> Read:
    graphs: list[Any] = [graph.copy() for graph in networkx_graphs(4)]
    y: Any = [0, 1, 0, 1]
    if random is not None:
        for _ in range(random.choice((1, 1, 2))):
            _spoil_graph(graphs, random)
        if random.random() < 0.2:
            y = other_array(y, random)

    def read() -> None:
        check_graphs(GraphSet.from_networkx(graphs, y, attributes=["weight"], label="kind"))

    return read


def _spoil_graph(graphs: list[Any], random: Random) -> None:
    place = random.randrange(len(graphs))
    graph = graphs[place]
    how = random.choice(("value", "value", "missing", "node", "kind", "other", "empty", "target"))
    if not isinstance(graph, nx.Graph) or how == "other":
        graphs[place] = random.choice((None, 5, "CCO", [], nx.Graph, np.zeros((3, 3))))
    elif how == "value" and len(graph):
        node = random.choice(list(graph))
        graph.nodes[node][random.choice(("kind", "weight"))] = another_value(random)
    elif how == "missing" and len(graph):
        graph.nodes[random.choice(list(graph))].clear()
    elif how == "node":
        graph.add_edge(random.choice((0, "a", None.__class__, (1, 2), "\x1b[1m")), "new")
    elif how == "kind":
        makes = (nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph)
        graphs[place] = random.choice(makes)(graph)
    elif how == "target":
        graph.graph["y"] = another_value(random)
    else:
        graphs[place] = random.choice((nx.Graph(), nx.null_graph()))


@target("estimator-input")
def estimator_input(random: Random | None, folder: Path) -> Read:
    """Graphs in any form, given to a fitted classifier."""
    model = classifier()
    given: Any = [graph.copy() for graph in networkx_graphs(3)]
    if random is not None:
        how = random.random()
        if how < 0.6:
            _spoil_graph(given, random)
        elif how < 0.8:
            given = other_array([[[0.5, 1.0], [2.0, 3.0]], [[1.0, 1.0], [0.0, 2.0]]], random)
        else:
            given = another_value(random)
    model.set_params(node_attributes=["weight"], node_label="kind")

    def read() -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UnseenLabelsWarning)
            rows = model.predict_proba(given)
        check_probabilities(rows, len(given) if hasattr(given, "__len__") else len(rows))

    return read
