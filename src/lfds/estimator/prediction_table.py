"""Predictions as a table: one row for each graph, and for each row of a file without one."""

from collections.abc import Iterator
from math import ceil, log10
from typing import Any

from lfds.config.spreadsheet import spreadsheet_text
from lfds.data.chunk import Chunk
from lfds.estimator.classifier import LFDSClassifier
from lfds.estimator.output_decoding import Decoder, ValueDecoder
from lfds.estimator.regressor import LFDSRegressor

Estimator = LFDSClassifier | LFDSRegressor
# Digits of single precision, and how much finer double precision is.
_SINGLE, _FINEST = 7, 1e10


def table_header(estimator: Estimator, chunk: Chunk, *, errors: bool) -> list[str]:
    """Return the names of the columns, as text.

    Args:
        estimator: Of several members there are columns with their standard deviations.
        chunk: Decides whether there are SMILES.
        errors: Whether there is a last column with the reason why a row was skipped.
    """
    return _guarded(_header(estimator, chunk, errors))


def table_rows(estimator: Estimator, chunk: Chunk, *, errors: bool) -> list[list[Any]]:
    """Return the rows of a chunk in the order of its source, as text."""
    decoder = estimator.decoder_
    outputs, std = estimator.outputs_and_std(chunk.graphs)
    spreads = ([f"{one:.6g}" for one in row] for row in _spreads(decoder, outputs, std))
    cells = ([*row, *more] for row, more in zip(_texts(decoder, outputs), spreads, strict=True))
    end = _error_column(chunk, errors, "")
    given = _given(chunk)
    rows = [
        (position, [position, *text, *row, *end])
        for position, text, row in zip(chunk.positions, given, cells, strict=True)
    ]
    nothing = [""] * len(_names(estimator))
    rows += [
        (row.position, [row.position, row.text, *row.kept, *nothing, row.reason])
        for row in chunk.skipped
    ]
    return [_guarded(row) for _, row in sorted(rows, key=lambda one: one[0])]


def table_columns(estimator: Estimator, chunk: Chunk, *, errors: bool) -> dict[str, list[Any]]:
    """Return the columns of a chunk, with numbers as they are and None where there is none."""
    decoder = estimator.decoder_
    names = _header(estimator, chunk, errors)
    given = _given(chunk)
    end = _error_column(chunk, errors, None)
    outputs, std = estimator.outputs_and_std(chunk.graphs)
    spreads = _spreads(decoder, outputs, std)
    cells = ([*row, *more] for row, more in zip(_numbers(decoder, outputs), spreads, strict=True))
    rows = [
        [position, *text, *row, *end]
        for position, text, row in zip(chunk.positions, given, cells, strict=True)
    ]
    nothing = [None] * len(_names(estimator))
    rows += [[row.position, row.text, *row.kept, *nothing, row.reason] for row in chunk.skipped]
    rows.sort(key=lambda row: row[0])
    return {name: [row[place] for row in rows] for place, name in enumerate(names)}


def _guarded(row: list[Any]) -> list[Any]:
    """Names of targets and classes, and rows that were skipped, hold whatever a file held."""
    return [spreadsheet_text(cell) if isinstance(cell, str) else cell for cell in row]


def _header(estimator: Estimator, chunk: Chunk, errors: bool) -> list[str]:
    smiles = ["smiles"] if chunk.texts else []
    own = [chunk.unit, *smiles], [*_names(estimator), *_error_column(chunk, errors, "error")]
    # A kept column may have the name of a prediction: the target itself, if it is known.
    taken = {*own[0], *own[1]}
    kept = [f"{name} (given)" if name in taken else name for name in chunk.kept_names]
    return [*own[0], *kept, *own[1]]


def _given(chunk: Chunk) -> list[list[str]]:
    """Return what is repeated from the source for each graph: its SMILES and columns to keep."""
    texts = [[text] for text in chunk.texts] or [[]] * len(chunk.positions)
    kept = chunk.kept or ((),) * len(chunk.positions)
    return [[*text, *cells] for text, cells in zip(texts, kept, strict=True)]


def _error_column(chunk: Chunk, errors: bool, cell: Any) -> list[Any]:
    return [cell] if errors and chunk.texts else []


def _names(estimator: Estimator) -> list[str]:
    decoder, several = estimator.decoder_, len(estimator.networks_) > 1
    if decoder.kind == "classes":
        return ["label", *(f"p({name})" for name in decoder.names), *(["std"] if several else [])]
    if decoder.kind == "labels":
        second, targets = decoder.names[1], list(decoder.targets)
        header = [cell for name in targets for cell in (name, f"p({name}={second})")]
    else:
        header = targets = decoder.value_names
    return [*header, *(f"std({name})" for name in targets if several)]


def _spreads(decoder: Decoder, outputs: Any, std: Any) -> list[list[float]]:
    """Return the standard deviations of each graph: of the predicted class, or of each target."""
    if std is None:
        return [[]] * len(outputs)
    if decoder.kind == "classes":
        std = std[range(len(outputs)), decoder.probabilities(outputs).argmax(axis=1)]
    found: list[list[float]] = std.reshape(len(outputs), -1).tolist()
    return found


def _texts(decoder: Decoder, outputs: Any) -> Iterator[list[Any]]:
    if decoder.kind == "classes":
        for row in decoder.probabilities(outputs):
            name = str(decoder.names[row.argmax()])
            yield [name, *(f"{probability:.6g}" for probability in row)]
        return
    if decoder.kind == "labels":
        for row in decoder.probabilities(outputs):
            yield [cell for p in row for cell in (decoder.names[int(p > 0.5)], f"{p:.6g}")]
        return
    digits = _digits(decoder)
    for row in decoder.values(outputs).reshape(-1, len(digits)):
        yield [f"{value:.{most}g}" for value, most in zip(row, digits, strict=True)]


def _numbers(decoder: Decoder, outputs: Any) -> Iterator[list[Any]]:
    if decoder.kind == "classes":
        for row in decoder.probabilities(outputs):
            yield [decoder.names[row.argmax()], *row.tolist()]
        return
    if decoder.kind == "labels":
        for row in decoder.probabilities(outputs):
            yield [cell for p in row.tolist() for cell in (decoder.names[int(p > 0.5)], p)]
        return
    yield from decoder.values(outputs).reshape(-1, decoder.outputs).tolist()


def _digits(decoder: ValueDecoder) -> list[int]:
    """Return how many digits of each target to write: seven of its spread about the mean."""
    ratios = [abs(mean) / scale for mean, scale in zip(decoder.means, decoder.scales, strict=True)]
    return [_SINGLE + ceil(log10(min(max(ratio, 1), _FINEST))) for ratio in ratios]
