"""Draw where the nodes of one of the built-in shapes land on an image: ``make figures``.

The model is fitted on 480 shapes; shown is the shape, of those the model is right about, that it
is surest of, and the node that decided most.
"""

from pathlib import Path

import numpy as np

import lfds
from lfds.data.pc_graphs import PCGraphsSettings, pc_graphs
from lfds.explain.figures import draw_landing

HERE = Path(__file__).parent


def main() -> None:
    graphs = pc_graphs(PCGraphsSettings(graphs_per_class=60)).graphs
    model = lfds.LFDSClassifier("image", epochs=40, seed=0).fit(graphs)
    likely = model.predict_proba(graphs)
    surest = int(likely[np.arange(len(graphs)), graphs.y.numpy()].argmax())
    numbers = lfds.atlas(model, graphs, show=[surest]).numbers
    shown = numbers.graphs[0]
    figure = draw_landing(numbers, shown, node=int(shown.deciding[0].argmax()))
    figure.savefig(HERE / "atlas.png", dpi=100, bbox_inches="tight", metadata={"Software": None})


if __name__ == "__main__":
    main()
