"""Mutated inputs for all readers, and the attack itself tested on broken readers."""

import sys
import tempfile
from pathlib import Path
from random import Random

import pytest

from tests.attack.__main__ import main
from tests.attack.broken import BROKEN
from tests.attack.campaign import Campaign, names_of, run
from tests.attack.mutations import MUTATIONS
from tests.attack.outcome import Outcome, unclear
from tests.attack.targets import all_targets

INPUTS = 500


def test_no_mutated_input_falls_through():
    targets = sorted(all_targets())
    found = run(names_of(targets, INPUTS, seed=0))
    print(found.table())
    assert not found.failures, f"\n{found.table()}\n{found.report()}"
    assert found.count("result") + found.count("refused") == INPUTS
    for name in targets:  # an attack that only sees one of the two tests nothing
        assert found.count("result", name) > 0, name
        # A damaged checkpoint is no error: the training begins anew.
        assert found.count("refused", name) > 0 or name == "checkpoint", name


def test_broken_readers_are_caught():
    names = ["sound/0/0", "refuses/0/0", *(f"{read.__name__}/0/0" for read in BROKEN), "sound/0/1"]
    found = run(names, "tests.attack.broken:broken_targets", cpu_seconds=1.0)
    expected = {f"{read.__name__}/0/0": kind for read, kind in BROKEN.items()}
    assert {name: outcome.kind for name, outcome in found.failures.items()} == expected
    # The worker that died was replaced.
    assert found.count("result", "sound") == 2
    assert found.count("refused") == 1


@pytest.mark.parametrize("name", ["tu-folder/0/3", "jsonl/0/5", "saved-set/0/8", "splits/0/4"])
def test_a_name_gives_the_same_input(tmp_path, name):
    which = name.partition("/")[0]
    contents = []
    for place in ("one", "two", "other"):
        (tmp_path / place).mkdir()
        all_targets()[which](Random(name + ("1" if place == "other" else "")), tmp_path / place)
        files = sorted(path for path in (tmp_path / place).rglob("*") if path.is_file())
        contents.append([path.read_bytes() for path in files])
    assert contents[0] == contents[1] != contents[2]


@pytest.mark.parametrize("mutation", sorted(set(MUTATIONS), key=lambda m: m.__name__))
def test_every_mutation_changes_something(mutation):
    content = b"1, 2\n3, 4\n5, 6\n"
    changed = [mutation(content, Random(seed)) for seed in range(20)]
    assert sum(one != content for one in changed) >= 10
    for seed in range(20):
        mutation(b"", Random(seed))


def test_a_failure_names_its_input_and_the_command_that_repeats_it():
    campaign = Campaign()
    campaign.add("jsonl/0/7", Outcome("traceback", "KeyError: 'nodes'"))
    campaign.add("jsonl/0/8", Outcome("refused"))
    assert "FAILED jsonl/0/7: traceback" in campaign.report()
    assert "python -m tests.attack replay jsonl/0/7" in campaign.report()
    assert campaign.table().splitlines() == [
        "       result  refused  traceback",
        "jsonl       0        1          1",
        "all         0        1          1",
    ]


def test_an_input_can_be_repeated_alone(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(sys, "argv", ["attack", "replay", "splits/0/0"])
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    assert main() == 0
    out = capsys.readouterr().out
    assert out.startswith("result")
    folder = Path(out.rpartition("its files are in ")[2].strip())
    assert (folder / "S_splits.json").is_file()


@pytest.mark.parametrize(
    "message", ["x" * 1001, "a\x1b[31m", "a\ud800", "a\nb", "a\u202eb", "a\u2028b"]
)
def test_unclear_messages_are_found(message):
    assert unclear(message)
    assert unclear("S.jsonl, line 3: is 'é'; write it again") is None


def test_targets_take_turns_and_costly_ones_less():
    names = names_of(["jsonl", "page"], 8, seed=3)
    assert names == [
        "jsonl/3/0", "page/3/0", "jsonl/3/1", "jsonl/3/2", "jsonl/3/3", "jsonl/3/4", "jsonl/3/5",
        "page/3/5",
    ]  # fmt: skip
