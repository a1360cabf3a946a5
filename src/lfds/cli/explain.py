"""The command ``lfds explain``: the atlas of a saved model."""

from pathlib import Path
from typing import Annotated

import typer

from lfds.cli.arguments import (
    Data,
    Model,
    Root,
    SkipBad,
    Target,
    check_not_in_model,
    check_output,
    print_warnings,
    read_graphs,
)
from lfds.explain.errors import ExplainError

_GRAPHS = 50


def explain(
    model: Model,
    data: Data,
    out: Annotated[Path, typer.Option("-o", "--out", help="HTML file to write.")] = Path(
        "atlas.html"
    ),
    graphs: Annotated[
        int | None, typer.Option(help="Number of graphs to show.", show_default=str(_GRAPHS))
    ] = None,
    pick: Annotated[
        list[int] | None, typer.Option(help="Which graphs to show, numbered from 0.")
    ] = None,
    figures: Annotated[
        Path | None, typer.Option(help="Folder for the figures as PNG and SVG.")
    ] = None,
    root: Root = Path("data"),
    target: Target = None,
    skip_bad: SkipBad = False,
) -> None:
    """Show on which slots the nodes of graphs land: an atlas of a model as one HTML page."""
    if graphs is not None and pick is not None:
        raise ExplainError("--graphs and --pick exclude each other; leave one out")
    if graphs is not None and graphs < 1:
        raise ExplainError(f"--graphs: needs at least 1, not {graphs}")
    from lfds.data.sources import places_of
    from lfds.estimator.persistence import load
    from lfds.explain.atlas import atlas

    check_output(out, model, places_of(data, root))
    if figures is not None:
        check_not_in_model(figures, model)
    with print_warnings():
        estimator = load(model)
        read = read_graphs(data, root, target, skip_bad)
        made = atlas(estimator, read, show=pick if pick is not None else graphs or _GRAPHS)
    made.save(out)
    shown = len(made.numbers.graphs)
    typer.echo(f"{shown:,} of {len(read):,} graphs in {out} ({out.stat().st_size / 1e6:.1f} MB)")
    if figures is not None:
        files = made.save_figures(figures)
        typer.echo(f"{len(files):,} figures in {figures}")
