"""Kernels are there where numba can be imported, and nothing breaks where it cannot."""

import subprocess
import sys

from lfds.nn import accel

# None in place of a module is how Python says that it cannot be imported.
WITHOUT = """
import sys
sys.modules["numba"] = None
import torch
from lfds.nn import accel
from lfds.nn import Edges, GraphNetwork, NetworkSettings
assert not accel.numba_installed()
edges = Edges.from_index(torch.tensor([[0, 1, 2], [1, 2, 0]]), 3)
model = GraphNetwork(2, 2, NetworkSettings(pool="loop", slots=4, width=4, head_width=4))
model(torch.randn(3, 2), torch.tensor([0, 1, 3]), edges).sum().backward()
print("trained")
"""


def test_asking_twice_gives_one_answer():
    assert accel.numba_installed() == accel.numba_installed()


def test_a_network_trains_without_numba():
    ended = subprocess.run([sys.executable, "-c", WITHOUT], capture_output=True, text=True)
    assert ended.stdout == "trained\n", ended.stderr
