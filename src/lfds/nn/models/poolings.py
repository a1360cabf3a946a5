"""All poolings of the comparison by name."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from lfds.config.network import NetworkSettings
from lfds.nn.baselines.base import GraphPooling
from lfds.nn.baselines.coarse import CoarsePool
from lfds.nn.baselines.diff import DiffPool
from lfds.nn.baselines.flat import AttentionPool, MaxMeanPool, MaxPool, MeanPool, SumPool
from lfds.nn.baselines.rank import RankPool
from lfds.nn.baselines.sort import SortPool
from lfds.nn.baselines.tgp_poolers import PREFIX
from lfds.nn.baselines.transformers import multiset_transformer, set_transformer
from lfds.nn.models.lfds_pooling import LFDSPooling


def _on_all(pooling: Callable[[int], GraphPooling]) -> Callable[[NetworkSettings], GraphPooling]:
    return lambda settings: pooling(settings.layers * settings.width)


def _latent(settings: NetworkSettings) -> GraphPooling:
    return LFDSPooling(settings.width, settings)


def _sort(settings: NetworkSettings) -> GraphPooling:
    return SortPool(settings.layers * settings.width, settings.sorted_nodes)


def _diff(settings: NetworkSettings) -> GraphPooling:
    return DiffPool(
        settings.width,
        settings.clusters,
        link_weight=settings.link_weight,
        entropy_weight=settings.entropy_weight,
    )


POOLINGS: Mapping[str, Callable[[NetworkSettings], GraphPooling]] = MappingProxyType(
    {
        "max": _on_all(MaxPool),
        "mean": _on_all(MeanPool),
        "sum": _on_all(SumPool),
        "max+mean": _on_all(MaxMeanPool),
        "attention": _on_all(AttentionPool),
        "sort": _sort,
        "diff": _diff,
        "topk": lambda settings: RankPool(settings.width, settings.ratio, "topk"),
        "sag": lambda settings: RankPool(settings.width, settings.ratio, "sag"),
        "set-transformer": lambda settings: set_transformer(settings.width, settings.heads),
        "gmt": lambda settings: multiset_transformer(
            settings.width, settings.seeds, settings.heads
        ),
        "image": _latent,
        "array": _latent,
        "sequence": _latent,
        "loop": _latent,
        "learned-spatial": _latent,
        "learned-spectral": _latent,
    }
)


def make_pooling(settings: NetworkSettings) -> GraphPooling:
    """Build the pooling that ``settings`` name."""
    if settings.structures:
        return _latent(settings)
    if settings.pool.startswith(PREFIX):
        name = settings.pool.removeprefix(PREFIX)
        return CoarsePool(settings.width, name, settings.clusters, settings.ratio)
    return POOLINGS[settings.pool](settings)
