"""The command ``lfds export``."""

from pathlib import Path
from typing import Annotated

import typer

from lfds.cli.data import Root, SkipBad, SmilesColumn, flags_named
from lfds.cli.options import Model, check_output, print_warnings
from lfds.cli.predict import Reading
from lfds.data.errors import DataError


def export(
    model: Model,
    onnx: Annotated[Path, typer.Option(help="ONNX file to write.")],
    check: Annotated[
        str | None, typer.Option(help="Run the file on the graphs of this dataset and compare.")
    ] = None,
    root: Root = Path("data"),
    smiles_column: SmilesColumn = None,
    skip_bad: SkipBad = False,
) -> None:
    """Export a model as an ONNX file that runs without lfds."""
    from lfds.data.atomic_io import is_special
    from lfds.data.sources import places_of
    from lfds.estimator.onnx import check_onnx, export_onnx
    from lfds.estimator.persistence import load

    if check is not None and is_special(onnx):
        raise DataError(f"reads the file again, which {onnx} cannot be", source="--check")
    check_output(onnx, model, () if check is None else places_of(check, root))
    with print_warnings():
        estimator = load(model)
        # Before anything is written, and without targets, as predict reads them.
        with flags_named():
            reading = None if check is None else Reading(check, root, skip_bad, smiles_column)
            chunks = [] if reading is None else list(reading.stream(estimator))
        export_onnx(estimator, onnx)
        typer.echo(f"saved as {onnx}", err=is_special(onnx))
        if check is not None:
            differences = [check_onnx(estimator, onnx, chunk.graphs) for chunk in chunks]
            count = sum(len(chunk.graphs) for chunk in chunks)
            typer.echo(
                f"onnxruntime differs by {max(differences, default=0):.1e} at most on {count:,} "
                f"graphs of {check}"
            )
