"""A GraphSet written as a dataset of the TU collection."""

from os import PathLike
from pathlib import Path

import torch
from torch import Tensor

from lfds.data.atomic_io import whole_folder
from lfds.data.errors import DataError, quoted
from lfds.data.graphset import GraphSet
from lfds.data.readers.arrays import label_values
from lfds.data.readers.tu_files import ENDINGS
from lfds.data.readers.tu_names import Names, write_names

# Nine significant digits tell any two numbers of single precision apart.
_AMOUNT = "%.9g"
_ROWS_AT_A_TIME = 100_000


def write_tu(graphs: GraphSet, folder: str | PathLike[str]) -> None:
    """Write ``graphs`` to ``folder`` in the format of the TU collection, whole or not at all.

    The files are named after the set. Encoded features ``x`` are not part of the format and stay
    behind. Class names that are not whole numbers, and classes or labels that no graph here has,
    go to ``NAME_names.json``, which other readers ignore. A table without rows loses its width.
    """
    name = graphs.name
    if not name or Path(name).name != name or "\0" in name:
        raise DataError(f"files cannot be named after a set called {quoted(name)}", source="name")
    if not graphs.has_targets:
        raise DataError("the graphs carry no labels, and the format needs some", source="y")
    names = _names_beyond_the_files(graphs)
    files = {name + ending for ending in ENDINGS.values()}
    with whole_folder(Path(folder), ours=files.__contains__) as home:
        for part, table in _tables(graphs, positions=names is not None).items():
            _write_table(home / f"{name}_{part}.txt", table)
        if names is not None:
            (home / f"{name}_names.json").write_text(write_names(names), encoding="utf-8")


def _names_beyond_the_files(graphs: GraphSet) -> Names | None:
    """Return what reading the text files alone would not bring back, if anything."""
    present = graphs.y.bincount().count_nonzero() if graphs.classes else 0
    numbers = [name for name in graphs.classes if isinstance(name, int)]
    plain_classes = present == len(numbers) == graphs.num_classes and numbers == sorted(numbers)
    if plain_classes and graphs.label_values == label_values(graphs.labels.numpy()):
        return None
    return Names(graphs.classes, graphs.label_values)


def _tables(graphs: GraphSet, *, positions: bool) -> dict[str, Tensor]:
    first = graphs.ptr[:-1]
    receiver = torch.repeat_interleave(graphs.degrees)
    graph_of_node = torch.repeat_interleave(graphs.sizes)
    sender = graphs.edge_dst + first[graph_of_node[receiver]]
    tables = {
        "A": torch.stack([sender, receiver], dim=1) + 1,
        "graph_indicator": graph_of_node[:, None] + 1,
        "node_labels": graphs.labels,
        "node_attributes": graphs.attributes,
        "edge_labels": graphs.edge_labels,
        "edge_attributes": graphs.edge_attributes,
    }
    if graphs.classes:
        numbers = [n for n in graphs.classes if isinstance(n, int)]
        tables["graph_labels"] = (graphs.y if positions else torch.tensor(numbers)[graphs.y])[
            :, None
        ]
    else:
        tables["graph_attributes"] = graphs.y.reshape(len(graphs), -1)
    return {part: table for part, table in tables.items() if table.shape[1]}


def _write_table(path: Path, table: Tensor) -> None:
    cell = _AMOUNT if table.is_floating_point() else "%d"
    row = ", ".join([cell] * table.shape[1]) + "\n"
    with path.open("w", encoding="ascii") as file:
        for some in torch.split(table, _ROWS_AT_A_TIME):
            # One format for many rows: several times faster than numpy's row by row.
            file.write(row * len(some) % tuple(some.flatten().tolist()))
