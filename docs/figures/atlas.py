"""Draw where the nodes of one of the built-in shapes land on an image: ``make figures``.

The model is fitted on 480 shapes; shown is the table it is surest about, and the node with which
most others share their place.
"""

from pathlib import Path

import numpy as np

import lfds
from lfds.data.datasets.pc_graphs.generate import PCGraphsSettings, pc_graphs
from lfds.explain.figures import draw_landing

HERE = Path(__file__).parent


def main() -> None:
    graphs = pc_graphs(PCGraphsSettings(graphs_per_class=60)).graphs
    model = lfds.LFDSClassifier("image", epochs=40, seed=0).fit(graphs)
    table = graphs.classes.index("table")
    likely = model.predict_proba(graphs)[:, table] * (graphs.y == table).numpy()
    numbers = lfds.atlas(model, graphs, show=[int(likely.argmax())]).numbers
    shown = numbers.graphs[0]
    shares = shown.shares[0]
    together = np.minimum(shares[:, None], shares[None]).sum(axis=(1, 2))
    figure = draw_landing(numbers, shown, node=int(together.argmax()))
    figure.savefig(HERE / "atlas.png", dpi=100, bbox_inches="tight", metadata={"Software": None})


if __name__ == "__main__":
    main()
