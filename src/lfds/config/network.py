"""What a network is made of, as settings."""

from collections.abc import Mapping
from math import isqrt
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from lfds.config.messages import choose_from, did_you_mean
from lfds.config.migrations import (
    added,
    added_fields,
    changed,
    fill_legacy_defaults,
    without_legacy_defaults,
)
from lfds.config.registry import (
    BASES,
    POOLINGS,
    STRUCTURES,
    TGP_PREFIX,
    Entry,
    is_latent,
    structures_in,
    uses_all_layers,
)

Count = Annotated[int, Field(ge=1)]
Probability = Annotated[float, Field(ge=0, lt=1)]
Weight = Annotated[float, Field(ge=0)]

Reduction = Literal["sum", "mean", "mass"]
SlotReadout = Literal["max", "max+mean", "max+weighted"]


class LayerSettings(BaseModel):
    """The options of :class:`lfds.LFDSPool`, which takes each of them under the same name.

    Attributes:
        anchors: Where the anchors of the slots come from.
        smoothness: How slowly ``smooth`` anchors vary along the structure; 0 leaves them free,
            ``learned`` trains it.
        reduction: How a slot combines what it receives.
        depth: Number of latent layers.
        slot_dropout: Probability that a slot is dropped in training.
        blend: Whether the maxima of the graph are added to all slots.
        counts: Whether every slot gets the logarithm of its mass as a feature.
        readout: What is taken over the slots after each latent layer.
        node_norm: Whether nodes are normalized before they are distributed over the slots.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    anchors: Annotated[
        Literal["fixed", "smooth", "generated", "mixture"], changed(before="fixed", since=3)
    ] = "smooth"
    smoothness: Annotated[Weight | Literal["learned"], added(before=1.0, since=2)] = Field(
        default=1.0, title='float, >= 0, or `"learned"`'
    )
    reduction: Reduction = "mean"
    slot_dropout: Probability = 0.0
    blend: bool = False
    counts: bool = True
    readout: SlotReadout = "max+weighted"
    node_norm: Annotated[bool, added(before=False, since=1)] = True
    depth: Count = 2

    @classmethod
    def layer_fields(cls) -> tuple[str, ...]:
        """The names of the options of the layer."""
        return tuple(LayerSettings.model_fields)

    def layer_options(self) -> dict[str, Any]:
        """The options of the layer, as keyword arguments."""
        return {name: getattr(self, name) for name in self.layer_fields()}


PAPER_LAYER: Mapping[str, Any] = {
    "anchors": "fixed",
    "reduction": "sum",
    "counts": False,
    "slot_dropout": 0.4,
    "blend": True,
    "readout": "max",
    "node_norm": False,
}
"""The options of the layer as the paper has them; what is not named is as by default."""

PAPER_SLOTS = 64
DEFAULT_SLOTS = 16


class NetworkSettings(LayerSettings):
    """What a :class:`lfds.nn.GraphNetwork` is made of.

    The defaults were chosen by measurement; :meth:`paper` is what the paper says. Options of
    poolings other than ``pool`` have no effect.

    Attributes:
        pool: The pooling, by its name in ``lfds.config.registry``, or several latent structures
            side by side, as in ``loop+image``, or ``tgp:`` and the name of a pooler of
            torch-geometric-pool, where that is installed.
        base: The layers of the base, by their name in ``lfds.config.registry``.
        width: Width of the layers of the base.
        layers: Number of layers of the base.
        node_dropout: Probability that a node is dropped after a layer.
        edge_features: Whether the base uses labels and attributes of edges, where there are any;
            ``gin``, ``gcn`` and ``sage`` cannot.
        head_width: Width of the two hidden layers of the head.
        head_dropout: Dropout in the head.
        head_norm: Whether the head has batch normalization.
        slots: Number of slots of a latent structure; a square number for ``image`` and ``torus``.
        flat_readout: What the head sees of all nodes beside a pooling on slots, clusters or some of
            the nodes: their ``max``, or their ``stats`` (maximum, mean, standard deviation, log of
            their number). Flat poolings stand alone.
        vector_norm: Whether the vector of every graph is normalized over the batch before the head.
        pooled_layers: Which layers of the base are distributed over the slots: the ``last``, or
            ``all``, mapped to the slots' width by a learned linear map.
        baseline_layers: The same for baselines that read one layer, as ``diff`` and ``topk`` do.
        normalized_adjacency: Whether ``learned-spatial`` divides by the degrees.
        orthonormality: Weight of the penalty that keeps the basis of ``learned-spectral``
            orthonormal.
        clusters: Number of clusters of ``diff``, and of poolers of ``tgp`` that take one.
        link_weight: Weight of the link loss of ``diff``.
        entropy_weight: Weight of the entropy loss of ``diff``.
        ratio: Part of the nodes that ``topk`` and ``sag`` keep, and poolers of ``tgp`` that take
            one.
        sorted_nodes: Number of nodes that ``sort`` keeps.
        heads: Number of attention heads of ``set-transformer`` and ``gmt``, and of the bases
            ``gat`` and ``gps``.
        seeds: Number of vectors that ``gmt`` pools a graph to before the last one.
    """

    pool: str
    base: Annotated[str, added(before="spatial", since=5)] = "spatial"
    width: Count = 64
    layers: Count = 3
    node_dropout: Probability = 0.2
    edge_features: Annotated[bool, added(before=False, since=5)] = True
    head_width: Count = 64
    head_dropout: Probability = 0.5
    head_norm: bool = True
    slots: Annotated[int, Field(ge=2)] = DEFAULT_SLOTS
    flat_readout: Annotated[Literal["max", "stats"], added(before="max", since=3)] = "stats"
    vector_norm: Annotated[bool, added(before=False, since=3)] = True
    pooled_layers: Annotated[Literal["last", "all"], added(before="last", since=1)] = "all"
    baseline_layers: Annotated[Literal["last", "all"], added(before="last", since=3)] = "all"
    normalized_adjacency: bool = True
    orthonormality: Weight = 1.0
    clusters: Annotated[int, Field(ge=2)] = 64
    link_weight: Weight = 1.0
    entropy_weight: Weight = 1.0
    ratio: Annotated[float, Field(gt=0, le=1)] = 0.5
    sorted_nodes: Annotated[int, Field(ge=10)] = 30
    heads: Count = 4
    seeds: Count = 64

    @classmethod
    def paper(cls, pool: str) -> "NetworkSettings":
        """The network of the paper, to the letter where it says something.

        It says neither how wide the head is nor whether it has batch normalization, as all other
        layers have. Two layers of dropout leave too little of 64 values, and without batch
        normalization too little is learned through them; with both, ENZYMES comes near its Table 1.
        """
        options = {
            **PAPER_LAYER,
            "pool": pool,
            "head_width": 256,
            "slots": PAPER_SLOTS,
            "flat_readout": "max",
            "vector_norm": False,
            "pooled_layers": "last",
            "baseline_layers": "last",
            "normalized_adjacency": False,
            "edge_features": False,
        }
        return cls.model_validate(options)

    def as_recorded(self) -> dict[str, Any]:
        """The settings as records name them; the same network always has the same names.

        What has no effect on a baseline is named as before it could be chosen.
        """
        named = self.model_dump(mode="json")
        named.update((name, before) for name, before in idle_settings(self.pool).items())
        return without_legacy_defaults(NetworkSettings, named)

    def for_data(self, *, edge_data: bool) -> "NetworkSettings":
        """The settings as they are for data whose edges have labels or attributes, or neither.

        What cannot be used is off: the same network has the same name in records.
        """
        if edge_data and self.uses_edges:
            return self
        return self.model_copy(update={"edge_features": False})

    @property
    def uses_edges(self) -> bool:
        """Whether labels and attributes of edges are used, where there are any."""
        return self.edge_features and BASES[self.base].uses_edges

    @property
    def structures(self) -> tuple[str, ...]:
        """The names of the latent structures; none for another pooling."""
        return structures_in(self.pool)

    @field_validator("pool", mode="before")
    @classmethod
    def _known(cls, pool: Any) -> Any:
        if str(pool).startswith(TGP_PREFIX):
            check = Entry("lfds.nn.baselines.tgp:check_pooler", "").load()
            check(str(pool).removeprefix(TGP_PREFIX))
        elif pool not in POOLINGS:
            check_joined(str(pool))
        return pool

    @field_validator("base")
    @classmethod
    def _known_base(cls, base: str) -> str:
        if base not in BASES:
            raise ValueError(f"no base is called {base!r}; {choose_from(base, BASES)}")
        return base

    @model_validator(mode="after")
    def _fits(self) -> "NetworkSettings":
        for name in self.structures:
            check_slots(name, self.slots)
        attends = self.pool in ("set-transformer", "gmt") or self.base in ("gat", "gps")
        if attends and self.width % self.heads:
            raise ValueError(
                f"width must be a multiple of heads, got {self.width} and {self.heads}; "
                f"use heads=1 or width={self.heads * (self.width // self.heads + 1)}"
            )
        return self


def idle_settings(pool: str) -> dict[str, Any]:
    """Return later settings without effect on a pooling, as its records named them before.

    >>> idle_settings("loop")
    {'baseline_layers': 'last'}
    """
    if is_latent(pool):
        return {"baseline_layers": "last"}
    layer = {name: mark.before for name, mark in added_fields(LayerSettings)}
    idle = {**layer, "readout": "max", "pooled_layers": "last"}
    alone = {"baseline_layers": "last", "flat_readout": "max"}
    return {**idle, **alone} if uses_all_layers(pool) else idle


def recorded_network(stored: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the settings of a recorded network, with what was in effect where it is silent."""
    return fill_legacy_defaults(NetworkSettings, stored) if "slots" in stored else stored


def check_slots(structure: str, slots: int) -> None:
    """A structure that is a square needs a square number of slots."""
    side = isqrt(slots)
    if structure in STRUCTURES and STRUCTURES[structure].square and side**2 != slots:
        raise ValueError(
            f"slots of {structure!r} must be a square number, got {slots}; "
            f"use {max(side, 2) ** 2} or {(side + 1) ** 2}"
        )


def check_joined(pool: str) -> None:
    """What is joined by ``+`` must be latent structures, each once."""
    parts = pool.split("+")
    unknown = next((part for part in parts if part not in STRUCTURES), None)
    if unknown in POOLINGS or str(unknown).startswith(TGP_PREFIX):
        raise ValueError(
            f"only latent structures are joined by '+' ({', '.join(STRUCTURES)}), got {pool!r}"
        )
    if unknown is not None:
        choice = f"{', '.join(POOLINGS)}, {TGP_PREFIX}NAME"
        hint = did_you_mean(unknown, POOLINGS)
        raise ValueError(f"pool must be one of {choice}, got {unknown!r}{hint}")
    if len(set(parts)) < len(parts):
        raise ValueError(f"pool names a structure twice, got {pool!r}; once is enough")
