"""All that is chosen about a network before it sees data."""

import difflib
from collections.abc import Mapping
from math import isqrt
from types import MappingProxyType
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from lfds.nn.baselines.tgp_poolers import PREFIX, check_pooler

LEGACY_DEFAULTS: Mapping[str, Any] = MappingProxyType({"node_norm": False, "pooled_layers": "last"})
"""Settings of latent structures that came later, and what went without saying before."""

LATENT = ("image", "array", "sequence", "loop", "learned-spatial", "learned-spectral")
"""Poolings on a latent structure; several of them, joined by ``+``, are used side by side."""

POOLS = (
    "max",
    "mean",
    "sum",
    "max+mean",
    "attention",
    "sort",
    "diff",
    "topk",
    "sag",
    "set-transformer",
    "gmt",
    *LATENT,
)

Count = Annotated[int, Field(ge=1)]
Probability = Annotated[float, Field(ge=0, lt=1)]


class NetworkSettings(BaseModel):
    """What a :class:`lfds.nn.GraphNetwork` is made of.

    The defaults are ours, by measurement; :meth:`paper` is what the paper says. Options of
    poolings other than ``pool`` are without effect.

    Attributes:
        pool: The pooling, by its name in ``lfds.nn.POOLINGS``, or several latent structures side by
            side, as in ``loop+image``, or ``tgp:`` and the name of a pooler of
            torch-geometric-pool, where that is installed.
        width: Width of the layers of the base.
        layers: Number of layers of the base.
        node_dropout: Probability of a node to be silenced after a layer.
        head_width: Width of the two hidden layers of the head.
        head_dropout: Dropout in the head.
        head_norm: Whether the head norms its hidden layers over the batch.
        slots: Number of slots of a latent structure; a square number for ``image``.
        anchors: Where the anchors of the slots come from.
        reduction: How a slot takes up what it is given.
        slot_dropout: Probability of a slot to be silenced.
        blend: Whether the maxima of the graph are added to all slots.
        counts: Whether slots are told how much they received.
        readout: What is taken over the slots after each latent layer.
        node_norm: Whether nodes are normed before they are shared out over the slots.
        pooled_layers: Which layers of the base are shared out over slots: the ``last``, or ``all``,
            mixed into one by learned weights.
        depth: Number of latent layers.
        normalized_adjacency: Whether ``learned-spatial`` divides by the degrees.
        orthonormality: Weight of the penalty that keeps the basis of ``learned-spectral``.
        clusters: Number of clusters of ``diff``, and of poolers of ``tgp`` that want to be told.
        link_weight: Weight of the link loss of ``diff``.
        entropy_weight: Weight of the entropy loss of ``diff``.
        ratio: Part of the nodes that ``topk`` and ``sag`` keep, and poolers of ``tgp`` that want
            to be told.
        sorted_nodes: Number of nodes that ``sort`` keeps.
        heads: Number of attention heads of ``set-transformer`` and ``gmt``.
        seeds: Number of vectors that ``gmt`` pools a graph to before the last one.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    pool: str
    width: Count = 64
    layers: Count = 3
    node_dropout: Probability = 0.2
    head_width: Count = 64
    head_dropout: Probability = 0.5
    head_norm: bool = True
    slots: Annotated[int, Field(ge=2)] = 16
    anchors: Literal["fixed", "generated", "mixture"] = "fixed"
    reduction: Literal["sum", "mean", "mass"] = "mean"
    slot_dropout: Probability = 0.0
    blend: bool = False
    counts: bool = True
    readout: Literal["max", "max+mean", "max+weighted"] = "max+weighted"
    node_norm: bool = True
    pooled_layers: Literal["last", "all"] = "all"
    depth: Count = 2
    normalized_adjacency: bool = True
    orthonormality: Annotated[float, Field(ge=0)] = 1.0
    clusters: Annotated[int, Field(ge=2)] = 64
    link_weight: Annotated[float, Field(ge=0)] = 1.0
    entropy_weight: Annotated[float, Field(ge=0)] = 1.0
    ratio: Annotated[float, Field(gt=0, le=1)] = 0.5
    sorted_nodes: Annotated[int, Field(ge=10)] = 30
    heads: Count = 4
    seeds: Count = 64

    @classmethod
    def paper(cls, pool: str) -> "NetworkSettings":
        """The network of the paper, to the letter where it says something.

        It says neither how wide the head is nor whether it has norms, as all other layers have.
        Two layers of dropout leave too little of 64 values, and without norms too little is learned
        through them; with both ENZYMES comes near its Table 1 (``docs/results.md``).
        """
        told = {
            "pool": pool,
            "head_width": 256,
            "head_norm": True,
            "slots": 64,
            "reduction": "sum",
            "counts": False,
            "slot_dropout": 0.4,
            "blend": True,
            "readout": "max",
            "node_norm": False,
            "pooled_layers": "last",
            "normalized_adjacency": False,
        }
        return cls.model_validate(told)

    @property
    def structures(self) -> tuple[str, ...]:
        """The names of the latent structures; none for another pooling."""
        parts = tuple(self.pool.split("+"))
        return parts if set(parts) <= set(LATENT) else ()

    @field_validator("pool", mode="before")
    @classmethod
    def _known(cls, pool: Any) -> Any:
        if str(pool).startswith(PREFIX):
            check_pooler(str(pool).removeprefix(PREFIX))
        elif pool not in POOLS:
            check_joined(str(pool))
        return pool

    @model_validator(mode="after")
    def _fits(self) -> "NetworkSettings":
        side = isqrt(self.slots)
        if "image" in self.structures and side**2 != self.slots:
            raise ValueError(
                f"slots of an image must be a square number, got {self.slots}; "
                f"use {max(side, 2) ** 2} or {(side + 1) ** 2}"
            )
        if self.pool in ("set-transformer", "gmt") and self.width % self.heads:
            raise ValueError(
                f"width must be a multiple of heads, got {self.width} and {self.heads}; "
                f"use heads=1 or width={self.heads * (self.width // self.heads + 1)}"
            )
        return self


def check_joined(pool: str) -> None:
    """What is joined by ``+`` must be latent structures, each once."""
    parts = pool.split("+")
    unknown = next((part for part in parts if part not in LATENT), None)
    if unknown in POOLS or str(unknown).startswith(PREFIX):
        raise ValueError(
            f"only latent structures are joined by '+' ({', '.join(LATENT)}), got {pool!r}"
        )
    if unknown is not None:
        near = difflib.get_close_matches(unknown, POOLS, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        choice = f"{', '.join(POOLS)}, {PREFIX}NAME"
        raise ValueError(f"pool must be one of {choice}, got {unknown!r}{hint}")
    if len(set(parts)) < len(parts):
        raise ValueError(f"pool names a structure twice, got {pool!r}; once is enough")
