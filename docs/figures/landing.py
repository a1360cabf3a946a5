"""Draw where the parts of ``examples/counting_parts.py`` land on a loop and on an image.

``make figures`` trains both and writes ``landing.png`` beside this file.
"""

import math
import runpy
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import torch
from matplotlib.axes import Axes
from torch import Tensor

import lfds

HERE = Path(__file__).parent
EXAMPLE = runpy.run_path(str(HERE.parents[1] / "examples" / "counting_parts.py"))
COLORS = torch.tensor(
    [[0.12, 0.47, 0.71], [0.89, 0.47, 0.10], [0.17, 0.63, 0.17], [0.58, 0.34, 0.74]]
)


def mixed(masses: Tensor) -> tuple[Tensor, Tensor]:
    """Colour of every slot by whose nodes it holds, and how much it holds; [classes, slots]."""
    weights = masses / masses.sum(dim=0, keepdim=True)
    return weights.T @ COLORS, masses.sum(dim=0) / masses.sum(dim=0).max()


def draw_nodes(axes: Axes, x: Tensor, kind: Tensor) -> None:
    centred = x - x.mean(dim=0)
    _, _, directions = torch.linalg.svd(centred, full_matrices=False)
    plane = centred @ directions[:2].T
    axes.scatter(*plane.T, s=90, c=COLORS[kind].numpy(), edgecolors="white")
    axes.set_title("nodes of one set, four classes")


def draw_loop(axes: Axes, masses: Tensor) -> None:
    colors, size = mixed(masses)
    num_slots = masses.shape[1]
    angle = torch.arange(num_slots + 1) * (2 * math.pi / num_slots)
    axes.plot(angle.sin(), angle.cos(), color="0.75", zorder=0)
    axes.scatter(angle[:-1].sin(), angle[:-1].cos(), s=40 + 900 * size, c=colors, edgecolors="0.4")
    axes.set_title("distributed over a loop of 12 slots")
    axes.set_xlim(-1.4, 1.4)
    axes.set_ylim(-1.4, 1.4)


def draw_image(axes: Axes, masses: Tensor, height: int, width: int) -> None:
    colors, size = mixed(masses)
    shown = 1 - (1 - colors) * size[:, None].sqrt()
    axes.imshow(shown.view(height, width, 3))
    axes.set_xticks([i + 0.5 for i in range(width - 1)])
    axes.set_yticks([i + 0.5 for i in range(height - 1)])
    axes.grid(color="white", linewidth=2)
    axes.set_title("distributed over a 4x4 image")


def masses_by_kind(pool: lfds.LFDSPool, x: Tensor, index: Tensor, kind: Tensor) -> Tensor:
    with torch.no_grad():
        shares = pool.shares(x, index)
    return torch.stack([shares[kind == k].sum(dim=0) for k in range(len(COLORS))])


def main() -> None:
    torch.manual_seed(0)
    channels = EXAMPLE["CHANNELS"]
    prototypes = torch.randn(EXAMPLE["TYPES"], channels)
    # The anchors of the paper are free: a slot comes to hold few classes, which is easy to see.
    options = {"reduction": "mean", "slot_dropout": 0.0}
    loop = lfds.LFDSPool.paper(channels, lfds.Loop(12), **options)
    image = lfds.LFDSPool.paper(channels, lfds.Image(4, 4), **options)
    for pool in (loop, image):
        EXAMPLE["accuracy"](pool, pool.out_channels, prototypes)
    x, index, kind, _ = EXAMPLE["random_sets"](prototypes)
    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(11, 3.8), dpi=110)
    draw_nodes(left, x[index == 0], kind[index == 0])
    draw_loop(middle, masses_by_kind(loop, x, index, kind))
    draw_image(right, masses_by_kind(image, x, index, kind), 4, 4)
    for axes in (left, middle, right):
        axes.set_aspect("equal" if axes is not left else "auto")
        axes.tick_params(length=0, labelleft=False, labelbottom=False)
        for spine in axes.spines.values():
            spine.set_visible(False)
    figure.tight_layout()
    figure.savefig(HERE / "landing.png")


if __name__ == "__main__":
    main()
