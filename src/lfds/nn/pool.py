"""The pooling layer: nodes on a structure, the structure through its network, one vector out."""

import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NoReturn, TypeVar, get_args

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.nn.parameter import UninitializedParameter

from lfds.config.network import (
    PAPER_LAYER,
    NetworkSettings,
    Reduction,
    SlotReadout,
    check_slots,
)
from lfds.nn.accel.dispatch import autocasts, is_traced, values_may_be_read
from lfds.nn.anchors import ANCHORS, Anchors, FixedAnchors, SmoothAnchors, Smoothness
from lfds.nn.chunks import chunks_of, is_large, is_observed
from lfds.nn.input_checks import (
    check_choice,
    check_count,
    check_features,
    check_flag,
    check_is_tensor,
    check_node_dim,
    check_nodes,
    check_precision,
    check_ptr,
    check_spread,
    refuse_to_record,
)
from lfds.nn.latent import run_latent, width_of
from lfds.nn.normalization import ChannelNorm
from lfds.nn.ops.ragged import Ragged, count_graphs, ragged, ragged_from_dense
from lfds.nn.ops.segment import ragged_max, slot_max
from lfds.nn.ops.stacked import stacked
from lfds.nn.projection import REDUCTIONS, divided, place, place_and_weigh, shares
from lfds.nn.slot_modules import (
    MaxBlend,
    SlotCounts,
    SlotDropout,
    SlotWeights,
)
from lfds.nn.structures import STRUCTURES, Structure

READOUTS: tuple[SlotReadout, ...] = get_args(SlotReadout)

LAZY = -1
"""A width that the first batch will tell, as PyG writes it."""


# Not `Self`, which cannot be checked in methods that are decorated one by one, as in the tests.
_Layer = TypeVar("_Layer", bound="LatentPool")


class LatentPool(nn.Module):
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

    :class:`lfds.LFDSPool` is this layer as a PyG :class:`~torch_geometric.nn.aggr.Aggregation`:
    wherever one fits, it fits, as a global pooling or as ``aggr=`` of a message passing layer.  It
    needs no edges, no padding and no sorted ``index``, and its time grows linearly with the number
    of nodes.  Networks of the estimators have the layer without PyG, which takes two seconds to
    import.

    Args:
        in_channels: Width of the node features; -1 to take it from the first batch. Then make the
            optimizer after a first batch, as with other lazy modules of torch and PyG.
        structure: Name of a structure (a key of ``lfds.STRUCTURES``), or a structure.
        hidden_channels: Width of the slots. With it, a learned linear map comes first: give all
            layers of a GNN side by side as ``x``, and the width of one of them here. By default
            ``in_channels``, and no map.
        num_slots: Number of slots of a structure given by name, 16 by default.
        latent: A network of your own in place of the latent layers, for example a CNN on the latent
            image. What it is called with, the structure says (:meth:`Structure.signal`); it returns
            one vector per graph, or slots in the same layout, of which maximum and mean are taken.
        anchors: ``"smooth"`` along the structure, so that neighbouring slots attract similar nodes
            (the same as fixed where neighbours are learned); ``"fixed"``, free and the same for
            all graphs (the paper); ``"generated"`` for each graph from its largest values, or a
            ``"mixture"`` weighted by them; or a matrix [slots, hidden_channels] to start fixed
            ones from; or a module of :mod:`lfds.nn.anchors`.
        smoothness: How slowly smooth anchors vary; 0 leaves them free, ``"learned"`` trains it.
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
        out_channels: Length of the output: a learned linear map comes last. As ``aggr=`` of a
            layer that expects messages of the same width as before, such as ``SAGEConv``, set it
            to ``in_channels``. By default there is no map.

    Shapes:
        - ``x`` [nodes, in_channels], or with further dimensions, the nodes in dimension ``dim``
        - ``index`` [nodes], in any order, or ``ptr`` [graphs + 1]; neither means one graph
        - output [graphs, out_channels]; a graph without nodes has a finite vector too

    Example:
        >>> import torch
        >>> from lfds import LFDSPool
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
        anchors: str | Tensor | Anchors = "smooth",
        smoothness: Smoothness = 1.0,
        reduction: Reduction = "mean",
        depth: int = 2,
        slot_dropout: float = 0.0,
        blend: bool = False,
        counts: bool = True,
        readout: SlotReadout = "max+weighted",
        node_norm: bool = True,
        low_memory: bool = False,
        out_channels: int | None = None,
    ) -> None:
        super().__init__()
        if in_channels != LAZY:
            check_count("in_channels", in_channels)
        if hidden_channels is not None:
            hidden_channels = check_count("hidden_channels", hidden_channels)
        if out_channels is not None:
            out_channels = check_count("out_channels", out_channels)
        check_choice("reduction", reduction, REDUCTIONS)
        check_choice("readout", readout, READOUTS)
        self.in_channels, self.depth = operator.index(in_channels), check_count("depth", depth)
        self.readout: SlotReadout = readout
        self.reduction: Reduction = reduction
        self.low_memory = check_flag("low_memory", low_memory)
        self.register_module("input_map", None)
        self.structure = make_structure(structure, num_slots)
        build = partial(
            self._build,
            latent=latent,
            anchors=anchors,
            smoothness=smoothness,
            slot_dropout=slot_dropout,
            blend=check_flag("blend", blend),
            counts=check_flag("counts", counts),
            node_norm=check_flag("node_norm", node_norm),
            out_channels=out_channels,
        )
        self._build_later: Callable[[int], None] | None = None
        if in_channels == LAZY and hidden_channels is None:
            self._build_later = build
            self.hidden_channels = LAZY
            self.out_channels = LAZY if out_channels is None else out_channels
            # Follows `to`, and tells torch that parameters are missing.
            self.uninitialized = UninitializedParameter()
            return
        build(self.in_channels if hidden_channels is None else hidden_channels)
        if hidden_channels is not None:
            self.input_map = _linear(self.in_channels, hidden_channels)

    def _build(
        self,
        channels: int,
        *,
        latent: nn.Module | None,
        anchors: str | Tensor | Anchors,
        smoothness: Smoothness,
        slot_dropout: float,
        blend: bool,
        counts: bool,
        node_norm: bool,
        out_channels: int | None,
    ) -> None:
        """Make all parts for slots of a width."""
        self.hidden_channels = channels
        self.anchors = make_anchors(anchors, channels, self.structure, smoothness)
        self.blend = MaxBlend() if blend else None
        self.counts = SlotCounts(channels) if counts else None
        self.node_norm = ChannelNorm(channels) if node_norm else None
        self.slot_dropout = SlotDropout(slot_dropout)
        depth = self.depth if latent is None else 0
        self.layers = nn.ModuleList(self.structure.layer(channels) for _ in range(depth))
        weighted = depth if self.readout == "max+weighted" else 0
        self.weights: Sequence[SlotWeights] = nn.ModuleList(  # type: ignore[assignment]
            SlotWeights(self.structure.num_slots, channels) for _ in range(weighted)
        )
        self.latent = latent
        if latent is None:
            width = depth * channels * len(self.readout.split("+"))
        else:
            width = width_of(latent, self.structure, channels)
        self.output_map = None if out_channels is None else nn.Linear(width, out_channels)
        self.out_channels = width if out_channels is None else out_channels

    def _initialize(self, in_channels: int) -> None:
        """Make what could not be made before the width of the nodes was known."""
        self.in_channels = in_channels
        if self._build_later is None:
            return
        like = self.uninitialized
        del self.uninitialized
        self._build_later(in_channels)
        self._build_later = None
        self.to(device=like.device, dtype=like.dtype).train(self.training)

    def _load_from_state_dict(
        self, state_dict: Mapping[str, Any], prefix: str, *arguments: Any
    ) -> None:
        # The anchors, of whatever type, have the width of the slots as their last dimension.
        stored = (state_dict[key] for key in state_dict if key.startswith(f"{prefix}anchors."))
        anchors = next((value for value in stored if value.dim() > 1), None)
        if self._build_later is not None and anchors is not None:
            self._initialize(anchors.shape[-1])
        super()._load_from_state_dict(state_dict, prefix, *arguments)

    def __prepare_scriptable__(self) -> NoReturn:
        refuse_to_record("torch.jit.script")

    @classmethod
    def paper(
        cls: type[_Layer],
        in_channels: int,
        structure: str | Structure = "loop",
        *,
        num_slots: int | None = None,
        **options: Any,
    ) -> _Layer:
        """The layer of the paper to the letter; whatever is named beside it overrides that.

        A plain sum over the nodes, 64 slots, slot dropout 0.4, the blend with max pooling, and the
        maxima over the slots as readout.

        Example:
            >>> from lfds import LFDSPool
            >>> LFDSPool.paper(16, "image")
            LFDSPool(16 -> 32, Image(8x8 slots), reduction='sum', blend=True, readout='max')
        """
        structure = make_structure(structure, num_slots, paper=True)
        return cls(in_channels, structure, **{**PAPER_LAYER, **options})

    def reset_parameters(self) -> None:
        """Draw all parameters anew."""
        if self._build_later is not None:
            return
        own = (self.structure, self.anchors, self.blend, self.counts, self.node_norm)
        latent = () if self.latent is None else self.latent.modules()
        maps = (self.input_map, self.output_map)
        for part in (*own, *self.layers, *self.weights, *maps, *latent):
            getattr(part, "reset_parameters", lambda: None)()

    def share_input_map(self, other: "LatentPool") -> None:
        """Use the linear map of another layer: for layers side by side on the same nodes."""
        self.in_channels, self.input_map = other.in_channels, other.input_map

    def __call__(
        self,
        x: Tensor,
        index: Tensor | None = None,
        ptr: Tensor | None = None,
        dim_size: int | None = None,
        dim: int = -2,
        max_num_elements: int | None = None,
        *,
        weight: Tensor | None = None,
    ) -> Tensor:
        # Past Aggregation's own checks, which read `index` before it is known to be one.
        if is_traced() and dim_size is None and ptr is None and isinstance(index, Tensor):
            dim_size = count_graphs(index)  # the one thing that compiled code must leave for
        own = {} if weight is None else {"weight": weight}  # hooks see what PyG passes otherwise
        pooled: Tensor = nn.Module.__call__(
            self, x, index, ptr, dim_size, dim, max_num_elements, **own
        )
        return pooled

    def forward(
        self,
        x: Tensor,
        index: Tensor | None = None,
        ptr: Tensor | None = None,
        dim_size: int | None = None,
        dim: int = -2,
        max_num_elements: int | None = None,
        *,
        weight: Tensor | None = None,
    ) -> Float[Tensor, "*graphs out_channels"]:
        """Pool a batch; the arguments are those of PyG's ``Aggregation``, and ``weight``.

        Args:
            x: Node features.
            index: Graph of every node, in any order.
            ptr: Where each graph begins; the nodes are then in order.
            dim_size: Number of graphs.
            dim: The dimension of ``x`` in which the nodes are.
            max_num_elements: Is ignored: nothing is padded.
            weight: How much of every node there is, [nodes], one of each by default: in evaluation
                a node of weight two counts as two nodes, and one of weight zero as none. In
                training, ``node_norm`` takes its statistics over all nodes alike.
        """
        check_is_tensor(x)
        check_node_dim(x, dim)
        if x.dim() > 2:
            if weight is not None:
                raise ValueError(
                    f"weight goes with x [nodes, channels], got x {list(x.shape)}; "
                    "pool one entry of the further dimensions at a time"
                )
            many = stacked(x, index, ptr, dim_size, dim)
            return many.restore(self.forward(many.x, many.index, many.ptr, many.num_graphs))
        if ptr is not None and weight is None and self._in_chunks(x):
            slots = self._placed_in_chunks(x, ptr)
        else:
            batch = self._ragged(x, index, ptr, dim_size, weight)
            if batch.ptr.shape[0] == 1:  # no graphs, and no statistics for a batch norm
                return batch.x.sum().expand(0, self.out_channels)
            slots = self._slots(self.normalized(batch))
        vectors = self._vectors(slots)
        return vectors if self.output_map is None else self.output_map(vectors)

    def forward_dense(
        self,
        x: Float[Tensor, "graphs most in_channels"],
        mask: Bool[Tensor, "graphs most"] | None = None,
    ) -> Float[Tensor, "graphs out_channels"]:
        """Pool a padded batch, as ``torch_geometric.utils.to_dense_batch`` makes it.

        Args:
            x: Node features, one row of nodes for each graph.
            mask: Which of them are nodes; all by default. The others have no effect.
        """
        nodes, ptr = ragged_from_dense(x, mask)
        return self(nodes, ptr=ptr)

    def _vectors(self, slots: Tensor) -> Tensor:
        if self.latent is not None:
            return run_latent(self.latent, self.structure, slots)
        vectors: list[Tensor] = []
        for layer, after in enumerate(self._after_layers(slots)):
            vectors += self.read(after, layer)
        return torch.cat(vectors, dim=-1)

    def read(
        self,
        slots: Float[Tensor, "graphs slots channels"],
        layer: int,
    ) -> list[Tensor]:
        """What the output takes of the slots after a layer."""
        largest = slot_max(slots)
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
        learns = getattr(self.node_norm, "learns", False)  # another norm may stand in its place
        if learns and values_may_be_read(batch.x):
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
        slots = self._slots(self.normalized(batch))
        return torch.stack(list(self._after_layers(slots)), dim=1)

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
        weight: Tensor | None = None,
    ) -> Ragged:
        """The batch in order, its nodes mapped to the width of the slots."""
        if self.in_channels == LAZY:
            check_nodes(x)
            self._initialize(x.shape[1])
        check_features(x, self.in_channels)
        check_precision(x, next(self.anchors.parameters(), None))
        nodes = x if self.input_map is None else self.input_map(x)
        return ragged(nodes, index, ptr, dim_size, weight)

    def _slots(self, batch: Ragged) -> Tensor:
        slots: Tensor = self.slot_dropout(self.place(batch))
        return slots

    def _in_chunks(self, x: Tensor) -> bool:
        """Whether nodes are mapped and distributed some rows at a time."""
        whole = self.training or self.blend is not None or self._build_later is not None
        if whole or self.in_channels == LAZY or self.anchors.depends_on_graph:
            return False
        return is_large(x) and not is_observed(self.input_map, self.node_norm)

    def _placed_in_chunks(self, x: Tensor, ptr: Tensor) -> Tensor:
        """:meth:`place` of very many nodes: sums and masses of the slots are added up."""
        check_ptr(ptr, x.shape[0])
        graphs, slots = ptr.shape[0] - 1, self.structure.num_slots
        total = x.new_zeros(graphs, slots, self.hidden_channels)
        mass = x.new_zeros(graphs, slots)
        for some, within in chunks_of(x, ptr):
            batch = self.normalized(self._ragged(some, None, within, None))
            anchors = self._anchors_for(batch, None)
            sums, masses = place_and_weigh(batch, anchors, "sum", self.low_memory)
            total += sums
            mass += masses
        placed = divided(total, mass, Ragged(x, ptr, None), self.reduction)
        return placed if self.counts is None else self.counts(placed, mass)

    def _after_layers(self, slots: Tensor) -> Iterator[Tensor]:
        for layer in self.layers:
            slots = layer(slots, self.structure)
            yield slots

    def _largest(self, batch: Ragged) -> Tensor | None:
        if self.blend is None and not self.anchors.depends_on_graph:
            return None
        if batch.weight is None:
            return ragged_max(batch.x, batch.ptr)
        present = batch.x.masked_fill((batch.weight == 0)[:, None], -torch.inf)
        largest = ragged_max(present, batch.ptr)
        return largest.masked_fill(largest == -torch.inf, 0.0)

    def _anchors_for(self, batch: Ragged, x_max: Tensor | None) -> Tensor:
        anchors: Tensor = self.anchors(x_max)
        # Autocast does not see into our operator: the nodes decide the precision.
        return anchors.to(batch.x.dtype) if autocasts(batch.x) else anchors

    def __repr__(self) -> str:
        parts = [f"{self.in_channels} -> {self.out_channels}", str(self.structure)]
        latent = getattr(self, "latent", None)  # not there before the first batch of a lazy one
        if self.input_map is not None:
            parts.append(f"hidden_channels={self.hidden_channels}")
        if latent is not None:
            parts.append(f"latent={type(latent).__name__}")
        plain = FixedAnchors | SmoothAnchors
        if self._build_later is None and not isinstance(self.anchors, plain):
            parts.append(f"anchors={type(self.anchors).__name__}")
        parts.append(f"reduction={self.reduction!r}")
        if getattr(self, "blend", None) is not None:
            parts.append("blend=True")
        if self.depth != 2:
            parts.append(f"depth={self.depth}")
        if latent is None:
            parts.append(f"readout={self.readout!r}")
        return f"LFDSPool({', '.join(parts)})"


def _linear(in_channels: int, out_channels: int) -> nn.Linear:
    if in_channels == LAZY:
        return nn.LazyLinear(out_channels, bias=False)  # a Linear after the first batch
    return nn.Linear(in_channels, out_channels, bias=False)


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
    anchors: str | Tensor | Anchors,
    channels: int,
    structure: Structure,
    smoothness: Smoothness = 1.0,
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
