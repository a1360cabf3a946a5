"""Execute the notebooks anew, and store them with their outputs: ``make notebooks``."""

import os
import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient

HERE = Path(__file__).parent


def execute(path: Path) -> nbformat.NotebookNode:
    """Run a notebook from its first cell; a cell that raises an exception ends it."""
    # tqdm, which others import, misses a package that only draws its bars; zmq warns on its log.
    os.environ["PYTHONWARNINGS"] = "ignore:IProgress"
    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(notebook, timeout=600, kernel_name="python3", record_timing=False)
    client.execute(cwd=str(path.parent))
    notebook.metadata["language_info"] = {"name": "python"}
    return notebook


def main(names: list[str]) -> None:
    """Execute the named notebooks, or all."""
    for path in sorted(HERE.glob("*.ipynb")):
        if not names or path.name in names:
            nbformat.write(execute(path), path)
            print(path.name)


if __name__ == "__main__":
    main(sys.argv[1:])
