"""Which part occurs most often?  Sets that a maximum cannot tell apart, and where their nodes land.

Every set holds some of each of four kinds of parts, and its class is the kind in the majority.
The maximum over the nodes is the same for all classes; a latent structure keeps count.
"""

import torch
from torch import Tensor, nn
from torch_geometric.nn import aggr

import lfds

KINDS, CHANNELS, SETS = 4, 16, 600


def draw_sets(prototypes: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Nodes, the set of each, the kind of each, and the class of every set."""
    labels = torch.randint(KINDS, (SETS,))
    counts = torch.randint(2, 6, (SETS, KINDS))
    counts[torch.arange(SETS), labels] = counts.amax(dim=1) + 1
    kind = torch.arange(KINDS).repeat(SETS).repeat_interleave(counts.flatten())
    index = torch.arange(SETS).repeat_interleave(counts.sum(dim=1))
    x = prototypes[kind] + 0.3 * torch.randn(len(kind), CHANNELS)
    return x, index, kind, labels


def accuracy(pool: nn.Module, width: int, prototypes: Tensor, epochs: int = 150) -> float:
    """Train a pooling and a linear head on half of the sets, and try it on the other half."""
    torch.manual_seed(1)
    x, index, _, labels = draw_sets(prototypes)
    train, test = torch.arange(SETS) < SETS // 2, torch.arange(SETS) >= SETS // 2
    head = nn.Linear(width, KINDS)
    optimizer = torch.optim.Adam([*pool.parameters(), *head.parameters()], lr=0.01)
    for _ in range(epochs):
        logits = head(pool(x, index, dim_size=SETS))
        loss = nn.functional.cross_entropy(logits[train], labels[train]) + lfds.nn.penalty(pool)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    pool.eval()
    found = head(pool(x, index, dim_size=SETS)).argmax(dim=1)
    return float((found == labels)[test].float().mean())


def main() -> None:
    """Compare a maximum with two structures, and show where each kind of part lands."""
    torch.manual_seed(0)
    prototypes = torch.randn(KINDS, CHANNELS)
    loop = lfds.LFDSPool(CHANNELS, lfds.Loop(12), reduction="mean", slot_dropout=0.0)
    image = lfds.LFDSPool(CHANNELS, lfds.Image(4, 4), reduction="mean", slot_dropout=0.0)
    contestants = {"max": aggr.MaxAggregation(), "loop": loop, "image": image}
    print("Which of four parts is in the majority?  300 sets to learn from, 300 to be tried on.\n")
    for name, pool in contestants.items():
        width = getattr(pool, "out_channels", CHANNELS)
        print(f"  {name:6} {accuracy(pool, width, prototypes):6.1%}   {pool}")

    x, index, kind, _ = draw_sets(prototypes)
    with torch.no_grad():
        shares = loop.shares(x, index)
    print("\nWhere the parts land on the loop (share of each slot, in percent):\n")
    print("  slot  " + "".join(f"{slot:4}" for slot in range(loop.structure.num_slots)))
    for part in range(KINDS):
        mean = shares[kind == part].mean(dim=0)
        print(f"  part {part}" + "".join(f"{100 * float(share):4.0f}" for share in mean))


if __name__ == "__main__":
    main()
