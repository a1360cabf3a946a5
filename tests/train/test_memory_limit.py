import os
from math import inf

import pytest
import torch

from lfds.config import budget
from lfds.config.messages import SpecError
from lfds.nn import POOLINGS, GraphNetwork, NetworkSettings
from lfds.train.memory_limit import (
    BYTES_PER_PARAMETER,
    build_network,
    check_memory,
    memory_errors_explained,
    min_parameters,
)

GIGA = 10**9


def settings(pool="loop", **others):
    return NetworkSettings(pool=pool, **others)


def parameters(network_settings):
    with torch.device("meta"):  # shapes without memory
        network = GraphNetwork(1, 1, network_settings)
    return sum(parameter.numel() for parameter in network.parameters())


SIZES = [
    {},
    {"width": 12},
    {"width": 256},
    {"layers": 1},
    {"layers": 12},
    {"head_width": 2},
    {"head_width": 512},
    {"slots": 4},
    {"slots": 400},
    {"depth": 7},
    {"clusters": 2},
    {"seeds": 1},
    {"sorted_nodes": 10},
    {"sorted_nodes": 11},
]


@pytest.mark.parametrize("pool", [*POOLINGS, "loop+image"])
def test_no_network_has_fewer_parameters_than_the_lower_bound(pool):
    for sizes in SIZES:
        some = settings(pool, **sizes)
        assert min_parameters(some) <= parameters(some)


@pytest.mark.parametrize("anchors", ["generated", "mixture"])
@pytest.mark.parametrize("sizes", [{}, {"width": 4}, {"slots": 400}])
def test_the_lower_bound_holds_for_other_anchors(anchors, sizes):
    some = settings(anchors=anchors, **sizes)
    assert min_parameters(some) <= parameters(some)


@pytest.mark.parametrize(
    ("pool", "sizes"),
    [
        ("max", {"width": 5_000}),
        ("max", {"layers": 100}),
        ("max", {"head_width": 5_000}),
        ("loop", {"slots": 10**6}),
        ("loop", {"slots": 10**4, "anchors": "generated"}),
        ("image", {"slots": 10**6, "anchors": "mixture"}),
        ("learned-spatial", {"slots": 5_000}),
        ("learned-spectral", {"slots": 2_000}),
        ("loop", {"depth": 100}),
        ("diff", {"clusters": 10**6}),
        ("gmt", {"seeds": 10**6}),
        ("sort", {"sorted_nodes": 10**6}),
    ],
)
def test_the_lower_bound_is_tight_where_one_size_dominates(pool, sizes):
    some = settings(pool, **sizes)
    assert min_parameters(some) > parameters(some) / 4


@pytest.mark.parametrize(
    ("pool", "name", "size"),
    [
        ("max", "width", 10**6),
        ("loop", "width", 10**400),
        ("max", "layers", 10**30),
        ("max", "head_width", 10**6),
        ("loop", "slots", 10**9),
        ("learned-spatial", "slots", 10**5),
        ("loop", "depth", 10**7),
        ("diff", "clusters", 10**9),
        ("gmt", "seeds", 10**9),
        ("sort", "sorted_nodes", 10**9),
    ],
)
def test_a_size_that_does_not_fit_is_named(pool, name, size):
    with pytest.raises(SpecError) as caught:
        check_memory(settings(pool, **{name: size}), available=8 * GIGA)
    message = str(caught.value)
    assert message.startswith(f"{name}: {size} makes a network that, to be trained, takes at ")
    assert message.endswith(
        " GB of memory, and 8 GB may be used (LFDS_MAX_MEMORY sets how much); choose a smaller one"
    )
    assert "\n" not in message


def test_of_two_sizes_the_one_that_takes_more_is_named():
    with pytest.raises(SpecError, match=r"^head_width: 50000 .* at least 46 GB"):
        check_memory(settings(width=5_000, head_width=50_000), available=8 * GIGA)


def test_a_network_is_built_if_it_fits(monkeypatch):
    needed = BYTES_PER_PARAMETER * min_parameters(settings()) + 8 * 16**2  # modes of 16 slots
    monkeypatch.setattr(budget, "machine_memory", lambda: float(needed))
    assert isinstance(build_network(3, 2, settings()), GraphNetwork)
    monkeypatch.setattr(budget, "machine_memory", lambda: float(needed - 1))
    with pytest.raises(SpecError, match="choose a smaller one"):
        build_network(3, 2, settings())


def test_many_smooth_slots_are_refused_before_their_modes_are_computed():
    with pytest.raises(SpecError, match=r"^slots: 1000000 makes a network that, to be trained"):
        check_memory(settings(slots=10**6), available=24e9)
    check_memory(settings(slots=10**6, anchors="fixed"), available=24e9)


def test_out_of_memory_errors_of_torch_name_the_sizes(monkeypatch):
    monkeypatch.setattr(budget, "machine_memory", lambda: inf)
    with pytest.raises(SpecError) as caught:
        build_network(3, 2, settings(slots=10**12))
    assert str(caught.value) == (
        "memory ran out for a network of loop with width 64, head_width 64, slots 1000000000000; "
        "lower one of them"
    )


def test_the_batch_size_is_named_where_it_matters():
    lower = "slots 16, batch_size 32; lower one"
    with pytest.raises(SpecError, match=lower), memory_errors_explained(settings(), 32):
        torch.empty(2**60)
    with pytest.raises(SpecError, match="memory ran out"), memory_errors_explained(settings(), 32):
        raise MemoryError


def test_other_errors_are_unchanged():
    with pytest.raises(RuntimeError, match="on purpose"), memory_errors_explained(settings()):
        raise RuntimeError("on purpose")


def test_the_memory_is_that_of_the_machine_or_infinite(monkeypatch):
    values = {"SC_PHYS_PAGES": 1000, "SC_PAGE_SIZE": 4096}
    monkeypatch.setattr(os, "sysconf", values.__getitem__)
    assert budget.machine_memory() == 4_096_000
    values["SC_PHYS_PAGES"] = -1
    assert budget.machine_memory() == inf
    monkeypatch.delattr(os, "sysconf")
    assert budget.machine_memory() == inf
