"""The datasets that are available by name, their published statistics, and their files."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from lfds.config.messages import closest
from lfds.config.registry import READERS
from lfds.data.errors import DataError, quoted

if TYPE_CHECKING:
    from lfds.data.datasets.parts import Form, Task
    from lfds.data.graphset import GraphSet
    from lfds.data.splits import Split

COLLECTION = "https://www.chrsmrrs.com/graphkerneldatasets"


@dataclass(frozen=True)
class Published:
    """The published statistics of a dataset of the TU collection.

    Attributes:
        graphs: Number of graphs.
        classes: Number of classes.
        mean_nodes: Mean number of nodes per graph, to two digits.
        mean_edges: Mean number of undirected edges per graph, to two digits.
        about: What the graphs are.
        edge_labels: Whether edges have labels.
    """

    graphs: int
    classes: int
    mean_nodes: float
    mean_edges: float
    about: str
    edge_labels: bool = False

    @property
    def max_bytes(self) -> int:
        """More bytes than its archive can have: 10 kB of attributes per node, 100 B per edge."""
        return int(10**7 + self.graphs * (10**4 * self.mean_nodes + 200 * self.mean_edges))


TU_DATASETS: Mapping[str, Published] = {
    "AIDS": Published(
        2000, 2, 15.69, 16.20, "molecules, active against HIV or not", edge_labels=True
    ),
    "BZR": Published(405, 2, 35.75, 38.36, "benzodiazepine receptor ligands"),
    "COLLAB": Published(5000, 3, 74.49, 2457.78, "collaborations of physicists, by field"),
    "COX2": Published(467, 2, 41.22, 43.45, "cyclooxygenase-2 inhibitors"),
    "DD": Published(1178, 2, 284.32, 715.66, "proteins, enzymes or not; amino acids as nodes"),
    "DHFR": Published(756, 2, 42.43, 44.54, "dihydrofolate reductase inhibitors"),
    "ENZYMES": Published(600, 6, 32.63, 62.14, "enzymes by class; structure elements as nodes"),
    "FRANKENSTEIN": Published(4337, 2, 16.90, 17.88, "molecules, mutagenic or not, as images"),
    "IMDB-BINARY": Published(1000, 2, 19.77, 96.53, "actors who played together, by genre"),
    "IMDB-MULTI": Published(1500, 3, 13.00, 65.94, "actors who played together, by genre"),
    "MUTAG": Published(188, 2, 17.93, 19.79, "molecules, mutagenic or not", edge_labels=True),
    "Mutagenicity": Published(
        4337, 2, 30.32, 30.77, "molecules, mutagenic or not", edge_labels=True
    ),
    "NCI1": Published(4110, 2, 29.87, 32.30, "molecules, against lung cancer cells or not"),
    "NCI109": Published(4127, 2, 29.68, 32.13, "molecules, against ovarian cancer cells or not"),
    "PROTEINS": Published(1113, 2, 39.06, 72.82, "proteins, enzymes or not"),
    "PROTEINS_full": Published(1113, 2, 39.06, 72.82, "PROTEINS with all 29 attributes"),
    "PTC_MR": Published(
        344, 2, 14.29, 14.69, "molecules, carcinogenic for male rats or not", edge_labels=True
    ),
    "REDDIT-BINARY": Published(2000, 2, 429.63, 497.75, "threads, discussion or question"),
    "REDDIT-MULTI-5K": Published(4999, 5, 508.52, 594.87, "threads, by community"),
    "SYNTHETIC": Published(300, 2, 100.00, 196.00, "one graph, node values differ by class"),
    "SYNTHETICnew": Published(300, 2, 100.00, 196.25, "random graphs, perturbed by class"),
    "Synthie": Published(400, 4, 95.00, 172.93, "graphs stitched from random parts"),
}


@dataclass(frozen=True)
class BuiltIn:
    """A dataset that is generated.

    Attributes:
        graphs: Number of graphs.
        classes: Number of classes.
        about: What the graphs are.
        make: Generates it from a seed.
        folds: Splits it, given the number of folds, a seed and the validation share; ``None`` for
            stratified folds.
    """

    graphs: int
    classes: int
    about: str
    make: "Callable[[int], GraphSet]"
    folds: "Callable[[GraphSet, int, int, float], tuple[Split, ...]] | None" = None


def _pc_graphs(seed: int) -> "GraphSet":
    from lfds.data.datasets.pc_graphs.generate import PCGraphsSettings, pc_graphs

    return pc_graphs(PCGraphsSettings(seed=seed)).graphs


_TASKS: "Mapping[Task, str]" = {
    "count": "how many",
    "share": "in what proportion",
    "pairs": "which together",
}
_FORMS: "tuple[Form, ...]" = ("graph", "set")


def _parts(task: "Task", form: "Form", larger: bool) -> BuiltIn:
    def make(seed: int) -> "GraphSet":
        from lfds.data.datasets.parts import PartsSettings, parts

        return parts(PartsSettings(task=task, form=form, larger=larger, seed=seed))

    def folds(graphs: "GraphSet", folds: int, seed: int, validation: float) -> "tuple[Split, ...]":
        from lfds.data.datasets.parts import train_small_test_large

        return train_small_test_large(graphs, folds=folds, seed=seed, validation=validation)

    about = f"{form}s of parts, {_TASKS[task]}{'; tested on larger ones' if larger else ''}"
    return BuiltIn(400 if larger else 200, 2, about, make, folds if larger else None)


_PARTS = {
    f"parts-{task}-{form}{'-larger' if larger else ''}": _parts(task, form, larger)
    for task in _TASKS
    for form in _FORMS
    for larger in (False, True)
}

BUILT_IN: Mapping[str, BuiltIn] = {
    "pc-graphs": BuiltIn(4000, 8, "neighbour graphs of point clouds of eight shapes", _pc_graphs),
    **_PARTS,
}


def find_files(name: str, root: Path) -> Path | None:
    """Return the folder or file of the dataset ``name`` under ``root``, or None."""
    suffixes = [suffix for entry in READERS.values() for suffix in entry.suffixes]
    places = [root / f"{name}{suffix}" for suffix in ("", *suffixes)]
    return next((place for place in places if place.exists()), None)


def prepared_at(name: str, root: Path) -> Path:
    """Return the folder to which a prepared dataset is saved."""
    return root / f"{name}.graphs"


def where_to_put(name: str, root: Path) -> str:
    """Return which file to put where, for messages."""
    return (
        f"put {COLLECTION}/{name}.zip at {root / f'{name}.zip'}, or its files "
        f"{name}_A.txt, {name}_graph_indicator.txt, {name}_graph_labels.txt ... in {root / name}/"
    )


def not_found(name: str, root: Path) -> DataError:
    """Return the error for a dataset that is unknown, or whose files are missing."""
    if name in TU_DATASETS:
        return DataError(
            f"the files of {name} are not in {root}; {where_to_put(name, root)}, "
            f"or run `lfds data prepare {name} --download --root {root}`"
        )
    if _is_path(name):
        return DataError(f"no such file or folder{_similar(Path(name))}", source=name)
    near = closest(name, (*TU_DATASETS, *BUILT_IN))
    hint = "" if near is None else f"did you mean {near!r}? "
    return DataError(f"no dataset is called {quoted(name)}; {hint}`lfds data list` lists them all")


def _is_path(name: str) -> bool:
    """Whether a name can only be meant as a path: it has a folder, or the ending of a format."""
    suffixes = tuple(suffix for entry in READERS.values() for suffix in entry.suffixes)
    return os.sep in name or name.startswith(("~", ".")) or name.lower().endswith(suffixes)


def _similar(path: Path) -> str:
    """Return the end of a message about a missing file: one beside it with a similar name."""
    try:
        beside = [entry.name for entry in path.parent.iterdir()]
    except OSError:
        return ""
    near = closest(path.name, beside)
    return "" if near is None else f"; did you mean {quoted(path.parent / near)}?"
