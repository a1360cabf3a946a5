"""The pooling layer: nodes on a structure, the structure through its network, one vector out."""

import difflib
from collections.abc import Iterator, Sequence
from typing import Literal, final, get_args

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch_geometric.nn.aggr import Aggregation

from lfds.nn.accel.dispatch import autocasts, values_may_be_read
from lfds.nn.anchors import ANCHORS, Anchors, FixedAnchors
from lfds.nn.input_checks import check_count, check_features, check_flag, check_spread
from lfds.nn.ops.ragged import Ragged, ragged
from lfds.nn.ops.segment import ragged_max, slot_max
from lfds.nn.projection import REDUCTIONS, Reduction, place, place_and_weigh, shares
from lfds.nn.slot_modules import MaxBlend, NodeNorm, SlotCounts, SlotDropout, SlotWeights
from lfds.nn.structures import STRUCTURES, Structure

SlotReadout = Literal["max", "max+mean", "max+weighted"]
READOUTS: tuple[SlotReadout, ...] = get_args(SlotReadout)


@final
class LFDSPool(Aggregation):
    r"""Pool the nodes of every graph, or of any set, on a latent fixed data structure.

    The nodes are shared out over the slots of the structure, latent layers that respect it let the
    slots talk, and the maxima over the slots after each layer are the vector of the graph:

    .. math::
        \mathbf{Y}^{(0)} &= a_1 \cdot \mathrm{distribute}(\mathbf{X}, \mathbf{W})
                            + a_2 \, \mathbf{x}_{\max} \\
        \mathbf{Y}^{(l)} &= \mathrm{layer}_l(\mathbf{Y}^{(l-1)}) \\
        \mathbf{z} &= \big[\max_k \mathbf{y}^{(1)}_k, \dots, \max_k \mathbf{y}^{(L)}_k\big]

    Sums over the slots may be read beside the maxima (``readout``).

    A PyG :class:`~torch_geometric.nn.aggr.Aggregation`: wherever one fits, this fits, as a global
    pooling or as ``aggr=`` of a message passing layer.  It needs no edges, no padding and no sorted
    ``index``, and its time grows linearly with the number of nodes.

    Args:
        channels: Width of the node features.
        structure: Name of a structure with 64 slots (a key of ``lfds.STRUCTURES``), or a structure.
        anchors: ``"fixed"`` for all graphs, ``"generated"`` for each graph from its largest values,
            or a ``"mixture"`` weighted by them; or a matrix [slots, channels] to start fixed ones
            from; or a module of :mod:`lfds.nn.anchors`.
        reduction: How a slot sums up what it received: ``"sum"`` (the paper), ``"mean"`` over the
            nodes of the graph, ``"mass"``: mean over what the slot received.
        depth: Number of latent layers.
        slot_dropout: Probability of a slot to be silenced in training.
        blend: Whether to mix the largest values of the graph into every slot.
        counts: Whether to tell every slot how much it received, which a mean forgets.
        readout: What is taken over the slots after each layer: their ``"max"`` (the paper), or
            beside it their mean (``"max+mean"``) or their sum by learned weights for every slot
            and channel (``"max+weighted"``), which knows one slot from another.
        node_norm: Whether to norm the nodes over the batch before they are shared out, for nodes
            that are not of unit variance, such as sums over neighbours.
        low_memory: Compute the shares twice instead of keeping them: for graphs of millions of
            nodes.

    Shapes:
        - ``x`` [nodes, channels]
        - ``index`` [nodes], in any order, or ``ptr`` [graphs + 1]; neither means one graph
        - output [graphs, depth * channels], twice as long with a ``readout`` of two; a graph
          without nodes has a finite vector too

    Example:
        >>> pool = LFDSPool(16, "loop")
        >>> x, index = torch.randn(7, 16), torch.tensor([0, 0, 1, 1, 1, 0, 2])
        >>> pool(x, index).shape
        torch.Size([3, 32])
    """

    def __init__(
        self,
        channels: int,
        structure: str | Structure = "loop",
        *,
        anchors: str | Tensor | Anchors = "fixed",
        reduction: Reduction = "sum",
        depth: int = 2,
        slot_dropout: float = 0.4,
        blend: bool = True,
        counts: bool = False,
        readout: SlotReadout = "max",
        node_norm: bool = False,
        low_memory: bool = False,
    ) -> None:
        super().__init__()
        channels, depth = check_count("channels", channels), check_count("depth", depth)
        if reduction not in REDUCTIONS:
            raise ValueError(_unknown("reduction", reduction, REDUCTIONS))
        if readout not in READOUTS:
            raise ValueError(_unknown("readout", readout, READOUTS))
        self.channels, self.depth = channels, depth
        self.readout: SlotReadout = readout
        self.out_channels = depth * channels * len(readout.split("+"))
        self.reduction: Reduction = reduction
        self.low_memory = check_flag("low_memory", low_memory)
        self.structure = make_structure(structure)
        self.anchors = make_anchors(anchors, channels, self.structure)
        self.blend = MaxBlend() if check_flag("blend", blend) else None
        self.counts = SlotCounts(channels) if check_flag("counts", counts) else None
        self.node_norm = NodeNorm(channels) if check_flag("node_norm", node_norm) else None
        self.slot_dropout = SlotDropout(slot_dropout)
        self.layers = nn.ModuleList(self.structure.layer(channels) for _ in range(depth))
        weighted = depth if readout == "max+weighted" else 0
        self.weights: Sequence[SlotWeights] = nn.ModuleList(  # type: ignore[assignment]
            SlotWeights(self.structure.num_slots, channels) for _ in range(weighted)
        )

    def reset_parameters(self) -> None:
        """Draw all parameters anew."""
        own = (self.structure, self.anchors, self.blend, self.counts, self.node_norm)
        for part in (*own, *self.layers, *self.weights):
            if part is not None:
                part.reset_parameters()

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
        check_features(x, self.channels, dim)
        batch = ragged(x, index, ptr, dim_size)
        if batch.ptr.shape[0] == 1:  # no graphs; batch norm would have nothing to norm by
            return x.sum().expand(0, self.out_channels)
        vectors: list[Tensor] = []
        for layer, slots in enumerate(self._after_layers(self.normed(batch))):
            vectors += self.read(slots, slot_max(slots), layer)
        return torch.cat(vectors, dim=-1)

    def read(
        self,
        slots: Float[Tensor, "graphs slots channels"],
        largest: Float[Tensor, "graphs channels"],
        layer: int,
    ) -> list[Tensor]:
        """What the output takes of the slots after a layer, of which the maxima are known."""
        match self.readout:
            case "max":
                return [largest]
            case "max+mean":
                return [largest, slots.mean(dim=1)]
            case "max+weighted":
                return [largest, self.weights[layer](slots)]

    def normed(self, batch: Ragged) -> Ragged:
        """The batch with the nodes that are shared out: normed, if they are to be."""
        if self.node_norm is None:
            return batch
        if self.node_norm.learns and values_may_be_read(batch.x):
            check_spread(batch.x, batch.ptr, batch.order)
        return batch._replace(x=self.node_norm(batch.x))

    def place(self, batch: Ragged) -> Float[Tensor, "graphs slots channels"]:
        """Put the nodes of a batch, normed if they are to be, on the slots before these talk."""
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
        """Tell where each node lands: its share for every slot, rows that sum to one.

        With anchors that depend on the graph, ``index`` or ``ptr`` says whose node is whose. With
        ``node_norm`` call it in evaluation mode: while training nodes are normed by the batch at
        hand, and statistics move, as in the forward pass.
        """
        check_features(x, self.channels)
        batch = self.normed(ragged(x, index, ptr, dim_size))
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
        """What the slots hold after each latent layer, of which the output is read.

        Call it in evaluation mode: while training it drops slots and moves statistics, as the
        forward pass does.
        """
        check_features(x, self.channels)
        batch = ragged(x, index, ptr, dim_size)
        if batch.ptr.shape[0] == 1:
            return x.new_empty(0, self.depth, self.structure.num_slots, self.channels)
        return torch.stack(list(self._after_layers(self.normed(batch))), dim=1)

    def picks(
        self,
        x: Tensor,
        index: Tensor | None = None,
        ptr: Tensor | None = None,
        dim_size: int | None = None,
    ) -> Float[Tensor, "graphs depth slots"]:
        r"""Tell which slots made the maxima: of how many channels each holds the largest value.

        .. math::
            c^{(l)}_k = \sum_j \frac{[y^{(l)}_{kj} = \max_u y^{(l)}_{uj}]}
                                    {\#\{u : y^{(l)}_{uj} = \max_v y^{(l)}_{vj}\}}

        Every channel counts one, shared evenly where several slots hold the same maximum (all of
        them do where no slot responds), so that the counts of a layer sum to ``channels``.
        """
        slots = self.activations(x, index, ptr, dim_size)
        won = (slots == slots.amax(dim=2, keepdim=True)).to(slots.dtype)
        return (won / won.sum(dim=2, keepdim=True)).sum(dim=3)

    def _after_layers(self, batch: Ragged) -> Iterator[Tensor]:
        slots: Tensor = self.slot_dropout(self.place(batch))
        for layer in self.layers:
            slots = layer(slots, self.structure)
            yield slots

    def penalty(self) -> Float[Tensor, ""]:
        """A scalar to add to the loss; zero where the structure needs none."""
        return self.structure.penalty()

    def _largest(self, batch: Ragged) -> Tensor | None:
        if self.blend is None and not self.anchors.depends_on_graph:
            return None
        return ragged_max(batch.x, batch.ptr)

    def _anchors_for(self, batch: Ragged, x_max: Tensor | None) -> Tensor:
        anchors: Tensor = self.anchors(x_max)
        # Autocast does not see into our operator: the nodes decide the precision.
        return anchors.to(batch.x.dtype) if autocasts(batch.x) else anchors

    def __repr__(self) -> str:
        more = "" if self.readout == "max" else f", readout={self.readout!r}"
        more += "" if self.node_norm is None else ", node_norm=True"
        return (
            f"LFDSPool({self.channels} -> {self.out_channels}, {self.structure}, "
            f"anchors={type(self.anchors).__name__}, reduction={self.reduction!r}, "
            f"depth={self.depth}{more})"
        )


def penalty(model: nn.Module) -> Float[Tensor, ""]:
    """Sum the penalties of all structures anywhere inside ``model``, each once.

    Add it to the loss of any network that contains an :class:`LFDSPool`:
    ``loss = cross_entropy(model(batch), y) + lfds.nn.penalty(model)``.
    """
    # One by one: a zero on the CPU may be added to what is due on another device.
    due = (module.penalty() for module in model.modules() if isinstance(module, Structure))
    return sum(due, start=torch.zeros(()))


def make_structure(structure: str | Structure) -> Structure:
    """Build the structure called by a name of ``STRUCTURES``, or take the one given."""
    if isinstance(structure, Structure):
        return structure
    if isinstance(structure, type) and issubclass(structure, Structure):
        name = structure.__name__
        raise TypeError(f"structure must be built first, got the class {name}; use {name}(...)")
    if not isinstance(structure, str):
        raise TypeError(
            f"structure must be a name or a Structure, got {type(structure).__name__}; names are "
            f"{', '.join(STRUCTURES)}; for an adjacency use LatentGraph(adjacency)"
        )
    if structure not in STRUCTURES:
        raise ValueError(_unknown("structure", structure, tuple(STRUCTURES)))
    return STRUCTURES[structure]()


def make_anchors(anchors: str | Tensor | Anchors, channels: int, structure: Structure) -> Anchors:
    """Build the anchors called by a name of ``ANCHORS``, or make sure that those given fit."""
    num_slots = structure.num_slots
    if isinstance(anchors, str):
        if anchors not in ANCHORS:
            raise ValueError(_unknown("anchors", anchors, tuple(ANCHORS)))
        return ANCHORS[anchors](channels, num_slots)
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


def _unknown(option: str, value: object, known: tuple[str, ...]) -> str:
    near = difflib.get_close_matches(str(value), known, n=1)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    return f"{option} must be one of {', '.join(known)}, got {value!r}{hint}"
