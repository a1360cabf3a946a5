"""Draw free and smooth anchors of the same structure, trained alike: ``make figures``.

Slots are coloured by the first three principal components of what they hold: the mean node
that each slot receives. Above them: how many nodes have their two largest shares on neighbouring
slots, and how many slots are idle.
"""

from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import torch

import lfds
from lfds.data.datasets.pc_graphs.generate import PCGraphsSettings, pc_graphs
from lfds.data.graphset import GraphSet
from lfds.explain.capture import latent_pools
from lfds.explain.record import PoolView
from lfds.nn.ops.edges import Edges

HERE = Path(__file__).parent
SIDE = 8


def contents(model: lfds.LFDSClassifier, graphs: GraphSet) -> np.ndarray:
    """The mean node that every slot receives, [slots, channels]."""
    network, (pool,) = model.network_.eval(), latent_pools(model.network_)
    batch = model.encoder_.transform(graphs).batch(range(len(graphs)))
    edges = Edges.from_rows(batch.edge_ptr, batch.edge_dst)
    with torch.no_grad():
        everything, _ = network.base(batch.x, edges)
        shares = pool.shares(everything, ptr=batch.ptr)
        nodes = pool.node_norm(pool.input_map(everything))
    return ((shares.T @ nodes) / shares.sum(dim=0)[:, None]).numpy()


def colours(held: np.ndarray) -> np.ndarray:
    """The first three principal components as red, green and blue."""
    centred = held - held.mean(axis=0)
    left, size, _ = np.linalg.svd(centred, full_matrices=False)
    components = left[:, :3] * size[:3]
    low, high = components.min(axis=0), components.max(axis=0)
    return (components - low) / (high - low)


def caption(view: PoolView) -> str:
    near, chance = 1 - view.topographic_error, 1 - view.random_error
    return (
        f"two largest shares on neighbours:\n{near:.0%} of the nodes ({chance:.0%} by chance)\n"
        f"{view.idle.sum()} of {view.num_slots} slots idle"
    )


def main() -> None:
    graphs = pc_graphs(PCGraphsSettings(graphs_per_class=60)).graphs
    figure, axes = plt.subplots(1, 2, figsize=(7.2, 4.4), layout="constrained")
    for axis, anchors in zip(axes, ("fixed", "smooth"), strict=True):
        model = lfds.LFDSClassifier(
            "image", slots=SIDE**2, epochs=30, seed=0, options={"anchors": anchors}
        ).fit(graphs)
        view = lfds.atlas(model, graphs, show=1).numbers.pools[0]
        print(anchors, caption(view).replace("\n", " "), flush=True)
        axis.imshow(colours(contents(model, graphs)).reshape(SIDE, SIDE, 3))
        axis.set_title(f"anchors={anchors!r}", fontsize=11)
        axis.set_xlabel(caption(view), fontsize=9)
        axis.set_xticks([])
        axis.set_yticks([])
    figure.savefig(HERE / "topography.png", dpi=110, metadata={"Software": None})


if __name__ == "__main__":
    main()
