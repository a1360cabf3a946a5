"""The command ``lfds``: its commands, and how errors are printed."""

import sys
from typing import Annotated

import typer

from lfds import __version__
from lfds.cli.compare import compare
from lfds.cli.data import app as data_app
from lfds.cli.evaluate import evaluate
from lfds.cli.explain import explain
from lfds.cli.export import export
from lfds.cli.fit import fit
from lfds.cli.options import ManyValues
from lfds.cli.predict import predict
from lfds.cli.report import report
from lfds.config.errors import SpecError
from lfds.data.errors import DataError
from lfds.explain.errors import ExplainError
from lfds.results.errors import ResultsError
from lfds.train.errors import DivergedError

app = typer.Typer(
    name="lfds",
    help="Global pooling of graphs and sets on latent fixed data structures.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
app.add_typer(data_app, name="data")
app.command("compare", cls=ManyValues)(compare)
app.command("fit", cls=ManyValues)(fit)
app.command("predict")(predict)
app.command("evaluate")(evaluate)
app.command("export")(export)
app.command("explain", cls=ManyValues)(explain)
app.command("report")(report)


def _show_version(requested: bool) -> None:
    if requested:
        typer.echo(f"lfds {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None: ...


def main() -> None:
    """Run the command; an error of the user is one line on stderr and exit code 2."""
    try:
        app()
    except (DataError, DivergedError, ExplainError, ResultsError, SpecError) as error:
        typer.echo(f"lfds: {error}", err=True)
        sys.exit(2)
