"""The command ``lfds explain``: the atlas of a saved model."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lfds.cli.data import Root, SkipBad, SmilesColumn, Target, flags_named
from lfds.cli.model_data import has_targets, open_for_model
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
from lfds.cli.predict import Reading
from lfds.explain import ExplainError

if TYPE_CHECKING:
    from lfds.data.graphset import GraphSet
    from lfds.estimator.classifier import LFDSClassifier
    from lfds.estimator.regressor import LFDSRegressor

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
    smiles_column: SmilesColumn = None,
    skip_bad: SkipBad = False,
    device: Device = None,
) -> None:
    """Show on which slots the nodes of graphs land: an atlas of a model as one HTML page.

    True classes or values are those of the target columns that the model was fitted on, unless
    --target names others; a file of molecules need not have them.
    """
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
        read = _graphs(estimator, Reading(data, root, skip_bad, smiles_column), target)
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


def _graphs(
    estimator: "LFDSClassifier | LFDSRegressor", reading: Reading, target: list[str] | None
) -> "GraphSet":
    """Return the graphs to show; molecules without the targets of the model come without any."""
    from lfds.data.concat import concat
    from lfds.data.readers.smiles import warn_of_skipped
    from lfds.data.sources import table_of

    data, root = reading.data, reading.root
    table = table_of(data, root)
    if target is None and table is not None:
        # Predictions of several classes are shown without the true ones.
        unseen = estimator.decoder_.kind == "labels"
        if unseen or not has_targets(estimator, table):
            with flags_named():
                chunks = list(reading.stream(estimator))
            warn_of_skipped([row for chunk in chunks for row in chunk.skipped], table)
            return concat([chunk.graphs for chunk in chunks])
    return open_for_model(
        estimator,
        data,
        root,
        target=target,
        smiles=reading.smiles,
        skip_bad=reading.skip_bad,
    )
