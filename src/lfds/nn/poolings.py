"""All poolings of the comparison by name."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from lfds.nn.baselines.flat import AttentionPool, MaxMeanPool, MaxPool, MeanPool, SumPool
from lfds.nn.graph_pooling import GraphPooling
from lfds.nn.network_settings import NetworkSettings
from lfds.nn.readout import LatentReadout


def _on_all(pooling: Callable[[int], GraphPooling]) -> Callable[[NetworkSettings], GraphPooling]:
    return lambda settings: pooling(settings.layers * settings.width)


def _latent(settings: NetworkSettings) -> GraphPooling:
    return LatentReadout(settings.width, settings)


POOLINGS: Mapping[str, Callable[[NetworkSettings], GraphPooling]] = MappingProxyType(
    {
        "max": _on_all(MaxPool),
        "mean": _on_all(MeanPool),
        "sum": _on_all(SumPool),
        "max+mean": _on_all(MaxMeanPool),
        "attention": _on_all(AttentionPool),
        "image": _latent,
        "array": _latent,
        "sequence": _latent,
        "loop": _latent,
        "learned-spatial": _latent,
        "learned-spectral": _latent,
    }
)
