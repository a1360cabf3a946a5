"""Time the prediction of a fitted model beside the same model in a plain PyG loop.

Both sides hold the graphs in memory in their own form and return class probabilities, which are
checked to be equal first; the PyG side gets encoded nodes. They run in turns, ratios are taken
within a round, and processor time of one thread is measured.

Run: python -m benchmarks.predict FOLDER [NAME ...]; writes the section of benchmarks/README.md.
"""

import os
import sys
import time
from collections.abc import Callable, Iterator
from copy import deepcopy
from pathlib import Path
from statistics import median
from typing import Any

import torch
from torch import Tensor, nn
from torch_geometric.data import Data
from torch_geometric.loader import DataLoader
from torch_geometric.utils import scatter, to_dense_batch

import lfds
from benchmarks.marks import write_between
from benchmarks.pyg_network import READ_AS_CLUSTERS, WIDTH, Net, relu_and_norm
from lfds.data import GraphSet
from lfds.nn import GraphNetwork

# The default configuration, and as many slots as in the paper, read as there.
MODELS = {"default": {}, "64 slots": {"slots": 64, "options": READ_AS_CLUSTERS}}
ROUNDS = 9
BATCHES = (32, 128, 512)


class LoopLayer(nn.Module):
    """A graph convolution on a circle of slots."""

    def __init__(self) -> None:
        super().__init__()
        self.own = nn.Linear(WIDTH, WIDTH, bias=False)
        self.sent = nn.Linear(WIDTH, WIDTH, bias=False)
        self.own_f, self.sent_f = relu_and_norm(WIDTH), relu_and_norm(WIDTH)

    def forward(self, slots: Tensor) -> Tensor:
        own = self.own_f(self.own(slots).flatten(0, 1)).view_as(slots)
        sent = self.sent_f(self.sent(slots).flatten(0, 1)).view_as(slots)
        return own + sent.roll(1, dims=1) + sent.roll(-1, dims=1)


class LoopPool(nn.Module):
    """The latent loop as one writes it with PyG: pad, multiply and mask, or scatter.

    Args:
        pool: The fitted layer, whose parameters are copied.
        padded: Whether nodes are padded, or scattered as in the paper's equation.
    """

    def __init__(self, pool: lfds.LFDSPool, padded: bool) -> None:
        super().__init__()
        self.uses_all_layers = pool.input_map is not None
        self.input_map = deepcopy(pool.input_map) if self.uses_all_layers else nn.Identity()
        self.padded = padded
        self.out_channels = pool.out_channels
        self.anchors = pool.anchors(None).data.clone()
        self.direction = None if pool.counts is None else pool.counts.direction.data.clone()
        self.norm = nn.Identity() if pool.node_norm is None else deepcopy(pool.node_norm.norm)
        self.weights = [part.weights.data.clone() for part in pool.weights]
        self.layers = nn.ModuleList([LoopLayer(), LoopLayer()])

    def forward(self, x: Tensor, data: Data) -> Tensor:
        x = self.norm(self.input_map(x))
        slots = self.by_padding(x, data) if self.padded else self.by_scattering(x, data)
        vectors = []
        for k, layer in enumerate(self.layers):
            slots = layer(slots)
            vectors.append(slots.amax(dim=1))
            if self.weights:
                vectors.append((slots * self.weights[k]).sum(dim=1))
        return torch.cat(vectors, dim=1)

    def by_padding(self, x: Tensor, data: Data) -> Tensor:
        nodes, mask = to_dense_batch(x, data.batch)
        share = (nodes @ self.anchors.T).softmax(dim=-1) * mask[:, :, None]
        mean = share.transpose(1, 2) @ nodes / mask.sum(dim=1)[:, None, None]
        return mean if self.direction is None else mean + self.counted(share.sum(dim=1))

    def by_scattering(self, x: Tensor, data: Data) -> Tensor:
        share = (x @ self.anchors.T).softmax(dim=-1)
        mean = scatter(share[:, :, None] * x[:, None, :], data.batch, reduce="mean")
        return mean if self.direction is None else mean + self.counted(scatter(share, data.batch))

    def counted(self, mass: Tensor) -> Tensor:
        return mass.log1p()[:, :, None] * self.direction


def copy_pair(
    own: nn.Linear, sent: nn.Linear, own_f: nn.Module, sent_f: nn.Module, ours: nn.Module
) -> None:
    """Copy one of our layers, which hold both transforms in one matrix and both norms in one."""
    for half, linear, f in ((0, own, own_f), (1, sent, sent_f)):
        linear.weight.data = ours.transforms.weight.data.chunk(2)[half].clone()
        norm = ours.activation.norm
        for name in ("weight", "bias", "running_mean", "running_var"):
            getattr(f[1], name).data = getattr(norm, name).data.chunk(2)[half].clone()


def same_in_pyg(network: GraphNetwork, padded: bool) -> Net:
    """Return the network with the same weights, as one would write it with PyG."""
    pool = network.pool.pools[0]
    net = Net(network.in_channels, network.out_channels, LoopPool(pool, padded))
    pairs = [*zip(net.convs, network.base.layers, strict=True)]
    pairs += [*zip(net.pool.layers, pool.layers, strict=True)]
    for theirs, ours in pairs:
        copy_pair(theirs.own, theirs.sent, theirs.own_f, theirs.sent_f, ours)
    head = [part for part in network.head.layers if not isinstance(part, nn.Dropout)]
    their_head = [part for part in net.head if not isinstance(part, nn.Dropout)]
    for theirs, ours in zip(their_head, head, strict=True):
        state = ours.norm.state_dict() if hasattr(ours, "norm") else ours.state_dict()
        (theirs[1] if hasattr(ours, "norm") else theirs).load_state_dict(state)
    return net.eval()


def pyg_loop(net: Net, data: list[Data], size: int, temperature: float) -> Callable[[], Tensor]:
    loader = DataLoader(data, size)

    def run() -> Tensor:
        with torch.inference_mode():
            return torch.cat([(net(batch) / temperature).softmax(dim=1) for batch in loader])

    return run


def contestants(graphs: GraphSet, options: dict[str, Any]) -> dict[str, Callable[[], Tensor]]:
    clf = lfds.LFDSClassifier(**options, epochs=3, patience=None).fit(graphs)
    encoded = clf.encoder_.transform(graphs)
    data = [Data(x=g.x, edge_index=g.edge_index) for g in encoded.to_pyg()]
    net, literal = (same_in_pyg(clf.network_, padded) for padded in (True, False))
    runs = {"lfds": lambda: torch.from_numpy(clf.predict_proba(graphs))}
    for size in BATCHES:
        runs[f"PyG, padded, batches of {size}"] = pyg_loop(net, data, size, clf.temperature_)
    runs["PyG, scattered, batches of 32"] = pyg_loop(literal, data, 32, clf.temperature_)
    first, *others = (run().float() for run in runs.values())
    for other in others:
        torch.testing.assert_close(other, first, rtol=1e-3, atol=1e-4)
    return runs


def race(runs: dict[str, Callable[[], Tensor]]) -> dict[str, list[float]]:
    times: dict[str, list[float]] = {name: [] for name in runs}
    for turn in range(ROUNDS + 1):
        for name, run in runs.items():
            start = time.process_time()
            run()
            if turn:  # the first time warms up
                times[name].append(time.process_time() - start)
    return times


def lines_for(name: str, graphs: GraphSet, model: str) -> Iterator[str]:
    times = race(contestants(graphs, MODELS[model]))
    sizes = f"{len(graphs)} graphs, {graphs.num_nodes} nodes, {ROUNDS} rounds"
    yield f"\n**{name}, {model}**: {sizes}\n"
    yield "| predicted by | ms | graphs per second | times slower than lfds | smallest | largest |"
    yield "|---|--:|--:|--:|--:|--:|"
    for contestant, taken in times.items():
        ratio = [slow / fast for slow, fast in zip(taken, times["lfds"], strict=True)]
        middle = median(taken)
        yield (
            f"| {contestant} | {1000 * middle:.0f} | {len(graphs) / middle:.0f} | "
            f"{median(ratio):.1f} | {min(ratio):.1f} | {max(ratio):.1f} |"
        )


def main() -> None:
    torch.set_num_threads(1)
    folder = Path(sys.argv[1])
    lines = [
        f"torch {torch.__version__}, one thread, processor time, a loop; load of the machine "
        f"{os.getloadavg()[0]:.1f} on {os.cpu_count()} processors.",
    ]
    for name in sys.argv[2:] or ["ENZYMES", "MUTAG"]:
        graphs = lfds.load_dataset(name, root=folder)
        for model in MODELS:
            for line in lines_for(name, graphs, model):
                print(line, flush=True)
                lines.append(line)
    write_between(Path(__file__).with_name("README.md"), "prediction", "\n".join(lines))


if __name__ == "__main__":
    main()
