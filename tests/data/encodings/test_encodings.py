import subprocess
import sys

import pytest

from lfds.config.registry import ENCODINGS
from lfds.data import encodings


@pytest.mark.parametrize("name", ENCODINGS)
def test_every_encoding_has_the_name_of_its_entry(name):
    entry = ENCODINGS[name]
    assert entry.load()().kind == name
    assert getattr(encodings, entry.class_name) is entry.load()


def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(AttributeError, match=r"it offers .*RWSE"):
        encodings.Rwse  # noqa: B018


def test_worker_processes_do_not_import_torch():
    code = "import sys, lfds.data.encodings.compute; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


MINE = """
from typing import Literal
import numpy as np
from lfds.data.encodings.base import StructuralEncoding, degrees

class Mine(StructuralEncoding):
    kind: Literal["mine"] = "mine"
    width = property(lambda self: 1)

    def encode(self, graph):
        return degrees(graph)[:, None] + 7
"""

USE = """
from lfds.config import registry
registry.ENCODINGS = {**registry.ENCODINGS, "mine": registry.Entry("mine:Mine", "mine")}

from typer.testing import CliRunner
from lfds.cli.app import app
from lfds.config.encoding import encoding_from
from lfds.data import GraphSet
from lfds.data.encodings import Encoder, EncodingSettings, Mine

graphs = GraphSet.from_arrays([2, 1], [[0, 1], [1, 0]], [0, 1])
encoder = Encoder(EncodingSettings(structure="mine")).fit(graphs)
assert encoder.settings.structure == (Mine(),) == encoding_from("mine").structure
assert encoder.transform(graphs, cache="cache").x.tolist() == [[8], [8], [7]]
again = Encoder.from_json(encoder.to_json())
assert again.transform(graphs, cache="cache").x.tolist() == [[8], [8], [7]]
command = ["compare", "--data", "parts-count-set", "--encoding", "wrong", "--out", "run"]
assert "mine" in str(CliRunner().invoke(app, command).exception)
"""


def test_a_new_encoding_needs_its_module_and_a_registry_entry_only(tmp_path):
    (tmp_path / "mine.py").write_text(MINE)
    (tmp_path / "use.py").write_text(USE)
    subprocess.run([sys.executable, "use.py"], cwd=tmp_path, check=True)
