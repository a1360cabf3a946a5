"""The pooling layer: nodes on a structure, the structure through its network, one vector out."""

from collections.abc import Iterator, Sequence
from typing import Any, final, get_args

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch_geometric.nn.aggr import Aggregation

from lfds.config.network import PAPER_LAYER, NetworkSettings, check_slots
from lfds.nn.accel.dispatch import autocasts, values_may_be_read
from lfds.nn.anchors import ANCHORS, Anchors, FixedAnchors, SmoothAnchors
from lfds.nn.input_checks import (
    check_choice,
    check_count,
    check_features,
    check_flag,
    check_precision,
    check_spread,
)
from lfds.nn.latent import run_latent, width_of
from lfds.nn.ops.ragged import Ragged, ragged
from lfds.nn.ops.segment import ragged_max
from lfds.nn.projection import REDUCTIONS, Reduction, place, place_and_weigh, shares
from lfds.nn.slot_modules import (
    ChannelNorm,
    MaxBlend,
    SlotCounts,
    SlotDropout,
    SlotReadout,
    SlotWeights,
)
from lfds.nn.structures import STRUCTURES, Structure

READOUTS: tuple[SlotReadout, ...] = get_args(SlotReadout)


@final
class LFDSPool(Aggregation):
    r"""Pool the nodes of every graph, or of any set, on a latent fixed data structure.

    The nodes are distributed over the slots of the structure, latent layers that respect it let the
    slots exchange information, and what is read off the slots after each layer is the vector of the
    graph:

    .. math::
        \mathbf{Y}^{(0)} &= \mathrm{distribute}(\mathbf{X}, \mathbf{W}) \\
        \mathbf{Y}^{(l)} &= \mathrm{layer}_l(\mathbf{Y}^{(l-1)}) \\
        \mathbf{z} &= \big[\mathrm{read}(\mathbf{Y}^{(1)}), \dots,
                           \mathrm{read}(\mathbf{Y}^{(L)})\big]

    The defaults are those that the results tables measured; :meth:`paper` is what the paper says.

    A PyG :class:`~torch_geometric.nn.aggr.Aggregation`: wherever one fits, this fits, as a global
    pooling or as ``aggr=`` of a message passing layer.  It needs no edges, no padding and no sorted
    ``index``, and its time grows linearly with the number of nodes.

    Args:
        in_channels: Width of the node features.
        structure: Name of a structure (a key of ``lfds.STRUCTURES``), or a structure.
        hidden_channels: Width of the slots. With it, a learned linear map comes first: give all
            layers of a GNN side by side as ``x``, and the width of one of them here. By default
            ``in_channels``, and no map.
        num_slots: Number of slots of a structure given by name, 16 by default.
        latent: A network of your own in place of the latent layers, for example a CNN on the latent
            image. What it is called with, the structure says (:meth:`Structure.signal`); it returns
            one vector per graph, or slots in the same layout, of which maximum and mean are taken.
        anchors: ``"fixed"`` for all graphs, ``"smooth"`` along the structure as well (the same as
            fixed where neighbours are learned), ``"generated"`` for each graph from its largest
            values, or a ``"mixture"`` weighted by them; or a matrix [slots, hidden_channels] to
            start fixed ones from; or a module of :mod:`lfds.nn.anchors`.
        smoothness: How slowly smooth anchors vary; 0 leaves them free.
        reduction: How a slot combines what it receives: ``"sum"`` (the paper), ``"mean"`` over the
            nodes of the graph, ``"mass"``: mean over what the slot received.
        depth: Number of latent layers.
        slot_dropout: Probability that a slot is dropped in training.
        blend: Whether to add the largest values of the graph to every slot,
            :math:`\mathbf{y}_k \leftarrow a_1 \mathbf{y}_k + a_2 \mathbf{x}_{\max}`.
        counts: Whether every slot gets the logarithm of its mass as a feature, which a mean loses.
        readout: What is taken over the slots after each layer: their ``"max"`` (the paper), or
            beside it their mean (``"max+mean"``) or their sum by learned weights for every slot
            and channel (``"max+weighted"``), which distinguishes the slots.
        node_norm: Whether to normalize the nodes over the batch before they are distributed, for
            nodes that are not of unit variance, such as sums over neighbours.
        low_memory: Compute the shares twice instead of keeping them: for graphs of millions of
            nodes.

    Shapes:
        - ``x`` [nodes, in_channels]
        - ``index`` [nodes], in any order, or ``ptr`` [graphs + 1]; neither means one graph
        - output [graphs, out_channels]; a graph without nodes has a finite vector too

    Example:
        >>> pool = LFDSPool(16, "loop")
        >>> x, index = torch.randn(7, 16), torch.tensor([0, 0, 1, 1, 1, 0, 2])
        >>> pool(x, index).shape
        torch.Size([3, 64])
    """

    def __init__(
        self,
        in_channels: int,
        structure: str | Structure = "loop",
        *,
        hidden_channels: int | None = None,
        num_slots: int | None = None,
        latent: nn.Module | None = None,
        anchors: str | Tensor | Anchors = "fixed",
        smoothness: float = 1.0,
        reduction: Reduction = "mean",
        depth: int = 2,
        slot_dropout: float = 0.0,
        blend: bool = False,
        counts: bool = True,
        readout: SlotReadout = "max+weighted",
        node_norm: bool = True,
        low_memory: bool = False,
    ) -> None:
        super().__init__()
        self.in_channels = check_count("in_channels", in_channels)
        channels = self.in_channels
        if hidden_channels is not None:
            channels = check_count("hidden_channels", hidden_channels)
        self.hidden_channels, self.depth = channels, check_count("depth", depth)
        check_choice("reduction", reduction, REDUCTIONS)
        check_choice("readout", readout, READOUTS)
        self.readout: SlotReadout = readout
        self.reduction: Reduction = reduction
        self.low_memory = check_flag("low_memory", low_memory)
        self.register_module("input_map", None)
        self.structure = make_structure(structure, num_slots)
        self.anchors = make_anchors(anchors, channels, self.structure, smoothness)
        self.blend = MaxBlend() if check_flag("blend", blend) else None
        self.counts = SlotCounts(channels) if check_flag("counts", counts) else None
        self.node_norm = ChannelNorm(channels) if check_flag("node_norm", node_norm) else None
        self.slot_dropout = SlotDropout(slot_dropout)
        depth = self.depth if latent is None else 0
        self.layers = nn.ModuleList(self.structure.layer(channels) for _ in range(depth))
        weighted = depth if readout == "max+weighted" else 0
        self.weights: Sequence[SlotWeights] = nn.ModuleList(  # type: ignore[assignment]
            SlotWeights(self.structure.num_slots, channels) for _ in range(weighted)
        )
        self.latent = latent
        if hidden_channels is not None:
            self.input_map = nn.Linear(self.in_channels, channels, bias=False)
        if latent is None:
            self.out_channels = depth * channels * len(readout.split("+"))
        else:
            self.out_channels = width_of(latent, self.structure, channels)

    @classmethod
    def paper(
        cls,
        in_channels: int,
        structure: str | Structure = "loop",
        *,
        num_slots: int | None = None,
        **options: Any,
    ) -> "LFDSPool":
        """The layer of the paper to the letter; whatever is named beside it overrides that.

        A plain sum over the nodes, 64 slots, slot dropout 0.4, the blend with max pooling, and the
        maxima over the slots as readout.

        Example:
            >>> LFDSPool.paper(16, "image")
            LFDSPool(16 -> 32, Image(8x8 slots), reduction='sum', blend=True, readout='max')
        """
        structure = make_structure(structure, num_slots, paper=True)
        return cls(in_channels, structure, **{**PAPER_LAYER, **options})

    def reset_parameters(self) -> None:
        """Draw all parameters anew."""
        own = (self.structure, self.anchors, self.blend, self.counts, self.node_norm)
        for part in (*own, *self.layers, *self.weights, self.input_map):
            if part is not None:
                part.reset_parameters()
        if self.latent is not None:
            for part in self.latent.modules():
                getattr(part, "reset_parameters", lambda: None)()

    def __call__(
        self,
        x: Tensor,
        index: Tensor | None = None,
        ptr: Tensor | None = None,
        dim_size: int | None = None,
        dim: int = -2,
    ) -> Tensor:
        # Past Aggregation's own checks, which read `index` before it is known to be one.
        pooled: Tensor = nn.Module.__call__(self, x, index, ptr, dim_size, dim)
        return pooled

    def forward(
        self,
        x: Tensor,
        index: Tensor | None = None,
        ptr: Tensor | None = None,
        dim_size: int | None = None,
        dim: int = -2,
    ) -> Float[Tensor, "graphs out_channels"]:
        """Pool a batch; the arguments are those of PyG's ``Aggregation``."""
        batch = self._ragged(x, index, ptr, dim_size, dim)
        if batch.ptr.shape[0] == 1:  # no graphs, and no statistics for a batch norm
            return batch.x.sum().expand(0, self.out_channels)
        if self.latent is not None:
            return run_latent(self.latent, self.structure, self._slots(self.normalized(batch)))
        vectors: list[Tensor] = []
        for layer, slots in enumerate(self._after_layers(self.normalized(batch))):
            vectors += self.read(slots, layer)
        return torch.cat(vectors, dim=-1)

    def read(
        self,
        slots: Float[Tensor, "graphs slots channels"],
        layer: int,
    ) -> list[Tensor]:
        """What the output takes of the slots after a layer."""
        largest = slots.amax(dim=1)
        match self.readout:
            case "max":
                return [largest]
            case "max+mean":
                return [largest, slots.mean(dim=1)]
            case "max+weighted":
                return [largest, self.weights[layer](slots)]

    def normalized(self, batch: Ragged) -> Ragged:
        """The batch with the nodes that are distributed: normalized, with ``node_norm``."""
        if self.node_norm is None:
            return batch
        if self.node_norm.learns and values_may_be_read(batch.x):
            check_spread(batch.x, batch.ptr, batch.order)
        return batch._replace(x=self.node_norm(batch.x))

    def place(self, batch: Ragged) -> Float[Tensor, "graphs slots channels"]:
        """Distribute the nodes of a batch, already normalized, over the slots."""
        x_max = self._largest(batch)
        anchors = self._anchors_for(batch, x_max)
        if self.counts is None:
            slots = place(batch, anchors, self.reduction, self.low_memory)
        else:
            slots = self.counts(*place_and_weigh(batch, anchors, self.reduction, self.low_memory))
        if self.blend is None:
            return slots
        blended: Tensor = self.blend(slots, x_max)
        return blended

    def shares(
        self,
        x: Tensor,
        index: Tensor | None = None,
        ptr: Tensor | None = None,
        dim_size: int | None = None,
    ) -> Float[Tensor, "nodes slots"]:
        """Return how much of each node goes to every slot; rows sum to one.

        With anchors that depend on the graph, ``index`` or ``ptr`` says which graph a node belongs
        to. With ``node_norm`` call it in evaluation mode: in training nodes are normalized by the
        batch at hand, and running statistics move, as in the forward pass.
        """
        batch = self.normalized(self._ragged(x, index, ptr, dim_size))
        rows = shares(batch.x, self._anchors_for(batch, self._largest(batch)), batch.ptr)
        if batch.order is None:
            return rows
        return torch.empty_like(rows).index_copy(0, batch.order, rows)

    def activations(
        self,
        x: Tensor,
        index: Tensor | None = None,
        ptr: Tensor | None = None,
        dim_size: int | None = None,
    ) -> Float[Tensor, "graphs depth slots channels"]:
        """The slots after each latent layer, of which the output is read.

        Call it in evaluation mode: in training it drops slots and moves running statistics, as the
        forward pass does.
        """
        if self.latent is not None:
            raise ValueError("latent: a network of your own has no activations; run it by itself")
        batch = self._ragged(x, index, ptr, dim_size)
        if batch.ptr.shape[0] == 1:
            return x.new_empty(0, self.depth, self.structure.num_slots, self.hidden_channels)
        return torch.stack(list(self._after_layers(self.normalized(batch))), dim=1)

    def picks(
        self,
        x: Tensor,
        index: Tensor | None = None,
        ptr: Tensor | None = None,
        dim_size: int | None = None,
    ) -> Float[Tensor, "graphs depth slots"]:
        r"""Count, for every slot, the channels of which it holds the largest value.

        .. math::
            c^{(l)}_k = \sum_j \frac{[y^{(l)}_{kj} = \max_u y^{(l)}_{uj}]}
                                    {\#\{u : y^{(l)}_{uj} = \max_v y^{(l)}_{vj}\}}

        Every channel counts one, split evenly where several slots hold the same maximum (all of
        them do where no slot responds), so that the counts of a layer sum to ``hidden_channels``.
        """
        slots = self.activations(x, index, ptr, dim_size)
        won = (slots == slots.amax(dim=2, keepdim=True)).to(slots.dtype)
        return (won / won.sum(dim=2, keepdim=True)).sum(dim=3)

    def penalty(self) -> Float[Tensor, ""]:
        """A scalar to add to the loss; zero where the structure needs none."""
        return self.structure.penalty()

    def _ragged(
        self,
        x: Tensor,
        index: Tensor | None,
        ptr: Tensor | None,
        dim_size: int | None,
        dim: int = -2,
    ) -> Ragged:
        """The batch in order, its nodes mapped to the width of the slots."""
        check_features(x, self.in_channels, dim)
        check_precision(x, next(self.anchors.parameters(), None))
        return ragged(x if self.input_map is None else self.input_map(x), index, ptr, dim_size)

    def _slots(self, batch: Ragged) -> Tensor:
        slots: Tensor = self.slot_dropout(self.place(batch))
        return slots

    def _after_layers(self, batch: Ragged) -> Iterator[Tensor]:
        slots = self._slots(batch)
        for layer in self.layers:
            slots = layer(slots, self.structure)
            yield slots

    def _largest(self, batch: Ragged) -> Tensor | None:
        if self.blend is None and not self.anchors.depends_on_graph:
            return None
        return ragged_max(batch.x, batch.ptr)

    def _anchors_for(self, batch: Ragged, x_max: Tensor | None) -> Tensor:
        anchors: Tensor = self.anchors(x_max)
        # Autocast does not see into our operator: the nodes decide the precision.
        return anchors.to(batch.x.dtype) if autocasts(batch.x) else anchors

    def __repr__(self) -> str:
        parts = [f"{self.in_channels} -> {self.out_channels}", str(self.structure)]
        if self.input_map is not None:
            parts.append(f"hidden_channels={self.hidden_channels}")
        if self.latent is not None:
            parts.append(f"latent={type(self.latent).__name__}")
        if not isinstance(self.anchors, FixedAnchors):
            parts.append(f"anchors={type(self.anchors).__name__}")
        parts.append(f"reduction={self.reduction!r}")
        if self.blend is not None:
            parts.append("blend=True")
        if self.depth != 2:
            parts.append(f"depth={self.depth}")
        if self.latent is None:
            parts.append(f"readout={self.readout!r}")
        return f"LFDSPool({', '.join(parts)})"


def penalty(model: nn.Module) -> Float[Tensor, ""]:
    """Sum the penalties of all structures anywhere inside ``model``, each once.

    Add it to the loss of any network that contains an :class:`LFDSPool`:
    ``loss = cross_entropy(model(batch), y) + lfds.nn.penalty(model)``.
    """
    # One by one: a zero on the CPU may be added to what is due on another device.
    due = (module.penalty() for module in model.modules() if isinstance(module, Structure))
    return sum(due, start=torch.zeros(()))


def make_structure(
    structure: str | Structure, num_slots: int | None = None, *, paper: bool = False
) -> Structure:
    """Build the structure of a name of ``STRUCTURES``, or take the one given."""
    if isinstance(structure, Structure):
        if num_slots is not None:
            raise ValueError(
                "num_slots goes with the name of a structure; a structure has its own number of "
                "slots"
            )
        return structure
    if isinstance(structure, type) and issubclass(structure, Structure):
        name = structure.__name__
        raise TypeError(f"structure must be built first, got the class {name}; use {name}(...)")
    if not isinstance(structure, str):
        raise TypeError(
            f"structure must be a name or a Structure, got {type(structure).__name__}; names are "
            f"{', '.join(STRUCTURES)}; for an adjacency use LatentGraph(adjacency)"
        )
    check_choice("structure", structure, STRUCTURES)
    settings = NetworkSettings.paper(structure) if paper else NetworkSettings(pool=structure)
    if num_slots is not None:
        slots = check_count("num_slots", num_slots, least=2)
        check_slots(structure, slots)
        settings = settings.model_copy(update={"slots": slots})
    return STRUCTURES[structure].from_settings(settings)


def make_anchors(
    anchors: str | Tensor | Anchors, channels: int, structure: Structure, smoothness: float = 1.0
) -> Anchors:
    """Build the anchors of a name of ``ANCHORS``, or make sure that those given fit."""
    num_slots = structure.num_slots
    if isinstance(anchors, str):
        check_choice("anchors", anchors, ANCHORS)
        if anchors != "smooth":
            return ANCHORS[anchors](channels, num_slots)
        laplacian = structure.laplacian()
        if laplacian is None:
            return FixedAnchors(channels, num_slots)
        return SmoothAnchors(channels, laplacian, smoothness)
    if not isinstance(anchors, Tensor | Anchors):
        raise TypeError(
            f"anchors must be a name ({', '.join(ANCHORS)}), a tensor [slots, channels] or an "
            f"Anchors module, got {type(anchors).__name__}"
        )
    if isinstance(anchors, Tensor):
        given = list(anchors.shape)
    else:
        given = [anchors.num_slots, anchors.channels]
    if given != [num_slots, channels]:
        raise ValueError(
            f"anchors must be [{num_slots}, {channels}], a row for each slot of {structure}, "
            f"got {given}; pass as many anchors as slots, or another structure"
        )
    return FixedAnchors(channels, num_slots, anchors) if isinstance(anchors, Tensor) else anchors
