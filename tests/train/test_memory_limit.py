import os
from math import inf

import pytest
import torch

from lfds.config.errors import SpecError
from lfds.nn import POOLINGS, GraphNetwork, NetworkSettings
from lfds.train import memory_limit as room
from lfds.train.memory_limit import (
    build_network,
    check_room,
    least_learned,
    machine_memory,
    room_told,
)

GIGA = 10**9


def settings(pool="loop", **others):
    return NetworkSettings(pool=pool, **others)


@pytest.fixture
def small_machine(monkeypatch):
    monkeypatch.setattr(room, "machine_memory", lambda: 8.0 * GIGA)


def learned(asked):
    with torch.device("meta"):  # shapes without memory
        network = GraphNetwork(1, 1, asked)
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
def test_no_network_learns_less_than_is_said(pool):
    for sizes in SIZES:
        asked = settings(pool, **sizes)
        assert least_learned(asked) <= learned(asked)


@pytest.mark.parametrize("anchors", ["generated", "mixture"])
@pytest.mark.parametrize("sizes", [{}, {"width": 4}, {"slots": 400}])
def test_no_network_with_other_anchors_does_either(anchors, sizes):
    asked = settings(anchors=anchors, **sizes)
    assert least_learned(asked) <= learned(asked)


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
def test_where_one_size_counts_little_more_is_learned_than_is_said(pool, sizes):
    asked = settings(pool, **sizes)
    assert least_learned(asked) > learned(asked) / 4


@pytest.mark.usefixtures("small_machine")
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
def test_a_size_without_room_is_named_with_the_way_out(pool, name, size):
    with pytest.raises(SpecError) as caught:
        check_room(settings(pool, **{name: size}))
    said = str(caught.value)
    assert said.startswith(f"{name}: {size} makes a network that takes at least ")
    assert said.endswith(" GB to train, and this machine has 8 GB; choose a smaller one")
    assert "\n" not in said


@pytest.mark.usefixtures("small_machine")
def test_of_two_sizes_the_one_that_asks_for_more_is_named():
    with pytest.raises(SpecError, match=r"^head_width: 50000 .* at least 46 GB"):
        check_room(settings(width=5_000, head_width=50_000))


def test_what_has_room_is_built(monkeypatch):
    need = room.BYTES * least_learned(settings())
    monkeypatch.setattr(room, "machine_memory", lambda: float(need))
    assert isinstance(build_network(3, 2, settings()), GraphNetwork)
    monkeypatch.setattr(room, "machine_memory", lambda: float(need - 1))
    with pytest.raises(SpecError, match="choose a smaller one"):
        build_network(3, 2, settings())


def test_what_torch_cannot_allocate_is_said_in_our_words(monkeypatch):
    monkeypatch.setattr(room, "machine_memory", lambda: inf)
    with pytest.raises(SpecError) as caught:
        build_network(3, 2, settings(slots=10**12))
    assert str(caught.value) == (
        "memory ran out for a network of loop with width 64, head_width 64, slots 1000000000000; "
        "lower one of them"
    )


def test_batches_are_named_where_they_count():
    lower = "slots 16, batch_size 32; lower one"
    with pytest.raises(SpecError, match=lower), room_told(settings(), 32):
        torch.empty(2**60)
    with pytest.raises(SpecError, match="memory ran out"), room_told(settings(), 32):
        raise MemoryError


def test_other_errors_stay_what_they_are():
    with pytest.raises(RuntimeError, match="on purpose"), room_told(settings()):
        raise RuntimeError("on purpose")


def test_memory_is_that_of_the_machine(monkeypatch):
    told = {"SC_PHYS_PAGES": 1000, "SC_PAGE_SIZE": 4096}
    monkeypatch.setattr(os, "sysconf", told.__getitem__)
    assert machine_memory() == 4_096_000
    told["SC_PHYS_PAGES"] = -1
    assert machine_memory() == inf
    monkeypatch.delattr(os, "sysconf")
    assert machine_memory() == inf
