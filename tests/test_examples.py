"""The examples run, and so does the code of the README."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
BLOCKS = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), flags=re.DOTALL)


def run(*arguments, cwd=None):
    command = [sys.executable, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=cwd)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("script", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_runs_and_learns(script, tmp_path):
    if "import lightning" in script.read_text():
        pytest.importorskip("lightning")
    printed = run(script, cwd=tmp_path)
    assert max(float(accuracy) for accuracy in re.findall(r"([\d.]+) ?%", printed)) > 85


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block.splitlines()[0])
def test_the_code_of_the_readme_runs(block, tmp_path):
    assert len([line for line in block.splitlines() if line.strip()]) <= 11
    shapes = "\nprint(tuple(z.shape), tuple(shares.shape))"
    assert run("-c", block + shapes, cwd=tmp_path) == "(3, 256) (10, 16)\n"  # as it says
    assert "<html" in (tmp_path / "atlas.html").read_text()


def test_the_readme_shows_layer_and_estimator():
    assert any("lfds.LFDSPool(" in block for block in BLOCKS)
    assert any("lfds.LFDSClassifier(" in block for block in BLOCKS)
