"""The commands ``lfds data list``, ``info``, ``convert`` and so on, and options that read data."""

import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from io import TextIOWrapper
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
    TransferSpeedColumn,
)
from rich.table import Table

from lfds.cli.many_values import ManyValues
from lfds.config.messages import SpecError, counted, printable
from lfds.config.registry import ENCODINGS, readable_formats, suffixes_with
from lfds.data.datasets.catalog import BUILT_IN, COLLECTION, TU_DATASETS, find_files, prepared_at
from lfds.data.errors import DataError, reading

if TYPE_CHECKING:
    from lfds.data.chunk import Chunk
    from lfds.data.graphset import GraphSet
    from lfds.data.readers.tables import Task
    from lfds.data.shards.engines import Where
    from lfds.data.sources import ReadOptions
    from lfds.data.summary import Distribution, Summary, TargetCounts

app = typer.Typer(help="List, inspect, prepare and convert datasets.", no_args_is_help=True)
_BARS = "▁▂▃▄▅▆▇█"
_ASCII_BARS = ".:-=+*#@"
_ONE_LINE = 1000
_LIST_COLUMNS = ("name", "graphs", "classes", "nodes", "edges", "here", "what")

SOURCE_HELP = f"Name of a dataset (`lfds data list`), or {readable_formats()}."
Root = Annotated[Path, typer.Option(help="Folder of the datasets.")]
Target = Annotated[
    list[str] | None,
    typer.Option(help=f"Column to predict, or several ({suffixes_with('target')} files)."),
]
SkipBad = Annotated[
    bool,
    typer.Option(
        "--skip-bad",
        help=f"Skip lines with an invalid SMILES or without target ({suffixes_with('bad')}).",
    ),
]
LargestFragment = Annotated[
    bool, typer.Option("--largest-fragment", help="Keep the largest part of salts only.")
]
SmilesColumn = Annotated[
    str | None, typer.Option(help=f"Column with SMILES ({suffixes_with('smiles')}); smiles.")
]
Workers = Annotated[
    int | None, typer.Option(help="Number of processes; with --ray, of tasks at a time.")
]
RayAddress = Annotated[
    str | None, typer.Option("--ray", help="Address of a Ray cluster, as host:port or auto.")
]
_FLAGS = {
    "target": "--target",
    "bad": "--skip-bad",
    "smiles": "--smiles-column",
    "task": "--task",
    "group": "--group-column",
    "fragments": "--largest-fragment",
    "atom_features": "--atom-features",
    "keep": "--keep",
    "workers": "--workers",
}
_ARGUMENTS = {
    "bad='skip'": "--skip-bad",
    "target=NAME": "--target NAME",
    "smiles=NAME": "--smiles-column NAME",
    "task='regression'": "--task regression",
}


def open_data(
    source: str,
    root: Path,
    target: list[str] | None = None,
    skip_bad: bool = False,
    *,
    task: "Task" = "auto",
    **others: Any,
) -> "GraphSet":
    """Return the graphs of a dataset or a path; messages name flags instead of arguments.

    Args:
        source: Name or path.
        root: Folder of the datasets.
        target: Columns to predict.
        skip_bad: Whether invalid rows are skipped.
        task: What the targets are.
        **others: Other options of the reader.
    """
    from lfds.data.sources import open_source
    from lfds.data.tasks import as_task

    with flags_named():
        options = _read_options(source, root, target, skip_bad, task, others)
        return as_task(open_source(source, root, **options), task)


def open_data_rows(
    source: str,
    root: Path,
    target: list[str] | None = None,
    skip_bad: bool = False,
    *,
    task: "Task" = "auto",
    **others: Any,
) -> "Chunk":
    """Return the graphs of :func:`open_data` with their positions, and the rows skipped."""
    from lfds.data.sources import open_rows
    from lfds.data.tasks import as_task

    with flags_named():
        options = _read_options(source, root, target, skip_bad, task, others)
        chunk = open_rows(source, root, **options)
        return replace(chunk, graphs=as_task(chunk.graphs, task))


def _read_options(
    source: str,
    root: Path,
    target: list[str] | None,
    skip_bad: bool,
    task: "Task",
    others: Mapping[str, Any],
) -> "ReadOptions":
    from lfds.data.sources import options_of

    options: ReadOptions = {**others}  # type: ignore[typeddict-item]
    if target:
        options["target"] = target[0] if len(target) == 1 else target
    options["bad"] = "skip" if skip_bad else "stop"
    if "task" in options_of(source, root):
        options["task"] = task
    return options


@contextmanager
def flags_named() -> Iterator[None]:
    """Name flags instead of arguments in messages about readers and processes."""
    try:
        yield
    except DataError as error:
        problem = error.problem
        for argument, flag in _ARGUMENTS.items():
            problem = problem.replace(argument, flag)
        source = _FLAGS.get(str(error.source), error.source)
        raise DataError(problem, source=source, line=error.line) from error
    except SpecError as error:
        if not str(error).startswith("ray: "):
            raise
        raise SpecError(f"--{error}") from error


@contextmanager
def resumable() -> Iterator[None]:
    """After a Ctrl-C, say that the same command goes on where this one ended."""
    try:
        yield
    except KeyboardInterrupt:
        typer.echo("lfds: stopped; the same command goes on where it ended", err=True)
        raise typer.Exit(130) from None


def progress_bar(*columns: ProgressColumn) -> Progress:
    """Return a progress bar on standard error that is shown on a terminal only."""
    console = Console(stderr=True)
    return Progress(*columns, console=console, transient=True, disable=not console.is_terminal)


@app.command("list")
def list_datasets(root: Root = Path("data")) -> None:
    """List the datasets that are available by name, and whether their files are here."""
    rows = [
        (name, str(made.graphs), str(made.classes), "", "", "built in", made.about)
        for name, made in BUILT_IN.items()
    ]
    for name, published in TU_DATASETS.items():
        with reading(root):
            here = find_files(name, root) or prepared_at(name, root).exists()
        counts = (str(published.graphs), str(published.classes))
        means = (f"{published.mean_nodes:.2f}", f"{published.mean_edges:.2f}")
        rows.append((name, *counts, *means, "yes" if here else "-", published.about))
    console = _console()
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = _ONE_LINE  # a line for each dataset, for programs
    *sizes, _ = (max(map(len, column)) for column in zip(_LIST_COLUMNS, *rows, strict=True))
    longest = max(len(word) for row in rows for word in row[-1].split())
    if console.width >= sum(sizes) + 2 * len(sizes) + longest:
        table = Table(*_LIST_COLUMNS, box=None, pad_edge=False)
        for column in table.columns[:-1]:
            column.no_wrap = True
        for row in rows:
            table.add_row(*row)
        console.print(table)
    else:
        for line in _narrow_list(rows, console.width):
            console.print(line, soft_wrap=True)
    note = f"Nodes and edges are published means per graph. Files are in {root}/."
    console.print(f"\n{fill(note, console.width, break_long_words=False)}", soft_wrap=True)


def _narrow_list(rows: Iterable[Sequence[str]], width: int) -> Iterator[str]:
    """Yield a paragraph for each dataset, for screens on which a table would cut words."""
    for name, *facts, about in rows:
        named = zip(_LIST_COLUMNS[1:-2], facts, strict=False)
        known = [f"{count} {what}" for what, count in named if count]
        here = {"yes": "here", "-": "not here"}.get(facts[-1], facts[-1])
        text = f"{about}: {', '.join([*known, here])}"
        yield name
        indent = " " * 2
        yield fill(
            text, width, initial_indent=indent, subsequent_indent=indent, break_long_words=False,
            break_on_hyphens=False,
        )  # fmt: skip


@app.command("info", cls=ManyValues)
def show(
    dataset: Annotated[str, typer.Argument(help=SOURCE_HELP)],
    root: Root = Path("data"),
    target: Target = None,
    skip_bad: SkipBad = False,
    smiles_column: SmilesColumn = None,
) -> None:
    """Show statistics of a dataset, what is missing, and whether it is as published."""
    from lfds.cli.options import print_warnings

    with print_warnings():
        graphs = open_data(dataset, root, target, skip_bad, smiles=smiles_column)
    _print_summary(graphs)


@app.command("convert", cls=ManyValues)
def convert_dataset(
    data: Annotated[str, typer.Argument(metavar="IN", help=SOURCE_HELP)],
    out: Annotated[Path, typer.Argument(metavar="OUT", help="Folder to write.")],
    shards: Annotated[
        bool,
        typer.Option(
            "--shards",
            help="Write a set in parts, which may be larger than memory; otherwise one set.",
        ),
    ] = False,
    graphs_per_shard: Annotated[
        int | None, typer.Option(help="Most graphs of a part; 65,536 by default.")
    ] = None,
    append: Annotated[
        bool, typer.Option("--append", help="Append to the set in parts that is in OUT.")
    ] = False,
    root: Root = Path("data"),
    target: Target = None,
    skip_bad: SkipBad = False,
    smiles_column: SmilesColumn = None,
    task: Annotated[
        str, typer.Option(help="What the targets are.", metavar="auto|classification|regression")
    ] = "auto",
    group_column: Annotated[
        str | None,
        typer.Option(help=f"Column of groups, or scaffold ({suffixes_with('group')})."),
    ] = None,
    seed: Annotated[int, typer.Option(help="Random seed of the order of nodes.")] = 0,
) -> None:
    """Convert a dataset to a saved set, or with --shards to one in parts, part by part.

    Run again after an interruption, it goes on after the last part that was written.
    """
    from lfds.cli.options import check_not_in_data, print_warnings
    from lfds.data.sources import places_of

    for flag, given in (("--graphs-per-shard", graphs_per_shard is not None), ("--append", append)):
        if given and not shards:
            raise SpecError(f"{flag}: is an option of sets in parts; add --shards")
    if graphs_per_shard is not None and graphs_per_shard < 1:
        raise SpecError(f"--graphs-per-shard: needs at least 1, not {graphs_per_shard}")
    options: dict[str, Any] = {"bad": "skip" if skip_bad else "stop", "task": task}
    if target:
        options["target"] = target[0] if len(target) == 1 else target
    named = {"smiles": smiles_column, "group": group_column}
    options |= {name: value for name, value in named.items() if value is not None}
    check_not_in_data(out, places_of(data, root))
    with print_warnings(), flags_named():
        if shards:
            _convert_to_shards(data, out, root, graphs_per_shard, append, seed, options)
        else:
            from lfds.data.sources import open_source

            graphs = open_source(data, root, **options)
            graphs.save(out)
            typer.echo(f"{counted(len(graphs), 'graph')} in {printable(str(out))}", err=True)


def _convert_to_shards(
    source: str,
    out: Path,
    root: Path,
    graphs_per_shard: int | None,
    append: bool,
    seed: int,
    options: Mapping[str, Any],
) -> None:
    from lfds.data.shards.convert import convert
    from lfds.data.shards.writer import GRAPHS_PER_PART

    columns = (SpinnerColumn(), TextColumn("{task.completed:,} graphs"), TimeElapsedColumn())
    with resumable(), progress_bar(*columns) as bar:
        shown = bar.add_task("graphs", total=None)
        graphs = convert(
            source,
            out,
            root=root,
            graphs_per_part=graphs_per_shard or GRAPHS_PER_PART,
            append=append,
            seed=seed,
            progress=lambda count: bar.advance(shown, count),
            **options,
        )
    parts = len(graphs.folder.manifest.parts)
    place = printable(str(out))
    typer.echo(f"{counted(len(graphs), 'graph')} in {counted(parts, 'part')} in {place}", err=True)


@app.command("encode", cls=ManyValues)
def encode_dataset(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder of a set in parts.")],
    encoding: Annotated[
        list[str], typer.Option(help=f"Structural encodings: {', '.join(ENCODINGS)}.")
    ],
    workers: Workers = None,
    ray: RayAddress = None,
) -> None:
    """Compute structural encodings of a set in parts, and store them beside the parts.

    Run again after an interruption, it goes on with the parts that are left.
    """
    from lfds.config.encoding import encoding_from
    from lfds.data.encodings.sharded import store_encodings
    from lfds.data.shards.sharded_set import ShardedGraphSet

    settings = encoding_from(encoding)
    where = where_from(workers, ray)
    graphs = ShardedGraphSet(folder)
    if not settings.structure:
        raise SpecError(f"--encoding: needs a structural encoding; use {', '.join(ENCODINGS)}")
    with resumable(), flags_named():
        count = store_encodings(
            graphs, settings.structure, where=where, progress=sys.stderr.isatty()
        )
    place = printable(str(folder / "encodings"))
    typer.echo(f"{count:,} encodings of parts computed; all are in {place}", err=True)


def where_from(workers: int | None, ray: str | None) -> "Where":
    """Return where parts are worked on, as --workers and --ray say."""
    from lfds.data.shards.engines import Where

    if workers is not None and workers < 1:
        raise SpecError(f"--workers: needs at least 1, not {workers}")
    return Where(workers=workers or (0 if ray else 1), ray=ray)


@app.command("prepare")
def prepare_dataset(
    name: Annotated[str, typer.Argument(help="Name of a dataset (`lfds data list`).")],
    root: Root = Path("data"),
    download: Annotated[bool, typer.Option("--download", help="Download missing files.")] = False,
    source: Annotated[str, typer.Option(help="Address of the folder with NAME.zip.")] = COLLECTION,
    sha256: Annotated[str | None, typer.Option(help="Expected SHA-256 of NAME.zip.")] = None,
) -> None:
    """Check a dataset, download it if needed, and save it for fast loading."""
    from lfds.data.datasets.prepare import prepare

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
    )
    bar = progress_bar(*columns)
    task = bar.add_task(name, total=None)

    def show_progress(received: int, total: int | None) -> None:
        # Started here: there is no bar without a download.
        bar.start()
        bar.update(task, completed=received, total=total)

    try:
        with resumable():
            prepared = prepare(
                name, root, download=download, source=source, sha256=sha256, progress=show_progress
            )
    finally:
        if bar.live.is_started:
            bar.stop()
    _print_summary(prepared.graphs)
    if prepared.differences:
        typer.echo(
            f"warning: {name} is not as published ({'; '.join(prepared.differences)}); "
            f"check its files",
            err=True,
        )
    if prepared.sha256 is not None:
        typer.echo(f"downloaded with the SHA-256 {prepared.sha256}")
    typer.echo(f"saved as {printable(str(prepared.saved))}")


def _print_summary(graphs: "GraphSet") -> None:
    from lfds.data.summary import differences, missing, summarize

    summary = summarize(graphs)
    published = TU_DATASETS.get(graphs.name)
    lines = Table(box=None, show_header=False, pad_edge=False)
    lines.add_column(no_wrap=True)
    lines.add_column(overflow="fold")
    lines.add_row("name", printable(graphs.name))
    lines.add_row("graphs", f"{len(graphs):,}{_note(summary.empty_graphs, 'without nodes')}")
    lines.add_row("classes", _classes(graphs, summary))
    for target in summary.targets:
        lines.add_row("target", _target(target))
    lines.add_row("nodes", f"{graphs.num_nodes:,}{_note(summary.isolated_nodes, 'isolated')}")
    lines.add_row("edges", _edges(summary))
    lines.add_row("graph size", _distribution(summary.sizes))
    lines.add_row("node degree", _distribution(summary.degrees))
    lines.add_row("node labels", _labels(graphs))
    lines.add_row("attributes", f"{graphs.width('attributes')} per node")
    lines.add_row(
        "edge data",
        f"labels {graphs.width('edge_labels')}, attributes {graphs.width('edge_attributes')}",
    )
    for phrase in missing(graphs, summary) or ["nothing"]:
        lines.add_row("missing", phrase)
    if published is None:
        lines.add_row("published", "no statistics to compare with")
    else:
        for difference in differences(graphs, summary, published) or ["matches"]:
            lines.add_row("published", difference)
    for key, value in graphs.provenance.items():
        lines.add_row(printable(key.replace("_", " ")), printable(str(value)))
    _console().print(lines, soft_wrap=True)


def _console() -> Console:
    # Characters that the terminal cannot show are escaped instead of raising an error.
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    # Names of sets, classes and folders are not markup.
    return Console(markup=False, emoji=False, highlight=False)


def _note(count: int, what: str) -> str:
    return f", {count:,} {what}" if count else ""


def _classes(graphs: "GraphSet", summary: "Summary") -> str:
    if not graphs.has_targets:
        return "none: no targets"
    if not graphs.classes:
        return f"none: regression, targets {list(graphs.y.shape[1:]) or 'single'}"
    if summary.targets:
        names = ", ".join(map(str, graphs.classes))
        return (
            f"{graphs.num_classes} ({printable(names)}) of each of {len(summary.targets)} targets"
        )
    return f"{graphs.num_classes} ({_counts(summary.class_counts)})"


def _target(target: "TargetCounts") -> str:
    counts = f" ({_counts(target.class_counts)})" if target.class_counts else ""
    return f"{printable(target.name)}{counts}, {target.missing:,} missing"


def _counts(counts: Mapping[str | int, int]) -> str:
    return printable(", ".join(f"{name}: {count}" for name, count in counts.items()))


def _edges(summary: "Summary") -> str:
    return (
        f"{summary.undirected_edges:,} undirected"
        + _note(summary.one_way_edges, "in one direction only")
        + _note(summary.self_loops, "self loops")
    )


def _labels(graphs: "GraphSet") -> str:
    if not graphs.label_values:
        return "none"
    values = " and ".join(str(len(values)) for values in graphs.label_values)
    return f"{graphs.width('labels')} per node, with {values} values"


def _distribution(found: "Distribution") -> str:
    return (
        f"mean {found.mean:.2f}, min {found.minimum}, quartiles {found.lower_quartile} "
        f"{found.median} {found.upper_quartile}, max {found.maximum}\n{_bars(found.histogram)}"
    )


def _bars(counts: tuple[int, ...]) -> str:
    """Draw a histogram in one line; only empty bins are blank."""
    highest = max(counts, default=0)
    bars = _BARS if _is_printable(_BARS) else _ASCII_BARS
    return "".join(
        " " if count == 0 else bars[(len(bars) - 1) * count // highest] for count in counts
    )


def _is_printable(text: str) -> bool:
    try:
        text.encode(sys.stdout.encoding or "ascii")
    except UnicodeEncodeError:
        return False
    return True
