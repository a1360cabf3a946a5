import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("triton")
ROOT = Path(__file__).parents[3]


def test_the_kernels_in_the_interpreter():
    """A process of its own: triton decides when it is imported whether it interprets."""
    command = (sys.executable, "-m", "pytest", "-q", "-x", "tests/nn/accel/interpreted.py")
    ran = subprocess.run(
        command,
        cwd=ROOT,
        env={**os.environ, "TRITON_INTERPRET": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout[-4000:] + ran.stderr[-2000:]
