"""The poolers of torch-geometric-pool (``tgp``) by name, imported on first use."""

import warnings
from collections.abc import Container, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import Any

import numpy as np
import torch
from torch import nn

from lfds.config.messages import closest
from lfds.config.registry import TGP_PREFIX as PREFIX


@cache
def check_pooler(name: str) -> None:
    """Refuse a pooler that does not exist, or that cannot work here, with the reason.

    Args:
        name: As ``tgp`` calls it; ``_u`` at the end asks for the variant without padding.
    """
    make_pooler(name, channels=4, clusters=3, ratio=0.5)


def make_pooler(name: str, channels: int, clusters: int, ratio: float) -> tuple[nn.Module, int]:
    """Build a pooler of ``tgp``, and find the width of the nodes after it.

    The pooler is run on a small graph: that gives the width, and shows what is missing before
    anything is trained.

    Args:
        name: As ``tgp`` calls it.
        channels: Width of the nodes.
        clusters: Number of clusters, for poolers that take one.
        ratio: Part of the nodes that are kept, for poolers that take one.
    """
    known = _known(name)
    base = name.removesuffix("_u")
    if base not in known or (name != base and "batched" not in _options(known[base])):
        raise ValueError(_unknown(name, known))
    wanted: dict[str, Any] = {
        "in_channels": channels,
        "k": clusters,
        "ratio": ratio,
        "sparse_output": True,  # clusters as nodes of one batch, those that are padding left out
        "adj_transpose": False,  # pooled edges go from the first row to the second, as others do
    }
    if name != base:
        wanted["batched"] = False
    options = {key: wanted[key] for key in wanted if key in _options(known[base])}
    try:
        pooler: nn.Module = known[base](**options)
        return pooler, _width_after(pooler, channels)
    except Exception as error:  # poolers raise many different exceptions
        reason = (str(error) or type(error).__name__).splitlines()[0]
        raise ValueError(f"pool '{PREFIX}{name}' does not work here: {reason}") from error


@contextmanager
def same_draws() -> Iterator[None]:
    """Let poolers that draw from numpy (``eigen``, ``nmf``) draw the same at every call.

    torch's generator is seeded by the training; numpy's global stream would make a fold depend on
    the folds before it.
    """
    before = np.random.get_state()
    np.random.seed(0)
    try:
        yield
    finally:
        np.random.set_state(before)


def _known(name: str) -> Mapping[str, Any]:
    try:
        from tgp.poolers import pooler_map
    except (ImportError, OSError) as error:  # OSError: compiled for another torch
        raise ValueError(
            f"pool '{PREFIX}{name}' needs torch-geometric-pool and torch_scatter ({error}); "
            "install them with: pip install --no-build-isolation torch_scatter (compiles, for "
            "minutes) and then: pip install 'lfds[tgp]'"
        ) from error
    poolers: Mapping[str, Any] = pooler_map
    return poolers


def _unknown(name: str, known: Mapping[str, Any]) -> str:
    near = closest(name, known)
    hint = "" if near is None else f"; did you mean '{PREFIX}{near}'?"
    return f"pool must be {PREFIX} and one of {', '.join(known)}, got '{PREFIX}{name}'{hint}"


def _options(pooler: Any) -> Container[str]:
    options: Container[str] = pooler.get_signature().args
    return options


def _width_after(pooler: nn.Module, channels: int) -> int:
    ring = torch.arange(6)
    ahead, back = torch.stack([ring, ring.roll(1)]), torch.stack([ring.roll(1), ring])
    edges = torch.cat([ahead, back], dim=1)
    # torch warns once per process about sparse matrices as tgp builds them; here it is silenced.
    quiet = warnings.catch_warnings(action="ignore", category=UserWarning)
    with quiet, torch.random.fork_rng(devices=[]), torch.no_grad():
        x = torch.randn(6, channels)
        pooled = pooler.eval()(
            x=x, adj=edges, edge_weight=torch.ones(12), batch=torch.zeros_like(ring)
        )
    pooler.train()
    return int(pooled.x.shape[-1])
