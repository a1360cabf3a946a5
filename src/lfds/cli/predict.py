"""The command ``lfds predict``: predictions as CSV, written batch by batch in constant memory."""

import csv
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TextIO

import typer
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn

from lfds.cli.data import (
    RayAddress,
    Root,
    SkipBad,
    SmilesColumn,
    Workers,
    flags_named,
    progress_bar,
    resumable,
    where_from,
)
from lfds.cli.model_data import column_of_smiles
from lfds.cli.options import (
    Data,
    Device,
    Model,
    Precision,
    check_not_in_data,
    check_not_in_model,
    check_output,
    print_warnings,
    run_on,
)
from lfds.config.messages import SpecError, choose_from, counted, printable
from lfds.config.registry import suffixes_with

if TYPE_CHECKING:
    from lfds.data.chunk import Chunk
    from lfds.data.shards.engines import Where
    from lfds.data.shards.sharded_set import ShardedGraphSet
    from lfds.estimator.classifier import LFDSClassifier
    from lfds.estimator.regressor import LFDSRegressor


def predict(
    model: Model,
    data: Data,
    out: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--out",
            help="CSV file; standard output by default. With --workers, --ray or --format, a "
            "folder of parts.",
        ),
    ] = None,
    root: Root = Path("data"),
    skip_bad: SkipBad = False,
    smiles_column: SmilesColumn = None,
    keep: Annotated[
        list[str] | None,
        typer.Option(help=f"Columns to copy, as an id ({suffixes_with('keep')})."),
    ] = None,
    device: Device = None,
    precision: Precision = None,
    workers: Workers = None,
    ray: RayAddress = None,
    file_format: Annotated[
        str | None, typer.Option("--format", help="Of parts; csv.", metavar="csv|parquet")
    ] = None,
) -> None:
    """Predict every graph: class and probabilities (or values) as CSV.

    Rows begin with the line and the SMILES of a molecule, and the columns of --keep. With
    --skip-bad a row that has no valid SMILES has no predictions, and says why at its end. Of a
    model with several members, std is the standard deviation of their probabilities of the
    predicted class, or of their values.

    With --workers, --ray or --format the predictions are parts in a folder, in the same order;
    run again after an interruption, it goes on with the parts that are left.
    """
    if workers is not None or ray is not None or file_format is not None:
        where = where_from(workers, ray)
        reading = Reading(data, root, skip_bad, smiles_column, tuple(keep or ()))
        parts = _Parts(model, out, reading, where, file_format)
        parts.write(device, precision)
        return
    from lfds.data.sources import places_of
    from lfds.estimator.persistence import load

    if out is not None:
        check_output(out, model, places_of(data, root))
    with print_warnings():
        estimator = run_on(load(model), device, precision)
        with flags_named():
            reading = Reading(data, root, skip_bad, smiles_column, tuple(keep or ()))
            chunks = reading.stream(estimator)
            count = write_predictions(estimator, chunks, out, errors=skip_bad)
    if out is not None:
        typer.echo(f"predictions for {counted(count, 'graph')} in {printable(str(out))}", err=True)


@dataclass(frozen=True)
class Reading:
    """How graphs are read.

    Attributes:
        data: Name or path.
        root: Folder of the datasets.
        skip_bad: Whether invalid rows are skipped.
        smiles: Column with SMILES.
        keep: Columns to copy.
    """

    data: str
    root: Path
    skip_bad: bool
    smiles: str | None = None
    keep: tuple[str, ...] = ()

    def stream(self, estimator: "LFDSClassifier | LFDSRegressor") -> "Iterator[Chunk]":
        """Yield graphs in chunks; molecules are read as those that a model was fitted on."""
        from lfds.data.sources import ReadOptions, options_of, stream_source

        options: ReadOptions = {"bad": "skip" if self.skip_bad else "stop"}
        column = column_of_smiles(estimator, self.data, self.root, self.smiles)
        if column is not None:
            options["smiles"] = column
        if self.keep:
            options["keep"] = self.keep
        if "fragments" in options_of(self.data, self.root):
            options["atom_features"] = estimator.molecules_.atom_features
            options["fragments"] = estimator.molecules_.fragments
        return stream_source(self.data, self.root, **options)

    @property
    def named(self) -> dict[str, object]:
        """What decides how graphs are read, beside model and data."""
        kept = {"keep": self.keep} if self.keep else {}
        return {"skip_bad": self.skip_bad, "smiles": self.smiles, **kept}


@dataclass(frozen=True)
class _Parts:
    """Predictions as a folder of parts."""

    model: Path
    out: Path | None
    reading: Reading
    where: "Where"
    file_format: str | None

    def write(self, device: str | None, precision: str | None) -> None:
        from lfds.data.sources import is_path, places_of
        from lfds.estimator.persistence import load
        from lfds.estimator.prediction_parts import (
            PredictionSettings,
            data_fingerprint,
            model_fingerprint,
            predict_parts,
        )

        if self.out is None:
            raise SpecError("--out: parts need a folder; name a new one")
        chosen = self.file_format or "csv"
        if chosen not in ("csv", "parquet"):
            way = choose_from(chosen, ["csv", "parquet"])
            raise SpecError(f"--format: no format is called {chosen!r}; {way}")
        source, root = self.reading.data, self.reading.root
        check_not_in_model(self.out, self.model)
        check_not_in_data(self.out, places_of(source, root))
        with print_warnings(), flags_named():
            estimator = run_on(load(self.model), device, precision)
            opened = _sharded(source) if is_path(source) else None
            settings = PredictionSettings(
                model=model_fingerprint(self.model),
                data=data_fingerprint(source, root, self.reading.named)
                if opened is None
                else opened.fingerprint,
                file_format="parquet" if chosen == "parquet" else "csv",
                errors=self.reading.skip_bad,
                device=device,
                precision=precision,
            )
            graphs: ShardedGraphSet | Iterator[Chunk]
            graphs = _checked(estimator, opened or self.reading.stream(estimator))
            with resumable(), _bar(None if opened is None else len(opened)) as advance:
                count = predict_parts(
                    self.model, graphs, self.out, settings, where=self.where, progress=advance
                )
        typer.echo(
            f"predictions for {counted(count, 'graph')} in {printable(str(self.out))}", err=True
        )


def _checked(
    estimator: "LFDSClassifier | LFDSRegressor", graphs: "ShardedGraphSet | Iterator[Chunk]"
) -> "ShardedGraphSet | Iterator[Chunk]":
    """Return graphs whose first ones fit the model: before a folder is made for predictions."""
    from lfds.data.shards.sharded_set import ShardedGraphSet

    if isinstance(graphs, ShardedGraphSet):
        estimator.outputs(graphs[:1])
        return graphs
    first = next(graphs)
    estimator.outputs(first.graphs[:1])
    return chain([first], graphs)


def _sharded(data: str) -> "ShardedGraphSet | None":
    from lfds.data.shards.manifest import is_sharded
    from lfds.data.shards.sharded_set import ShardedGraphSet

    return ShardedGraphSet(data) if is_sharded(data) else None


@contextmanager
def _bar(total: int | None) -> Iterator[Callable[[int], None]]:
    columns = (TextColumn("graphs"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with progress_bar(*columns) as bar:
        shown = bar.add_task("graphs", total=total)
        yield lambda count: bar.advance(shown, count)


def write_predictions(
    estimator: "LFDSClassifier | LFDSRegressor",
    chunks: "Iterable[Chunk]",
    out: Path | None,
    *,
    errors: bool = False,
) -> int:
    """Write one row for each graph; return their number.

    A row begins with the position of the graph in its source, the number of its ``line`` or of the
    ``graph``, and with its SMILES if it has one. A class is followed by the probabilities of all
    classes, and the predictions of several members by their standard deviations.

    Args:
        estimator: Fitted.
        chunks: The graphs.
        out: A file that is written completely or not at all; ``None`` for standard output.
        errors: Whether there is a last column with the reason why a row was skipped.
    """
    from lfds.data.atomic_io import atomic_text
    from lfds.estimator.prediction_table import table_header, table_rows

    count = 0
    with nullcontext(sys.stdout) if out is None else atomic_text(out) as file:
        # A terminal would run what it takes for commands; files and pipes get what there is.
        shown = _Printable(file) if file.isatty() else file
        table = csv.writer(shown, lineterminator="\n")
        for chunk in chunks:
            rows = table_rows(estimator, chunk, errors=errors)  # before anything is printed
            if count == 0:
                table.writerow(table_header(estimator, chunk, errors=errors))
            table.writerows(rows)
            count += len(chunk.positions)
    return count


class _Printable:
    """Escapes what is not printable."""

    def __init__(self, file: TextIO) -> None:
        self._file = file

    def write(self, row: str) -> int:
        return self._file.write(f"{printable(row[:-1])}\n")
