"""Predictions as CSV, written piece by piece in the memory of one piece."""

import csv
import sys
from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from math import ceil, log10
from pathlib import Path
from typing import Any

from lfds.data.atomic_io import atomic_text
from lfds.data.streams import Chunk
from lfds.estimator.calibration import probabilities
from lfds.estimator.classifier import LFDSClassifier
from lfds.estimator.output_decoding import AmountMeaning
from lfds.estimator.regressor import LFDSRegressor

# Digits of single precision, and by how much double precision is finer.
_SINGLE, _MOST = 7, 1e10


def write_predictions(
    estimator: LFDSClassifier | LFDSRegressor, pieces: Iterable[Chunk], out: Path | None
) -> int:
    """Write one row for each graph; return how many there are.

    A row begins with where the graph stands in its source: the number of its ``line``, or of the
    ``graph``. A class is followed by the probabilities of all.

    Args:
        estimator: Fitted.
        pieces: The graphs.
        out: A file that appears whole or not at all; ``None`` for standard output.
    """
    count = 0
    with nullcontext(sys.stdout) if out is None else atomic_text(out) as file:
        table = csv.writer(file, lineterminator="\n")
        for piece in pieces:
            if count == 0:
                table.writerow([piece.unit, *_header(estimator)])
            for place, row in zip(piece.positions, _rows(estimator, piece), strict=True):
                table.writerow([place, *row])
            count += len(piece.positions)
    return count


def _header(estimator: LFDSClassifier | LFDSRegressor) -> list[str]:
    if isinstance(estimator, LFDSClassifier):
        return ["label", *(f"p({name})" for name in estimator.classes_.tolist())]
    meaning = estimator.meaning_
    assert isinstance(meaning, AmountMeaning)
    return ["amount"] if meaning.single else [f"amount{k}" for k in range(meaning.outputs)]


def _rows(estimator: LFDSClassifier | LFDSRegressor, piece: Chunk) -> Iterator[list[Any]]:
    if isinstance(estimator, LFDSRegressor):
        digits = _digits(estimator)
        for row in estimator.predict(piece.graphs).reshape(-1, len(digits)):
            yield [f"{amount:.{most}g}" for amount, most in zip(row, digits, strict=True)]
        return
    names = estimator.classes_.tolist()
    shares = probabilities(estimator.outputs(piece.graphs), estimator.temperature_)
    for best, row in zip(shares.argmax(axis=1).tolist(), shares.tolist(), strict=True):
        yield [names[best], *(f"{share:.6g}" for share in row)]


def _digits(estimator: LFDSRegressor) -> list[int]:
    """Return how many digits of each amount to write: seven of its spread about the mean."""
    meaning = estimator.meaning_
    assert isinstance(meaning, AmountMeaning)
    ratios = [abs(mean) / scale for mean, scale in zip(meaning.means, meaning.scales, strict=True)]
    return [_SINGLE + ceil(log10(min(max(ratio, 1), _MOST))) for ratio in ratios]
