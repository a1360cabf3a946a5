"""The commands ``lfds data ...``: what there is, what it is like, and how to get it."""

import sys
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn
from rich.table import Table

from lfds.data.datasets.catalog import BUILT_IN, COLLECTION, TU_DATASETS, find_files, prepared_at
from lfds.data.errors import reading

if TYPE_CHECKING:
    from lfds.data.graphset import GraphSet
    from lfds.data.readers.smiles import Bad
    from lfds.data.summary import Spread, Summary

app = typer.Typer(help="Datasets: list them, look at them, get them ready.", no_args_is_help=True)
_BARS = "▁▂▃▄▅▆▇█"
_PLAIN_BARS = ".:-=+*#@"
_LIST_COLUMNS = ("name", "graphs", "classes", "nodes", "edges", "here", "what")
Root = Annotated[Path, typer.Option(help="Folder in which datasets are kept.")]


@app.command("list")
def list_datasets(root: Root = Path("data")) -> None:
    """List the datasets known by name, and whether their files are here."""
    rows = [
        (name, str(made.graphs), str(made.classes), "", "", "built in", made.about)
        for name, made in BUILT_IN.items()
    ]
    for name, known in TU_DATASETS.items():
        with reading(root):
            here = find_files(name, root) or prepared_at(name, root).exists()
        counts = (str(known.graphs), str(known.classes))
        means = (f"{known.mean_nodes:.2f}", f"{known.mean_edges:.2f}")
        rows.append((name, *counts, *means, "yes" if here else "-", known.about))
    table = Table(box=None, pad_edge=False)
    for header, *cells in zip(_LIST_COLUMNS, *rows, strict=True):
        # Only the description may be cut where the screen is narrow.
        widest = max(map(len, [header, *cells])) if header != "what" else None
        table.add_column(header, no_wrap=True, overflow="ellipsis", min_width=widest)
    for row in rows:
        table.add_row(*row)
    console = _console()
    console.print(table)
    console.print(f"\nNodes and edges are means per graph, as published. Looked in {root}/.")


@app.command("info")
def show(
    dataset: Annotated[str, typer.Argument(help="A name of the list, or a path.")],
    root: Root = Path("data"),
    target: Annotated[str | None, typer.Option(help="Column to predict, of a .csv file.")] = None,
    skip_bad: Annotated[
        bool, typer.Option("--skip-bad", help="Leave out lines of a .csv with bad SMILES.")
    ] = False,
) -> None:
    """Show what a dataset is like, what it lacks, and whether it is as published."""
    from lfds.data.sources import open_source

    bad: Bad = "skip" if skip_bad else "stop"
    _print_summary(open_source(dataset, root, target=target, bad=bad))


@app.command("prepare")
def make_ready(
    name: Annotated[str, typer.Argument(help="A name of the list.")],
    root: Root = Path("data"),
    download: Annotated[bool, typer.Option("--download", help="Fetch what is not here.")] = False,
    source: Annotated[str, typer.Option(help="Where to fetch NAME.zip from.")] = COLLECTION,
    sha256: Annotated[str | None, typer.Option(help="What its SHA-256 must be.")] = None,
) -> None:
    """Check a dataset, fetch it if asked, and save it for quick loading."""
    from lfds.data.datasets.prepare import prepare

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
    )
    bar = Progress(*columns, console=Console(stderr=True), transient=True)
    task = bar.add_task(name, total=None)

    def show_progress(here: int, total: int | None) -> None:
        # Begun here and not before: where nothing is fetched, no bar is to be seen.
        bar.start()
        bar.update(task, completed=here, total=total)

    try:
        ready = prepare(
            name, root, download=download, source=source, sha256=sha256, progress=show_progress
        )
    finally:
        if bar.live.is_started:
            bar.stop()
    _print_summary(ready.graphs)
    if ready.differences:
        typer.echo(
            f"warning: {name} is not as published ({'; '.join(ready.differences)}); it was kept: "
            f"check where it came from",
            err=True,
        )
    if ready.sha256 is not None:
        typer.echo(f"fetched with the SHA-256 {ready.sha256}")
    typer.echo(f"saved as {ready.saved}")


def _print_summary(graphs: "GraphSet") -> None:
    from lfds.data.summary import differences, lacks, summarise

    summary = summarise(graphs)
    published = TU_DATASETS.get(graphs.name)
    different = differences(graphs, summary, published) if published else []
    lines = Table(box=None, show_header=False, pad_edge=False)
    lines.add_column(no_wrap=True)
    lines.add_column(overflow="fold")
    lines.add_row("name", graphs.name)
    lines.add_row("graphs", f"{len(graphs):,}{_note(summary.empty_graphs, 'without nodes')}")
    lines.add_row("classes", _classes(graphs, summary))
    lines.add_row("nodes", f"{graphs.num_nodes:,}{_note(summary.isolated_nodes, 'isolated')}")
    lines.add_row("edges", _edges(summary))
    lines.add_row("graph size", _spread(summary.sizes))
    lines.add_row("node degree", _spread(summary.degrees))
    lines.add_row("node labels", _labels(graphs))
    lines.add_row("attributes", f"{graphs.attributes.shape[1]} per node")
    lines.add_row(
        "edge data",
        f"labels {graphs.edge_labels.shape[1]}, attributes {graphs.edge_attributes.shape[1]}",
    )
    for missing in lacks(graphs, summary) or ["nothing"]:
        lines.add_row("missing", missing)
    if published is None:
        lines.add_row("published", "no statistics to compare with")
    for difference in different or (["matches"] if published else []):
        lines.add_row("published", difference)
    for key, value in graphs.provenance.items():
        lines.add_row(key.replace("_", " "), str(value))
    _console().print(lines, soft_wrap=True)


def _console() -> Console:
    # What a terminal has no letters for is written as its code, and does not end in a traceback.
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    # Names of sets, classes and folders are somebody's words: "[/x]" in them is no markup.
    return Console(markup=False, emoji=False, highlight=False)


def _note(count: int, what: str) -> str:
    return f", {count:,} {what}" if count else ""


def _classes(graphs: "GraphSet", summary: "Summary") -> str:
    if not graphs.has_targets:
        return "none: the graphs carry no labels"
    if not graphs.classes:
        return f"none: regression, targets {list(graphs.y.shape[1:]) or 'single'}"
    counts = ", ".join(f"{name}: {count}" for name, count in summary.class_counts.items())
    return f"{graphs.num_classes} ({counts})"


def _edges(summary: "Summary") -> str:
    return (
        f"{summary.undirected_edges:,} undirected"
        + _note(summary.one_way_edges, "in one direction only")
        + _note(summary.self_loops, "self loops")
    )


def _labels(graphs: "GraphSet") -> str:
    if not graphs.label_values:
        return "none"
    kinds = " and ".join(str(len(values)) for values in graphs.label_values)
    return f"{graphs.labels.shape[1]} per node, of {kinds} kinds"


def _spread(spread: "Spread") -> str:
    return (
        f"mean {spread.mean:.2f}, least {spread.least}, quartiles {spread.low} "
        f"{spread.median} {spread.high}, most {spread.most}\n{_bars(spread.counts)}"
    )


def _bars(counts: tuple[int, ...]) -> str:
    """Draw a histogram in one line; what is there at all is seen."""
    highest = max(counts, default=0)
    bars = _BARS if _can_be_written(_BARS) else _PLAIN_BARS
    return "".join(
        " " if count == 0 else bars[(len(bars) - 1) * count // highest] for count in counts
    )


def _can_be_written(text: str) -> bool:
    try:
        text.encode(sys.stdout.encoding or "ascii")
    except UnicodeEncodeError:
        return False
    return True
