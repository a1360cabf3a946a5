"""The command ``lfds``: its commands, and how errors are printed."""

import errno
import os
import sys
from contextlib import suppress
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from lfds import __version__
from lfds.cli.bench import bench
from lfds.cli.compare import compare
from lfds.cli.data import app as data_app
from lfds.cli.evaluate import evaluate
from lfds.cli.explain import explain
from lfds.cli.export import export
from lfds.cli.fit import fit
from lfds.cli.many_values import ManyValues
from lfds.cli.predict import predict
from lfds.cli.report import report
from lfds.cli.usage import UsageError, usage_message
from lfds.config.messages import SpecError, as_message
from lfds.data.errors import DataError
from lfds.explain import ExplainError
from lfds.results.record import ResultsError
from lfds.train import DivergedError


class _Commands(TyperGroup):
    """Says that a Ctrl-C stopped a command which has nothing more to say about it."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            typer.echo("lfds: stopped", err=True)
            raise typer.Exit(130) from None


app = typer.Typer(
    name="lfds",
    cls=_Commands,
    help="Global pooling of graphs and sets on latent fixed data structures.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
app.add_typer(data_app, name="data")
app.command("compare", cls=ManyValues)(compare)
app.command("fit", cls=ManyValues)(fit)
app.command("predict", cls=ManyValues)(predict)
app.command("evaluate", cls=ManyValues)(evaluate)
app.command("export")(export)
app.command("explain", cls=ManyValues)(explain)
app.command("report")(report)
app.command("bench")(bench)


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
        try:
            code = app(prog_name="lfds", standalone_mode=False)
        finally:
            sys.stdout.flush()
    except UsageError as error:
        sys.exit(_misused(error))
    except (DataError, DivergedError, ExplainError, ResultsError, SpecError) as error:
        typer.echo(f"lfds: {error}", err=True)
        sys.exit(2)
    except MemoryError:
        typer.echo("lfds: memory ran out; use fewer graphs or a smaller network", err=True)
        sys.exit(2)
    except OSError as error:  # of standard output, or a path that cannot be looked up
        sys.exit(_failed(error))
    sys.exit(code if isinstance(code, int) else 0)


def _misused(error: Any) -> int:
    """Say what is wrong with a command in one line, or show its help if it is the bare name."""
    message = error.format_message()
    if message and "\n" not in message:
        typer.echo(f"lfds: {usage_message(error)}", err=True)
    elif message:
        error.show()
    return 2


def _failed(error: OSError) -> int:
    """Say which path cannot be used, or that standard output cannot; return the exit code."""
    if error.filename is None:
        with suppress(OSError):
            # At exit Python would try once more to write what is left, and fail with a traceback.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if error.errno == errno.EPIPE:  # whoever reads it has enough, as `head` does
        return 1
    what = "standard output: cannot be written"
    if error.filename is not None:
        what = f"{as_message(str(error.filename))}: cannot be used"
    with suppress(OSError):
        typer.echo(f"lfds: {what} ({error.strerror})", err=True)
    return 2
