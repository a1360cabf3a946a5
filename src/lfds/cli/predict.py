"""The command ``lfds predict``: predictions as CSV, written batch by batch in constant memory."""

import csv
import sys
from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from math import ceil, log10
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TextIO

import typer

from lfds.cli.data import Root, SkipBad, SmilesColumn, flags_named
from lfds.cli.options import (
    Data,
    Device,
    Model,
    Precision,
    check_output,
    print_warnings,
    run_on,
)
from lfds.config.messages import printable
from lfds.config.spreadsheet import spreadsheet_text

if TYPE_CHECKING:
    from lfds.data.chunk import Chunk
    from lfds.estimator.classifier import LFDSClassifier
    from lfds.estimator.output_decoding import Decoder, ValueDecoder
    from lfds.estimator.regressor import LFDSRegressor

# Digits of single precision, and how much finer double precision is.
_SINGLE, _FINEST = 7, 1e10


def predict(
    model: Model,
    data: Data,
    out: Annotated[
        Path | None, typer.Option("-o", "--out", help="CSV file; standard output by default.")
    ] = None,
    root: Root = Path("data"),
    skip_bad: SkipBad = False,
    smiles_column: SmilesColumn = None,
    device: Device = None,
    precision: Precision = None,
) -> None:
    """Predict every graph: class and probabilities (or values) as CSV.

    Rows begin with the line and the SMILES of a molecule. With --skip-bad a row that has no valid
    SMILES has no predictions, and says why at its end.
    """
    from lfds.data.sources import places_of
    from lfds.estimator.persistence import load

    if out is not None:
        check_output(out, model, places_of(data, root))
    with print_warnings():
        estimator = run_on(load(model), device, precision)
        with flags_named():
            chunks = stream_molecules(estimator, data, root, skip_bad, smiles_column)
            count = write_predictions(estimator, chunks, out, errors=skip_bad)
    if out is not None:
        typer.echo(f"predictions for {count:,} graphs in {out}", err=True)


def stream_molecules(
    estimator: "LFDSClassifier | LFDSRegressor",
    data: str,
    root: Path,
    skip_bad: bool,
    smiles: str | None = None,
) -> "Iterator[Chunk]":
    """Yield graphs in chunks; molecules are read as those that a model was fitted on."""
    from lfds.data.sources import ReadOptions, options_of, stream_source

    options: ReadOptions = {"bad": "skip" if skip_bad else "stop"}
    if smiles is not None:
        options["smiles"] = smiles
    if "fragments" in options_of(data, root):
        options["atom_features"] = estimator.molecules_.atom_features
        options["fragments"] = estimator.molecules_.fragments
    return stream_source(data, root, **options)


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
    classes.

    Args:
        estimator: Fitted.
        chunks: The graphs.
        out: A file that is written completely or not at all; ``None`` for standard output.
        errors: Whether there is a last column with the reason why a row was skipped.
    """
    from lfds.data.atomic_io import atomic_text

    count, decoder = 0, estimator.decoder_
    with nullcontext(sys.stdout) if out is None else atomic_text(out) as file:
        # A terminal would run what it takes for commands; files and pipes get what there is.
        shown = _Printable(file) if file.isatty() else file
        table = csv.writer(shown, lineterminator="\n")
        for chunk in chunks:
            header, texts = _header(decoder), bool(chunk.texts)
            errors_shown = errors and texts
            rows = _rows(decoder, estimator.outputs(chunk.graphs))  # before anything is printed
            if count == 0:
                names = [chunk.unit, *(["smiles"] if texts else []), *header]
                table.writerow([*names, *(["error"] if errors_shown else [])])
            end = [""] if errors_shown else []
            given = [[text] for text in chunk.texts] or [[]] * len(chunk.positions)
            written = [
                (position, [position, *text, *row, *end])
                for position, text, row in zip(chunk.positions, given, rows, strict=True)
            ]
            nothing = [""] * len(header)
            written += [
                (row.position, [row.position, row.text, *nothing, row.reason])
                for row in chunk.skipped
            ]
            table.writerows(row for _, row in sorted(written, key=lambda one: one[0]))
            count += len(chunk.positions)
    return count


class _Printable:
    """Escapes what is not printable."""

    def __init__(self, file: TextIO) -> None:
        self._file = file

    def write(self, row: str) -> int:
        return self._file.write(f"{printable(row[:-1])}\n")


def _header(decoder: "Decoder") -> list[str]:
    from lfds.estimator.metrics import value_names

    if decoder.kind == "classes":
        return ["label", *(f"p({name})" for name in decoder.names)]
    if decoder.kind == "labels":
        second = decoder.names[1]
        return [cell for name in decoder.targets for cell in (name, f"p({name}={second})")]
    return value_names(decoder)


def _rows(decoder: "Decoder", outputs: Any) -> Iterator[list[Any]]:
    if decoder.kind == "classes":
        for row in decoder.probabilities(outputs):
            name = spreadsheet_text(str(decoder.names[row.argmax()]))
            yield [name, *(f"{probability:.6g}" for probability in row)]
        return
    if decoder.kind == "labels":
        for row in decoder.probabilities(outputs):
            yield [cell for p in row for cell in (decoder.names[int(p > 0.5)], f"{p:.6g}")]
        return
    digits = _digits(decoder)
    for row in decoder.values(outputs).reshape(-1, len(digits)):
        yield [f"{value:.{most}g}" for value, most in zip(row, digits, strict=True)]


def _digits(decoder: "ValueDecoder") -> list[int]:
    """Return how many digits of each target to write: seven of its spread about the mean."""
    ratios = [abs(mean) / scale for mean, scale in zip(decoder.means, decoder.scales, strict=True)]
    return [_SINGLE + ceil(log10(min(max(ratio, 1), _FINEST))) for ratio in ratios]
