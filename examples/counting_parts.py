"""Which part occurs most often?  A task that max pooling cannot solve.

Every set holds parts of four types, and its class is the type in the majority. The maximum over the
nodes is the same for all classes; a latent structure keeps count. The second table shows over which
slots the parts of every type are distributed.
"""

import torch
from torch import Tensor, nn
from torch_geometric.nn import aggr

import lfds

TYPES, CHANNELS, SETS = 4, 16, 600


def random_sets(prototypes: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return nodes, the set of each, the type of each, and the class of every set."""
    labels = torch.randint(TYPES, (SETS,))
    counts = torch.randint(2, 6, (SETS, TYPES))
    counts[torch.arange(SETS), labels] = counts.amax(dim=1) + 1
    types = torch.arange(TYPES).repeat(SETS).repeat_interleave(counts.flatten())
    index = torch.arange(SETS).repeat_interleave(counts.sum(dim=1))
    x = prototypes[types] + 0.3 * torch.randn(len(types), CHANNELS)
    return x, index, types, labels


def accuracy(pool: nn.Module, width: int, prototypes: Tensor, epochs: int = 150) -> float:
    """Train a pooling and a linear head on half of the sets, and test it on the other half."""
    torch.manual_seed(1)
    x, index, _, labels = random_sets(prototypes)
    train, test = torch.arange(SETS) < SETS // 2, torch.arange(SETS) >= SETS // 2
    head = nn.Linear(width, TYPES)
    optimizer = torch.optim.Adam([*pool.parameters(), *head.parameters()], lr=0.01)
    for _ in range(epochs):
        logits = head(pool(x, index, dim_size=SETS))
        loss = nn.functional.cross_entropy(logits[train], labels[train]) + lfds.nn.penalty(pool)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    pool.eval()
    predicted = head(pool(x, index, dim_size=SETS)).argmax(dim=1)
    return float((predicted == labels)[test].float().mean())


def main() -> None:
    """Compare max pooling with two structures, and print the shares of every type of part."""
    torch.manual_seed(0)
    prototypes = torch.randn(TYPES, CHANNELS)
    loop = lfds.LFDSPool(CHANNELS, lfds.Loop(12))
    image = lfds.LFDSPool(CHANNELS, lfds.Image(4, 4))
    print("Which of four parts is in the majority?  300 training sets, 300 test sets.\n")
    for name, pool in {"max": aggr.MaxAggregation(), "loop": loop, "image": image}.items():
        width = getattr(pool, "out_channels", CHANNELS)
        print(f"  {name:6} {accuracy(pool, width, prototypes):6.1%}   {pool}")

    x, index, types, _ = random_sets(prototypes)
    with torch.no_grad():
        shares = loop.shares(x, index)
    print("\nMean shares of the slots of the loop, in percent:\n")
    print("  slot  " + "".join(f"{slot:4}" for slot in range(loop.structure.num_slots)))
    for part in range(TYPES):
        mean = shares[types == part].mean(dim=0)
        print(f"  part {part}" + "".join(f"{100 * float(share):4.0f}" for share in mean))


if __name__ == "__main__":
    main()
