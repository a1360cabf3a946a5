"""In what the networks of a comparison differ beside the pooling: layers, norms, readout, size."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from lfds.config.network import idle_settings
from lfds.config.registry import REFERENCES, TGP_PREFIX, is_latent, uses_all_layers
from lfds.report.series import Series

NO_EFFECT = "\N{EN DASH}"
"""Stands for a setting that has no effect on a pooling."""

SLOT_READOUTS: Mapping[str, str] = {
    "max": "maxima over slots",
    "max+mean": "maxima and means over slots",
    "max+weighted": "maxima and weighted sums over slots",
}

# Norms inside, and what is read of the nodes; as in docs/models.md.
_FLAT = ("none", "statistics of the nodes")
_COARSE = ("in the two layers after the pooling", "maxima over clusters or remaining nodes")
_ATTENTION = ("none", "one attention vector")
BASELINE_PARTS: Mapping[str, tuple[str, str]] = {
    "max-mlp": ("in its perceptron", "statistics of the nodes"),
    "sort": ("none", "the first nodes in order"),
    **dict.fromkeys(("diff", "topk", "sag"), _COARSE),
    **dict.fromkeys(("set-transformer", "gmt"), _ATTENTION),
}


@dataclass(frozen=True)
class NetworkParts:
    """What the network of one row does around its pooling, in words.

    Attributes:
        row: The row.
        layers: Which layers of the base are pooled.
        norms: Batch norms inside the pooling.
        read: What is read of nodes, clusters or slots.
        beside: What the head sees beside it.
        parameters: Number of parameters of the whole network, by column.
    """

    row: str
    layers: str
    norms: str
    read: str
    beside: str
    parameters: str


def network_parts(all_series: Iterable[Series]) -> list[NetworkParts]:
    """Return what differs between rows; one entry for each row that has completed a fold."""
    rows: dict[str, list[Series]] = {}
    for series in all_series:
        if series.done and "slots" in series.settings:
            rows.setdefault(series.row, []).append(series)
    return [_parts(row, group) for row, group in rows.items()]


def _parts(row: str, group: list[Series]) -> NetworkParts:
    settings, pool = group[0].settings, group[0].pool
    sizes = dict.fromkeys(f"{series.cost.parameters:,.0f}" for series in group)
    parameters = ", ".join(sizes) if len(sizes) < 4 else f"{next(iter(sizes))} and others"
    beside = {"stats": "statistics of all nodes", "max": "maxima of all nodes"}
    flat = beside.get(settings.get("flat_readout", "max"), NO_EFFECT)
    if is_latent(pool):
        on_nodes = "on the nodes, and " if settings.get("node_norm") == "true" else ""
        layers = _mixed(settings.get("pooled_layers", "last"))
        read = SLOT_READOUTS.get(settings.get("readout", ""), settings.get("readout", ""))
        return NetworkParts(row, layers, f"{on_nodes}in the latent layers", read, flat, parameters)
    norms, read = BASELINE_PARTS.get(pool, _COARSE if pool.startswith(TGP_PREFIX) else _FLAT)
    if uses_all_layers(pool):
        return NetworkParts(row, "all, side by side", norms, read, "nothing", parameters)
    layers = _mixed(settings.get("baseline_layers", "last"))
    return NetworkParts(row, layers, norms, read, flat, parameters)


def _mixed(layers: str) -> str:
    return "all, in a learned mix" if layers == "all" else "the last"


def effective_settings(all_series: Sequence[Series]) -> list[dict[str, str]]:
    """Return the settings of each series; those without effect on its row are a dash.

    A random forest has none of the settings of a network, and a network none of a forest's.
    """
    of_kind: dict[bool, dict[str, str]] = {True: {}, False: {}}
    for series in all_series:
        of_kind[series.pool in REFERENCES] |= dict.fromkeys(series.settings, NO_EFFECT)
    effective = []
    for series in all_series:
        idle = idle_settings(series.pool)
        own = {n: NO_EFFECT if n in idle else value for n, value in series.settings.items()}
        effective.append(of_kind[series.pool not in REFERENCES] | own)
    return effective
