"""The command ``lfds export``."""

from pathlib import Path
from typing import Annotated

import typer

from lfds.cli.arguments import Model, Root, SkipBad, check_output, print_warnings


def export(
    model: Model,
    onnx: Annotated[Path, typer.Option(help="ONNX file to write.")],
    check: Annotated[
        str | None, typer.Option(help="Run the file on the graphs of this dataset and compare.")
    ] = None,
    root: Root = Path("data"),
    skip_bad: SkipBad = False,
) -> None:
    """Export a model as an ONNX file that runs without lfds."""
    from lfds.data.readers.smiles import Bad
    from lfds.data.sources import places_of
    from lfds.data.streams import stream_source
    from lfds.estimator.onnx import check_onnx, export_onnx
    from lfds.estimator.persistence import load

    bad: Bad = "skip" if skip_bad else "stop"
    check_output(onnx, model, () if check is None else places_of(check, root))
    with print_warnings():
        estimator = load(model)
        # Before anything is written, and without targets, as predict reads them.
        pieces = [] if check is None else list(stream_source(check, root, bad=bad))
        export_onnx(estimator, onnx)
        typer.echo(f"saved as {onnx}")
        if check is not None:
            differences = [check_onnx(estimator, onnx, piece.graphs) for piece in pieces]
            count = sum(len(piece.graphs) for piece in pieces)
            typer.echo(
                f"onnxruntime differs by {max(differences, default=0):.1e} at most on {count:,} "
                f"graphs of {check}"
            )
