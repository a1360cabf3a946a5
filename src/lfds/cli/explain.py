"""The command ``lfds explain``: the atlas of a saved model."""

from pathlib import Path
from typing import Annotated

import typer

from lfds.cli.data import Root, SkipBad, Target, open_data
from lfds.cli.options import (
    Data,
    Device,
    Model,
    check_not_in_model,
    check_output,
    print_warnings,
    run_on,
    with_flags,
)
from lfds.explain import ExplainError

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
    member: Annotated[
        int, typer.Option(help="Which network of an ensemble to show, numbered from 0.")
    ] = 0,
    root: Root = Path("data"),
    target: Target = None,
    skip_bad: SkipBad = False,
    device: Device = None,
) -> None:
    """Show on which slots the nodes of graphs land: an atlas of a model as one HTML page."""
    if graphs is not None and pick is not None:
        raise ExplainError("--graphs and --pick exclude each other; leave one out")
    if graphs is not None and graphs < 1:
        raise ExplainError(f"--graphs: needs at least 1, not {graphs}")
    from lfds.data.atomic_io import check_folder, is_special
    from lfds.data.sources import places_of
    from lfds.estimator.persistence import load
    from lfds.explain.atlas import atlas

    check_output(out, model, places_of(data, root))
    if figures is not None:
        check_not_in_model(figures, model)
        check_folder(figures)
    with print_warnings():
        estimator = run_on(load(model), device)
        read = open_data(data, root, target, skip_bad, molecules=estimator.molecules_)
        shown = pick if pick is not None else graphs or _GRAPHS
        try:
            made = atlas(estimator, read, show=shown, member=member)
        except ExplainError as error:
            raise ExplainError(with_flags(str(error), {"member": "--member"})) from error
    made.save(out)
    count, size = len(made.numbers.graphs), len(made.html.encode()) / 1e6
    # The page itself may go to standard output.
    members = len(estimator.networks_)
    which = f", member {member} of 0 to {members - 1}" if members > 1 else ""
    typer.echo(
        f"{count:,} of {len(read):,} graphs in {out} ({size:.1f} MB){which}", err=is_special(out)
    )
    if figures is not None:
        files = made.save_figures(figures)
        typer.echo(f"{len(files):,} figures in {figures}", err=is_special(out))
