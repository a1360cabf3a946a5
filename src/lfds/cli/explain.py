"""The command ``lfds explain``: the atlas of a saved model."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lfds.cli.data import Root, SkipBad, SmilesColumn, Target, flags_named, open_data
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
    from lfds.data.readers.csv_table import open_table
    from lfds.data.sources import options_of

    data, root = reading.data, reading.root
    if target is None and "target" in options_of(data, root):
        names = estimator.training_data_.target_names or estimator.decoder_.target_names
        target = list(names)
        with open_table(Path(data)) as table:
            there = {name.lower() for name in table.header}
        if not {name.lower() for name in target} <= there:
            with flags_named():
                return concat([chunk.graphs for chunk in reading.stream(estimator)])
    return open_data(
        data,
        root,
        target,
        reading.skip_bad,
        smiles=reading.smiles,
        task=estimator.decoder_.task,
        molecules=estimator.molecules_,
    )
