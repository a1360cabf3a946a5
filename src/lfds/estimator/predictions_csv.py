"""Predictions as CSV, written batch by batch in constant memory."""

import csv
import sys
from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from math import ceil, log10
from pathlib import Path
from typing import Any

from lfds.data.atomic_io import whole_text
from lfds.data.streams import Piece
from lfds.estimator.classifier import LFDSClassifier
from lfds.estimator.output_decoding import ValueDecoder
from lfds.estimator.regressor import LFDSRegressor

# Digits of single precision, and how much finer double precision is.
_SINGLE, _FINEST = 7, 1e10


def write_predictions(
    estimator: LFDSClassifier | LFDSRegressor, pieces: Iterable[Piece], out: Path | None
) -> int:
    """Write one row for each graph; return their number.

    A row begins with the position of the graph in its source, the number of its ``line`` or of the
    ``graph``. A class is followed by the probabilities of all classes.

    Args:
        estimator: Fitted.
        pieces: The graphs.
        out: A file that is written completely or not at all; ``None`` for standard output.
    """
    count = 0
    with nullcontext(sys.stdout) if out is None else whole_text(out) as file:
        table = csv.writer(file, lineterminator="\n")
        for piece in pieces:
            if count == 0:
                table.writerow([piece.counted, *_header(estimator)])
            for place, row in zip(piece.places, _rows(estimator, piece), strict=True):
                table.writerow([place, *row])
            count += len(piece.places)
    return count


def _header(estimator: LFDSClassifier | LFDSRegressor) -> list[str]:
    if isinstance(estimator, LFDSClassifier):
        return ["label", *(f"p({name})" for name in estimator.classes_.tolist())]
    decoder = estimator.decoder_
    return ["amount"] if decoder.single else [f"amount{k}" for k in range(decoder.outputs)]


def _rows(estimator: LFDSClassifier | LFDSRegressor, piece: Piece) -> Iterator[list[Any]]:
    if isinstance(estimator, LFDSRegressor):
        digits = _digits(estimator.decoder_)
        for row in estimator.predict(piece.graphs).reshape(-1, len(digits)):
            yield [f"{value:.{most}g}" for value, most in zip(row, digits, strict=True)]
        return
    names = estimator.classes_.tolist()
    probabilities = estimator.predict_proba(piece.graphs)
    best = probabilities.argmax(axis=1).tolist()
    for number, row in zip(best, probabilities.tolist(), strict=True):
        yield [names[number], *(f"{probability:.6g}" for probability in row)]


def _digits(decoder: ValueDecoder) -> list[int]:
    """Return how many digits of each target to write: seven of its spread about the mean."""
    ratios = [abs(mean) / scale for mean, scale in zip(decoder.means, decoder.scales, strict=True)]
    return [_SINGLE + ceil(log10(min(max(ratio, 1), _FINEST))) for ratio in ratios]
