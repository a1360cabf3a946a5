"""A residual CNN on the latent image: any network for images classifies sets of points.

The points of every object (a chair, a knife, ...) are distributed over the 8 x 8 slots of an image,
and a small CNN in the style of torchvision takes the place of the latent layers.
"""

import torch
from torch import Tensor, nn

import lfds
from lfds.data.datasets.pc_graphs.generate import PCGraphsSettings, pc_graphs


class Block(nn.Module):
    """A basic block of a residual network."""

    def __init__(self, in_channels: int, out_channels: int, stride: int) -> None:
        super().__init__()
        self.convolutions = nn.Sequential(
            nn.Conv2d(in_channels, out_channels, 3, stride, padding=1, bias=False),
            nn.BatchNorm2d(out_channels),
            nn.ReLU(inplace=True),
            nn.Conv2d(out_channels, out_channels, 3, padding=1, bias=False),
            nn.BatchNorm2d(out_channels),
        )
        self.downsample = nn.Sequential(
            nn.Conv2d(in_channels, out_channels, 1, stride, bias=False),
            nn.BatchNorm2d(out_channels),
        )

    def forward(self, image: Tensor) -> Tensor:
        """Add the convolutions to the image."""
        return torch.relu(self.convolutions(image) + self.downsample(image))


class Network(nn.Module):
    """A perceptron on every point, a CNN on the latent image, a linear head."""

    def __init__(self, features: int, classes: int) -> None:
        super().__init__()
        cnn = nn.Sequential(
            Block(32, 32, 1), Block(32, 64, 2), nn.AdaptiveAvgPool2d(1), nn.Flatten()
        )
        self.points = nn.Sequential(nn.Linear(features, 32), nn.ReLU(), nn.Linear(32, 32))
        self.pool = lfds.LFDSPool(32, lfds.Image(8, 8), latent=cnn)
        self.head = nn.Linear(self.pool.out_channels, classes)

    def forward(self, x: Tensor, ptr: Tensor) -> Tensor:
        """Logits of every object."""
        return self.head(self.pool(self.points(x), ptr=ptr))


def main() -> None:
    """Train for a few epochs and print the accuracy on objects that were not trained on."""
    torch.manual_seed(0)
    objects = pc_graphs(PCGraphsSettings(graphs_per_class=60)).graphs
    objects = objects.with_features(objects.coordinates)
    train, test = objects[:400], objects[400:]
    model = Network(objects.x.shape[1], objects.num_classes)
    optimizer = torch.optim.Adam(model.parameters())
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=0.01, total_steps=10 * 20)
    for _ in range(10):
        for chosen in torch.randperm(len(train)).split(20):
            batch = train.batch(chosen)
            loss = nn.functional.cross_entropy(model(batch.x, batch.ptr), batch.y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
    model.eval()
    correct = model(test.x, test.ptr).argmax(dim=1) == test.y
    print(model.pool)
    print(f"accuracy on {len(test)} test graphs: {100 * float(correct.float().mean()):.1f} %")


if __name__ == "__main__":
    main()
