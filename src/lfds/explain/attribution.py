r"""What decided: how much each node and each slot speaks for a class, through all the head sees.

The score of a class is its log-odds,

.. math::
    s_c(G) = \frac{1}{T} \Big( z_c - \log \sum_{j \ne c} e^{z_j} \Big), \qquad
    p_c = \frac{1}{1 + e^{-s_c}},

of a target with two classes its logit, and of a regression target the value itself.

**Nodes.** The effect of a node is exact: the score with it minus the score without it, its edges
and its share in all slots and statistics gone,

.. math::
    e_{ic} = s_c(G) - s_c(G \setminus i).

That takes one pass for every node; in graphs of more than :data:`LARGEST_REMOVAL` nodes integrated
gradients take its place. ``python -m benchmarks.fidelity`` compares both with other methods.

**Slots.** There is no graph without a slot. Slots, and the statistics of all nodes beside them, are
attributed by integrated gradients from the average graph, whose slots :math:`\bar S_k` and
statistics :math:`\bar f` are the means over all graphs of the atlas. With
:math:`S_k(t) = \bar S_k + t (S_k - \bar S_k)`, and :math:`f(t)` likewise,

.. math::
    a_{kc} = (S_k - \bar S_k) \cdot \int_0^1 \frac{\partial s_c}{\partial S_k}(t) \, dt, \qquad
    b_c = (f - \bar f) \cdot \int_0^1 \frac{\partial s_c}{\partial f}(t) \, dt, \qquad
    \sum_k a_{kc} + b_c = s_c(G) - s_c(\text{average}).

The gradient passes the latent layers, all readouts, the norm of the vector and the head.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from typing import Any

import torch
from torch import Tensor

from lfds.data.batch import Batch
from lfds.estimator.output_decoding import ClassDecoder, Decoder, MultiLabelDecoder
from lfds.explain.capture import edges_of
from lfds.nn import GraphNetwork
from lfds.nn.pool import LatentPool
from lfds.train.device import to_device

LARGEST_REMOVAL = 400
"""Nodes of the largest graph whose nodes are removed one by one."""

NODES_AT_ONCE = 1 << 14
NODES_ON_PATH = 1 << 18
STEPS = 16
"""Steps along the path of integrated gradients; fewer of very large graphs."""

Scores = Callable[[Tensor], Tensor]


@dataclass(frozen=True, eq=False)
class Representation:
    """What latent layers and head see of graphs: the content of slots, and statistics beside them.

    Attributes:
        slots: For each structure ``[graphs, slots, channels]``.
        beside: ``[graphs, channels]``; no channels if there is nothing beside the slots.
    """

    slots: tuple[Tensor, ...]
    beside: Tensor

    def mean(self) -> "Representation":
        """The average graph."""
        return Representation(
            tuple(part.mean(dim=0, keepdim=True) for part in self.slots),
            self.beside.mean(dim=0, keepdim=True),
        )

    @property
    def parts(self) -> list[Tensor]:
        """Slots of all structures, then what is beside them."""
        return [*self.slots, self.beside]


def average_of(parts: Sequence[tuple[Representation, int]]) -> Representation:
    """Return the average graph of several batches, from that of each and its number of graphs."""
    total = max(1, sum(count for _, count in parts))
    columns = zip(*(one.parts for one, _ in parts), strict=True)
    counts = [count for _, count in parts]
    *slots, beside = (
        sum((count * part for count, part in zip(counts, column, strict=True)), start=0 * column[0])
        / total
        for column in columns
    )
    return Representation(tuple(slots), beside)


@dataclass(frozen=True, eq=False)
class Attribution:
    """What decided the outputs of a network for one graph.

    Attributes:
        scores: ``[outputs]``, log-odds of each class, or values.
        nodes: ``[nodes, outputs]``, the effect of each node.
        exact: Whether nodes were removed one by one; otherwise by integrated gradients.
        slots: For each structure ``[slots, outputs]``.
        beside: ``[outputs]``, what the statistics beside the slots contribute.
        reference: ``[outputs]``, the scores of the average graph; with all slots and ``beside``
            they sum to ``scores``.
    """

    scores: Tensor
    nodes: Tensor
    exact: bool
    slots: tuple[Tensor, ...]
    beside: Tensor
    reference: Tensor


def scores_by(decoder: Decoder) -> Scores:
    """Return the function from the outputs of a network to scores, ``[graphs, outputs]``."""
    if isinstance(decoder, ClassDecoder):
        return lambda outputs: log_odds(outputs / decoder.temperature)
    if isinstance(decoder, MultiLabelDecoder):
        return lambda outputs: outputs / outputs.new_tensor(decoder.temperatures)
    return lambda outputs: (
        outputs * outputs.new_tensor(decoder.scales) + outputs.new_tensor(decoder.means)
    )


def log_odds(logits: Tensor) -> Tensor:
    """Return :math:`z_c` minus the logarithm of the sum of all other :math:`e^{z_j}`."""
    classes = logits.shape[1]
    own = torch.eye(classes, dtype=torch.bool, device=logits.device)
    others = logits[:, None, :].expand(-1, classes, -1).masked_fill(own, -torch.inf)
    return logits - others.logsumexp(dim=2)


def attribute(
    network: GraphNetwork,
    pools: Sequence[LatentPool],
    batch: Batch,
    decoder: Decoder,
    average: Representation,
    *,
    largest_removal: int = LARGEST_REMOVAL,
) -> Attribution:
    """Attribute all outputs for one graph to its nodes and to slots.

    Args:
        network: It is not changed.
        pools: Its latent structures.
        batch: One graph, encoded.
        decoder: Decides what a score is.
        average: The average graph that slots are compared with.
        largest_removal: Nodes of the largest graph whose nodes are removed one by one.
    """
    score = scores_by(decoder)
    with _explaining(network):
        batch = to_device(batch, next(network.parameters()).device)
        exact = batch.x.shape[0] <= largest_removal
        nodes = (removal_effects if exact else gradient_effects)(network, batch, score)
        own = representation(network, pools, batch)
        scores, slots, beside = _from_average(network, pools, batch, score, own, average)
    return Attribution(scores[-1], nodes, exact, slots, beside, scores[0])


@contextmanager
def _explaining(network: GraphNetwork) -> Iterator[None]:
    """Run a network in evaluation mode, without gradients of its weights."""
    training = network.training
    learnable = [weight for weight in network.parameters() if weight.requires_grad]
    network.eval().requires_grad_(False)
    try:
        yield
    finally:
        network.train(training)
        for weight in learnable:
            weight.requires_grad_(True)


@torch.no_grad()
def representation(
    network: GraphNetwork, pools: Sequence[LatentPool], batch: Batch
) -> Representation:
    """Return what latent layers and head see of the graphs of a batch."""
    slots: dict[int, Tensor] = {}
    beside: list[Tensor] = []

    def keep_slots(number: int, own: Tensor) -> None:
        slots[number] = own

    def keep_beside(own: Tensor) -> None:
        beside.append(own)

    batch = to_device(batch, next(network.parameters()).device)
    with _explaining(network), _hooked(network, pools, keep_slots, keep_beside):
        network(batch.x, batch.ptr, edges_of(batch))
    nothing = batch.x.new_zeros(len(batch), 0)
    return Representation(
        tuple(slots[number] for number in range(len(pools))), beside[0] if beside else nothing
    )


def _from_average(
    network: GraphNetwork,
    pools: Sequence[LatentPool],
    batch: Batch,
    score: Scores,
    own: Representation,
    average: Representation,
) -> tuple[Tensor, tuple[Tensor, ...], Tensor]:
    """Return scores on the way from the average graph, and what slots and statistics add."""
    weight = torch.linspace(0, 1, STEPS + 1, device=batch.x.device)
    changes = [part - mean for part, mean in zip(own.parts, average.parts, strict=True)]
    moved = [
        (mean + weight.view(-1, *[1] * (change.dim() - 1)) * change).requires_grad_()
        for mean, change in zip(average.parts, changes, strict=True)
    ]
    with (
        torch.enable_grad(),
        _hooked(network, pools, lambda number, _: moved[number], lambda _: moved[-1]),
    ):
        # One graph goes in; its slots and statistics are replaced by those of all steps.
        scores = score(network(batch.x, batch.ptr, edges_of(batch)))
    # The trapezoidal rule: the ends count half.
    share = torch.full_like(weight, 1 / STEPS)
    share[[0, -1]] /= 2
    added: list[list[Tensor]] = [[] for _ in moved]
    for output in range(scores.shape[1]):
        towards = torch.zeros_like(scores)
        towards[:, output] = share
        gradients = torch.autograd.grad(
            scores, moved, towards, retain_graph=True, allow_unused=True
        )
        for place, (gradient, change) in enumerate(zip(gradients, changes, strict=True)):
            along = torch.zeros_like(change) if gradient is None else gradient.sum(0, keepdim=True)
            added[place].append((along * change)[0].sum(dim=-1))
    *slots, beside = (torch.stack(part, dim=-1) for part in added)
    return scores.detach(), tuple(slots), beside


@torch.no_grad()
def removal_effects(network: GraphNetwork, batch: Batch, score: Scores) -> Tensor:
    """Return the scores of a graph minus those without each of its nodes, ``[nodes, outputs]``."""
    count = batch.x.shape[0]
    whole = score(outputs_without(network, batch, torch.ones(1, count, dtype=torch.bool)))
    masks = ~torch.eye(count, dtype=torch.bool)
    without = [score(outputs_without(network, batch, some)) for some in _chunks(masks)]
    return whole - torch.cat([*without, whole[:0]])


def outputs_without(network: GraphNetwork, batch: Batch, masks: Tensor) -> Tensor:
    """Return the outputs for parts of one graph, ``[parts, outputs]``.

    Nodes that are left keep their features; edges of removed nodes go with them.

    Args:
        network: In evaluation mode.
        batch: One graph, encoded.
        masks: ``[parts, nodes]``, which nodes are left.
    """
    masks = masks.to(batch.x.device)
    edges = edges_of(repeated(batch, len(masks))).subgraph(masks.flatten())
    x = batch.x.repeat(len(masks), 1)[masks.flatten()]
    ptr = torch.cat([masks.new_zeros(1, dtype=batch.ptr.dtype), masks.sum(1).cumsum(0)])
    outputs: Tensor = network(x, ptr.to(batch.ptr.dtype), edges)
    return outputs


def repeated(batch: Batch, count: int) -> Batch:
    """Return a batch of ``count`` copies of one graph."""
    nodes, edges = batch.x.shape[0], batch.edge_dst.shape[0]
    copies = torch.arange(count, device=batch.ptr.device)
    starts = (batch.edge_ptr[:-1] + edges * copies[:, None]).flatten()
    targets = (batch.edge_dst + nodes * copies[:, None]).flatten()
    changes: dict[str, Tensor] = {
        "ptr": (nodes * torch.arange(count + 1, device=batch.ptr.device)).to(batch.ptr.dtype),
        "edge_ptr": torch.cat([starts, starts.new_tensor([edges * count])]).to(
            batch.edge_ptr.dtype
        ),
        "edge_dst": targets.to(batch.edge_dst.dtype),
    }
    for field in fields(batch):
        if field.name not in changes:
            value = getattr(batch, field.name)
            changes[field.name] = value.repeat(count, *[1] * (value.dim() - 1))
    return replace(batch, **changes)


def gradient_effects(network: GraphNetwork, batch: Batch, score: Scores) -> Tensor:
    """Return integrated gradients of all scores by the vectors of the nodes, ``[nodes, outputs]``.

    The path leads from the mean vector of the graph, where no node differs from another.
    """
    count = batch.x.shape[0]
    points = max(4, min(STEPS, NODES_ON_PATH // max(count, 1)))
    many = repeated(batch, points)
    middle = (torch.arange(points, device=batch.x.device) + 0.5) / points
    weight = middle.repeat_interleave(count)[:, None]
    seen: list[Tensor] = []

    def move(_: Any, __: Any, outputs: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
        own = outputs[0][:count].detach()
        change = own - own.mean(dim=0, keepdim=True)
        moved = (own.repeat(points, 1) - (1 - weight) * change.repeat(points, 1)).requires_grad_()
        seen.extend([moved, change])
        # The last layer stands at the end of all of them.
        return moved, moved[:, -outputs[1].shape[1] :]

    hook = network.base.register_forward_hook(move)
    try:
        with torch.enable_grad():
            scores = score(network(many.x, many.ptr, edges_of(many)))
    finally:
        hook.remove()
    moved, change = seen
    found = []
    for output in range(scores.shape[1]):
        towards = torch.zeros_like(scores)
        towards[:, output] = 1
        (gradient,) = torch.autograd.grad(scores, moved, towards, retain_graph=True)
        mean = gradient.view(points, count, -1).mean(dim=0)
        found.append((mean * change).sum(dim=1))
    return torch.stack(found, dim=1)


@contextmanager
def _hooked(
    network: GraphNetwork,
    pools: Sequence[LatentPool],
    on_slots: Callable[[int, Tensor], Tensor | None],
    on_beside: Callable[[Tensor], Tensor | None],
) -> Iterator[None]:
    """Call functions with the slots before latent layers, and with the statistics beside them.

    What they return takes their place.
    """

    def slots_of(number: int) -> Callable[..., Any]:
        def change(_: Any, arguments: tuple[Any, ...]) -> Any:
            changed = on_slots(number, arguments[0])
            return None if changed is None else (changed, *arguments[1:])

        return change

    hooks = [
        pool.layers[0].register_forward_pre_hook(slots_of(number))
        for number, pool in enumerate(pools)
    ]
    if not network.pool.replaces_readout:
        hooks.append(network.flat.register_forward_hook(lambda _, __, own: on_beside(own)))
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()


def _chunks(masks: Tensor) -> Iterator[Tensor]:
    """Yield masks of parts of a graph, not too many at a time."""
    if len(masks):
        yield from masks.split(max(1, NODES_AT_ONCE // len(masks)))
