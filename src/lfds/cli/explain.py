"""The command ``lfds explain``: the atlas of a saved model."""

from pathlib import Path
from typing import Annotated

import typer

from lfds.cli.estimator import Data, Model, Root, SkipBad, Target
from lfds.explain.errors import ExplainError

_GRAPHS = 50


def explain(
    model: Model,
    data: Data,
    out: Annotated[Path, typer.Option("-o", "--out", help="HTML file to be written.")] = Path(
        "atlas.html"
    ),
    graphs: Annotated[
        int | None, typer.Option(help=f"How many graphs to show, {_GRAPHS} if not told.")
    ] = None,
    pick: Annotated[list[int] | None, typer.Option(help="Which graphs to show, from 0.")] = None,
    figures: Annotated[
        Path | None, typer.Option(help="Folder for the figures as PNG and SVG.")
    ] = None,
    root: Root = Path("data"),
    target: Target = None,
    skip_bad: SkipBad = False,
) -> None:
    """Draw where the nodes of graphs land on the structure of a model: one HTML page."""
    if graphs is not None and pick is not None:
        raise ExplainError("--graphs says how many and --pick which; give one of them")
    from lfds.data.sources import open_source, places_of
    from lfds.estimator.console import warnings_told
    from lfds.estimator.loading import load
    from lfds.estimator.outputs import check_not_in_model, check_output
    from lfds.explain.atlas import atlas

    check_output(out, model, places_of(data, root))
    if figures is not None:
        check_not_in_model(figures, model)
    with warnings_told():
        estimator = load(model)
        known = open_source(data, root, target=target, bad="skip" if skip_bad else "stop")
        made = atlas(estimator, known, show=_wish(graphs, pick))
    made.save(out)
    shown = len(made.numbers.graphs)
    typer.echo(f"{shown:,} of {len(known):,} graphs in {out} ({out.stat().st_size / 1e6:.1f} MB)")
    if figures is not None:
        files = made.save_figures(figures)
        typer.echo(f"{len(files):,} figures in {figures}")


def _wish(graphs: int | None, pick: list[int] | None) -> int | list[int]:
    if pick is not None:
        return pick
    return _GRAPHS if graphs is None else graphs
