"""The datasets known by name: what was published about them, and where their files belong."""

import difflib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from lfds.data.datasets.parts.tasks import Form, Task
from lfds.data.errors import DataError, quoted

if TYPE_CHECKING:
    from lfds.data.graphset import GraphSet
    from lfds.data.splits import Split

COLLECTION = "https://www.chrsmrrs.com/graphkerneldatasets"


@dataclass(frozen=True)
class Published:
    """What the collection's own table says of a dataset.

    Attributes:
        graphs: How many.
        classes: How many.
        mean_nodes: Nodes per graph, to two digits.
        mean_edges: Undirected edges per graph, to two digits.
        about: What the graphs are.
    """

    graphs: int
    classes: int
    mean_nodes: float
    mean_edges: float
    about: str


TU_DATASETS: Mapping[str, Published] = {
    "AIDS": Published(2000, 2, 15.69, 16.20, "molecules, active against HIV or not"),
    "BZR": Published(405, 2, 35.75, 38.36, "benzodiazepine receptor ligands"),
    "COLLAB": Published(5000, 3, 74.49, 2457.78, "collaborations of physicists, by field"),
    "COX2": Published(467, 2, 41.22, 43.45, "cyclooxygenase-2 inhibitors"),
    "DD": Published(1178, 2, 284.32, 715.66, "proteins, enzymes or not; amino acids as nodes"),
    "DHFR": Published(756, 2, 42.43, 44.54, "dihydrofolate reductase inhibitors"),
    "ENZYMES": Published(600, 6, 32.63, 62.14, "enzymes by class; structure elements as nodes"),
    "FRANKENSTEIN": Published(4337, 2, 16.90, 17.88, "molecules, mutagenic or not, as images"),
    "IMDB-BINARY": Published(1000, 2, 19.77, 96.53, "actors who played together, by genre"),
    "IMDB-MULTI": Published(1500, 3, 13.00, 65.94, "actors who played together, by genre"),
    "MUTAG": Published(188, 2, 17.93, 19.79, "molecules, mutagenic or not"),
    "Mutagenicity": Published(4337, 2, 30.32, 30.77, "molecules, mutagenic or not"),
    "NCI1": Published(4110, 2, 29.87, 32.30, "molecules, against lung cancer cells or not"),
    "NCI109": Published(4127, 2, 29.68, 32.13, "molecules, against ovarian cancer cells or not"),
    "PROTEINS": Published(1113, 2, 39.06, 72.82, "proteins, enzymes or not"),
    "PROTEINS_full": Published(1113, 2, 39.06, 72.82, "PROTEINS with all 29 attributes"),
    "PTC_MR": Published(344, 2, 14.29, 14.69, "molecules, carcinogenic for male rats or not"),
    "REDDIT-BINARY": Published(2000, 2, 429.63, 497.75, "threads, discussion or question"),
    "REDDIT-MULTI-5K": Published(4999, 5, 508.52, 594.87, "threads, by community"),
    "SYNTHETIC": Published(300, 2, 100.00, 196.00, "one graph, node values differ by class"),
    "SYNTHETICnew": Published(300, 2, 100.00, 196.25, "random graphs, perturbed by class"),
    "Synthie": Published(400, 4, 95.00, 172.93, "graphs stitched from random parts"),
}


@dataclass(frozen=True)
class BuiltIn:
    """A dataset that is made, not read.

    Attributes:
        graphs: How many.
        classes: How many.
        about: What the graphs are.
        make: Makes it from a seed.
        folds: Deals it, where it is not to be dealt like any other set: by the number of folds, a
            seed, and the share of what is not tested that validates.
    """

    graphs: int
    classes: int
    about: str
    make: "Callable[[int], GraphSet]"
    folds: "Callable[[GraphSet, int, int, float], tuple[Split, ...]] | None" = None


def _pc_graphs(seed: int) -> "GraphSet":
    from lfds.data.datasets.pc_graphs.generate import PCGraphsSettings, pc_graphs

    return pc_graphs(PCGraphsSettings(seed=seed)).graphs


def _parts(task: "Task", form: "Form", larger: bool) -> BuiltIn:
    def make(seed: int) -> "GraphSet":
        from lfds.data.datasets.parts.objects import parts
        from lfds.data.datasets.parts.settings import PartsSettings

        return parts(PartsSettings(task=task, form=form, larger=larger, seed=seed))

    def folds(graphs: "GraphSet", folds: int, seed: int, validation: float) -> "tuple[Split, ...]":
        from lfds.data.datasets.parts.folds import train_small_test_large

        return train_small_test_large(graphs, folds=folds, seed=seed, validation=validation)

    what = {"count": "how many", "share": "in what proportion", "pairs": "which together"}[task]
    about = f"{form}s of parts, {what}{'; tested on larger ones' if larger else ''}"
    return BuiltIn(400 if larger else 200, 2, about, make, folds if larger else None)


_PARTS = {
    f"parts-{task}-{form}{'-larger' if larger else ''}": _parts(task, form, larger)
    for task in get_args(Task)
    for form in get_args(Form)
    for larger in (False, True)
}

BUILT_IN: Mapping[str, BuiltIn] = {
    "pc-graphs": BuiltIn(4000, 8, "neighbour graphs of point clouds of eight shapes", _pc_graphs),
    **_PARTS,
}


def find_files(name: str, root: Path) -> Path | None:
    """Return the folder or archive of the dataset ``name`` under ``root``, if it is there."""
    places = [root / name, *(root / f"{name}{end}" for end in (".zip", ".tar", ".tar.gz", ".tgz"))]
    return next((place for place in places if place.exists()), None)


def prepared_at(name: str, root: Path) -> Path:
    """Return the folder in which a dataset is saved once it was prepared."""
    return root / f"{name}.graphs"


def where_to_put(name: str, root: Path) -> str:
    """Return one line that says which file belongs where."""
    return (
        f"put {COLLECTION}/{name}.zip at {root / f'{name}.zip'}, or its files "
        f"{name}_A.txt, {name}_graph_indicator.txt, {name}_graph_labels.txt ... in {root / name}/"
    )


def unknown(name: str) -> DataError:
    """Return the error for a name nobody knows, with the nearest one that somebody does."""
    by_lower = {entry.lower(): entry for entry in (*TU_DATASETS, *BUILT_IN)}
    near = difflib.get_close_matches(name.lower(), by_lower, n=1, cutoff=0.5)
    hint = f"did you mean {by_lower[near[0]]}? " if near else ""
    return DataError(f"no dataset is called {quoted(name)}; {hint}`lfds data list` lists them all")
