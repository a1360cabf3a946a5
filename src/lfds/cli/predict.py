"""The command ``lfds predict``."""

from pathlib import Path
from typing import Annotated

import typer

from lfds.cli.arguments import (
    Data,
    Model,
    Root,
    SkipBad,
    bad_lines,
    check_output,
    warnings_on_stderr,
)


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
    from lfds.estimator.predictions_csv import write_predictions

    if out is not None:
        check_output(out, model, places_of(data, root))
    with warnings_on_stderr():
        estimator = load(model)
        pieces = stream_source(data, root, bad=bad_lines(skip_bad))
        count = write_predictions(estimator, pieces, out)
    if out is not None:
        typer.echo(f"predictions for {count:,} graphs in {out}", err=True)
