import pkgutil
import subprocess
import sys

import pytest

import lfds.config
from lfds.config.registry import (
    BASELINES,
    CONTROLS,
    ENCODINGS,
    LFDS,
    POOLINGS,
    STRUCTURES,
    TGP,
    entry_of,
    expand_encodings,
    is_latent,
    structures_in,
)


@pytest.mark.parametrize(
    "entry",
    [*STRUCTURES.values(), *CONTROLS.values(), *BASELINES.values(), *ENCODINGS.values(), LFDS, TGP],
    ids=lambda entry: entry.class_name,
)
def test_every_entry_loads_its_class(entry):
    assert entry.load().__name__ == entry.class_name
    assert entry.summary


def test_names_are_unique_and_fixed():
    assert {*STRUCTURES, *CONTROLS, *BASELINES} == set(POOLINGS)
    assert len(POOLINGS) == len(STRUCTURES) + len(CONTROLS) + len(BASELINES)
    for registry in (STRUCTURES, CONTROLS, BASELINES, POOLINGS, ENCODINGS):
        with pytest.raises(TypeError):
            registry["new"] = LFDS


def test_encodings_are_registered_under_their_kind():
    assert {name: entry.load()().kind for name, entry in ENCODINGS.items()} == {
        name: name for name in ENCODINGS
    }


def test_an_image_needs_a_square_number_of_slots_and_a_loop_does_not():
    assert STRUCTURES["image"].square
    assert not STRUCTURES["loop"].square


@pytest.mark.parametrize(
    ("pool", "structures", "entry"),
    [
        ("loop", ("loop",), LFDS),
        ("loop+image", ("loop", "image"), LFDS),
        ("max", (), BASELINES["max"]),
        ("max+mean", (), BASELINES["max+mean"]),
        ("tgp:topk", (), TGP),
    ],
)
def test_structures_of_a_pooling(pool, structures, entry):
    assert structures_in(pool) == structures
    assert is_latent(pool) == bool(structures)
    assert entry_of(pool) is entry


def test_none_stands_for_no_encoding():
    assert expand_encodings(["none"]) == ()
    assert expand_encodings(["rwse", "none", "degree"]) == ("rwse", "degree")


def test_settings_and_names_need_no_torch():
    modules = [f"lfds.config.{one.name}" for one in pkgutil.iter_modules(lfds.config.__path__)]
    assert "lfds.config.registry" in modules
    code = f"import sys, {', '.join(modules)}; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
