"""The command ``lfds predict``: predictions as CSV, written batch by batch in constant memory."""

import csv
import sys
from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from math import ceil, log10
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lfds.cli.arguments import Data, Model, Root, SkipBad, check_output, print_warnings

if TYPE_CHECKING:
    from lfds.data.streams import Chunk
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
) -> None:
    """Predict every graph: class and probabilities (or values) as CSV."""
    from lfds.data.sources import places_of
    from lfds.data.streams import stream_source
    from lfds.estimator.persistence import load

    if out is not None:
        check_output(out, model, places_of(data, root))
    with print_warnings():
        estimator = load(model)
        pieces = stream_source(data, root, bad="skip" if skip_bad else "stop")
        count = write_predictions(estimator, pieces, out)
    if out is not None:
        typer.echo(f"predictions for {count:,} graphs in {out}", err=True)


def write_predictions(
    estimator: "LFDSClassifier | LFDSRegressor", pieces: "Iterable[Chunk]", out: Path | None
) -> int:
    """Write one row for each graph; return their number.

    A row begins with the position of the graph in its source, the number of its ``line`` or of the
    ``graph``. A class is followed by the probabilities of all classes.

    Args:
        estimator: Fitted.
        pieces: The graphs.
        out: A file that is written completely or not at all; ``None`` for standard output.
    """
    from lfds.data.atomic_io import atomic_text

    count, decoder = 0, estimator.decoder_
    with nullcontext(sys.stdout) if out is None else atomic_text(out) as file:
        table = csv.writer(file, lineterminator="\n")
        for piece in pieces:
            if count == 0:
                table.writerow([piece.unit, *_header(decoder)])
            rows = _rows(decoder, estimator.outputs(piece.graphs))
            table.writerows(
                [position, *row] for position, row in zip(piece.positions, rows, strict=True)
            )
            count += len(piece.positions)
    return count


def _header(decoder: "Decoder") -> list[str]:
    if decoder.kind == "classes":
        return ["label", *(f"p({name})" for name in decoder.names)]
    return ["amount"] if decoder.single else [f"amount{k}" for k in range(decoder.outputs)]


def _rows(decoder: "Decoder", outputs: Any) -> Iterator[list[Any]]:
    if decoder.kind == "classes":
        for row in decoder.probabilities(outputs):
            yield [decoder.names[row.argmax()], *(f"{probability:.6g}" for probability in row)]
        return
    digits = _digits(decoder)
    for row in decoder.values(outputs).reshape(-1, len(digits)):
        yield [f"{value:.{most}g}" for value, most in zip(row, digits, strict=True)]


def _digits(decoder: "ValueDecoder") -> list[int]:
    """Return how many digits of each target to write: seven of its spread about the mean."""
    ratios = [abs(mean) / scale for mean, scale in zip(decoder.means, decoder.scales, strict=True)]
    return [_SINGLE + ceil(log10(min(max(ratio, 1), _FINEST))) for ratio in ratios]
