"""The commands ``lfds data ...``: what there is, what it is like, and how to get it."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn
from rich.table import Table

from lfds.data.catalog import BUILT_IN, COLLECTION, TU_DATASETS, find_files

if TYPE_CHECKING:
    from lfds.data.graphset import GraphSet
    from lfds.data.summary import Spread, Summary

app = typer.Typer(help="Datasets: list them, look at them, get them ready.", no_args_is_help=True)
Root = Annotated[Path, typer.Option(help="Folder in which datasets are kept.")]


@app.command("list")
def list_datasets(root: Root = Path("data")) -> None:
    """List the datasets known by name, and whether their files are here."""
    table = Table("name", "graphs", "classes", "nodes", "edges", "here", "what", box=None)
    for name, entry in BUILT_IN.items():
        table.add_row(name, str(entry.graphs), str(entry.classes), "", "", "built in", entry.about)
    for name, known in TU_DATASETS.items():
        table.add_row(
            name,
            str(known.graphs),
            str(known.classes),
            f"{known.mean_nodes:.2f}",
            f"{known.mean_edges:.2f}",
            "yes" if find_files(name, root) else "-",
            known.about,
        )
    console = Console()
    console.print(table)
    console.print(f"\nNodes and edges are means per graph, as published. Looked in {root}/.")
