"""Draw clouds of the built-in PC Graphs, a row for each class, as the graphs are made from them.

``make figures``, or ``python docs/figures/pc_graphs.py OUT.png [--columns 8] [--points 150]``.
"""

import argparse

import matplotlib as mpl
import numpy as np

from lfds.data.datasets.pc_graphs.generate import SHAPES, PCGraphsSettings, draw_cloud

mpl.use("Agg")
from matplotlib import pyplot as plt

# Flat things lie on the ground: they are looked at from above.
FROM_ABOVE = {"knife", "guitar"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out")
    parser.add_argument("--columns", type=int, default=8)
    parser.add_argument("--points", type=int, default=150)
    options = parser.parse_args()
    settings = PCGraphsSettings(points=options.points)
    figure = plt.figure(figsize=(1.5 * options.columns, 1.4 * len(SHAPES)))
    for row, kind in enumerate(SHAPES):
        for column in range(options.columns):
            place = row * options.columns + column + 1
            axes = figure.add_subplot(len(SHAPES), options.columns, place, projection="3d")
            points = draw_cloud(kind, column, settings)
            axes.scatter(*points.T, s=700 / options.points, c=points[:, 2], cmap="viridis")
            axes.set_box_aspect(np.ptp(points, axis=0), zoom=1.1)
            axes.view_init(*((75, -70) if kind in FROM_ABOVE else (25, -60)))
            axes.set_axis_off()
        figure.text(0.01, 1 - (row + 0.5) / len(SHAPES), kind, rotation=90, va="center")
    figure.subplots_adjust(left=0.02, right=1, bottom=0, top=1, wspace=0, hspace=0)
    figure.savefig(options.out, dpi=60)


if __name__ == "__main__":
    main()
