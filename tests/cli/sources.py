"""Small datasets in the formats that commands read."""

import json

import numpy as np
import pytest

from tests.estimator.small import graphs

FAST = ["--slots", "4", "--epochs", "2", "--option", "width=8", "head_width=8"]


def lines(count=20, label="label"):
    """Lines of a .jsonl file: paths and rings in turn."""
    for k in range(count):
        ring = k % 2
        edges = [[0, 1], [1, 2], [2, 0]] if ring else [[0, 1], [1, 2]]
        graph = {"labels": [1, 2 + ring, 1], "edges": edges}
        yield json.dumps({**graph, label: "ring" if ring else "path"} if label else graph)


def write_source(folder, form):
    """Write some labelled graphs; return the name of the file or folder."""
    if form == "jsonl":
        (folder / "data.jsonl").write_text("\n".join(lines()))
        return "data.jsonl"
    if form == "csv":
        pytest.importorskip("rdkit")
        rows = "\n".join(f"{'C' * (k + 1)}{'O' if k % 2 else ''},{k % 2}" for k in range(20))
        (folder / "data.csv").write_text(f"smiles,alcohol\n{rows}\n")
        return "data.csv"
    if form == "clouds":
        for k in range(20):
            part = folder / "clouds" / ("ball", "disc")[k % 2]
            part.mkdir(parents=True, exist_ok=True)
            points = np.random.default_rng(k).normal(size=(160, 3)) * (1, 1, (k + 1) % 2)
            np.savetxt(part / f"{k}.xyz", points)
        return "clouds"
    if form == "tu":
        graphs().to_tu(folder / "drawn")
        return "drawn"
    graphs().save(folder / "set")
    return "set"
