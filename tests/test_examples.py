"""Every example runs, and the README's lines do."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


@pytest.mark.parametrize("script", EXAMPLES, ids=lambda path: path.stem)
def test_example_runs(script):
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()


def readme(number):
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), flags=re.DOTALL)
    lines = [line for line in blocks[number].splitlines() if line.strip()]
    assert len(lines) <= 11
    return blocks[number]


def test_the_lines_of_the_readme_on_the_layer_run():
    done = subprocess.run(
        [sys.executable, "-c", readme(0)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "LFDSPool(64 -> 128, Loop(64 slots)" in done.stdout


def test_the_lines_of_the_readme_on_own_graphs_run(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", readme(1)],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "model" / "weights.safetensors").exists()
    assert "<html" in (tmp_path / "atlas.html").read_text()
