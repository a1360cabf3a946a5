"""The command ``lfds compare``: from options or a TOML file to a table, with a look on the way."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

from lfds.config.errors import SpecError

if TYPE_CHECKING:
    from lfds.compare.engines.local import Engine
    from lfds.compare.runner import Result, Watcher

_MANY = ("--data", "--pool", "--encoding", "--option", "--splits", "--structure", "--pick")


class ManyValues(TyperCommand):
    """A command some of whose options take all values that follow: ``--pool max loop image``."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Name the option again before each further value, as the parser wants it."""
        return super().parse_args(ctx, spread(args))


def spread(args: list[str]) -> list[str]:
    """Write an option that takes many values once for each of them.

    >>> spread(["--pool", "max", "loop", "--folds", "5"])
    ['--pool', 'max', '--pool', 'loop', '--folds', '5']
    """
    spelt: list[str] = []
    many = ""
    for arg in args:
        if arg.startswith("-"):
            many = arg if arg in _MANY else ""
            if not many:
                spelt.append(arg)
        elif many:
            spelt += [many, arg]
        else:
            spelt.append(arg)
    return spelt


def compare(
    out: Annotated[Path, typer.Option(help="Folder of results; the same command goes on there.")],
    spec: Annotated[
        Path | None, typer.Option(help="A TOML file with options, or a spec.json.")
    ] = None,
    data: Annotated[list[str] | None, typer.Option(help="Names or paths of datasets.")] = None,
    root: Annotated[Path, typer.Option(help="Folder in which datasets are kept.")] = Path("data"),
    pool: Annotated[
        list[str] | None,
        typer.Option(help="Poolings to compare; tgp:NAME is one of torch-geometric-pool."),
    ] = None,
    protocol: Annotated[str | None, typer.Option(help="fair (the default) or paper.")] = None,
    preset: Annotated[str | None, typer.Option(help="default or paper.")] = None,
    network: Annotated[str | None, typer.Option(help="default or paper.")] = None,
    encoding: Annotated[
        list[str] | None, typer.Option(help="auto, none, or structural encodings.")
    ] = None,
    option: Annotated[
        list[str] | None, typer.Option(help="Settings of the network, as slots=16.")
    ] = None,
    folds: Annotated[int | None, typer.Option(help="Parts the graphs are dealt into.")] = None,
    splits: Annotated[
        list[str] | None,
        typer.Option(help="Folds from files: a folder of NAME_splits.json, or NAME=FILE."),
    ] = None,
    validation: Annotated[
        float | None, typer.Option(help="Share of the training folds set apart to choose on.")
    ] = None,
    epochs: Annotated[int | None, typer.Option(help="Passes over the training graphs.")] = None,
    batch_size: Annotated[int | None, typer.Option(help="Graphs of a batch.")] = None,
    learning_rate: Annotated[float | None, typer.Option(help="Of the first epoch.")] = None,
    keep: Annotated[
        str | None,
        typer.Option(help="Whose weights fair tests: best (epoch, the default) or last."),
    ] = None,
    seeds: Annotated[int | None, typer.Option(help="How often all is repeated.")] = None,
    seed: Annotated[int | None, typer.Option(help="The first seed.")] = None,
    graphs: Annotated[int | None, typer.Option(help="Graphs of each dataset, at most.")] = None,
    workers: Annotated[int, typer.Option(min=1, help="Processes.")] = 1,
    patience: Annotated[
        float, typer.Option(min=0, help="Seconds between two checkpoints of a fold.")
    ] = 10.0,
    ray: Annotated[str | None, typer.Option(help="Address of a Ray cluster to run on.")] = None,
    tensorboard: Annotated[
        Path | None, typer.Option(help="Folder for curves to look at with TensorBoard.")
    ] = None,
    retry: Annotated[bool, typer.Option("--retry", help="Run failed folds again.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Compare poolings on datasets, fold by fold; interrupted runs go on where they stopped."""
    given = {
        "data": data,
        "pools": pool,
        "protocol": protocol,
        "preset": preset,
        "network": network,
        "encoding": None if encoding is None else _encoding(encoding),
        "options": None if option is None else network_options(option),
        "folds": folds,
        "splits": splits,
        "validation": validation,
        "epochs": epochs,
        "batch_size": batch_size,
        "learning_rate": learning_rate,
        "keep": keep,
        "seeds": seeds,
        "seed": seed,
        "graphs": graphs,
    }
    options = {name: value for name, value in given.items() if value is not None}
    result = _run(spec, options, out, root, workers, patience, retry, ray, tensorboard)
    _show(result, as_json=as_json)
    if result.failed:
        raise typer.Exit(1)


def _run(
    file: Path | None,
    options: dict[str, Any],
    out: Path,
    root: Path,
    workers: int,
    patience: float,
    retry: bool,
    ray: str | None,
    tensorboard: Path | None,
) -> "Result":
    # torch takes a second to import; a misspelt option does not wait for it.
    from lfds.compare.progress import watching
    from lfds.compare.runner import compare as run
    from lfds.config.comparison import make_spec, read_options

    spec = make_spec({**(read_options(file) if file else {}), **options})
    try:
        with watching() as watcher:
            return run(
                spec,
                out,
                watcher if tensorboard is None else _with_curves(tensorboard, watcher),
                root=root,
                workers=workers,
                patience=patience,
                retry=retry,
                engine=None if ray is None else _on_ray(ray),
            )
    except KeyboardInterrupt:
        typer.echo("lfds: stopped; the same command goes on from here", err=True)
        raise typer.Exit(130) from None


def _with_curves(folder: Path, watcher: "Watcher") -> "Watcher":
    from lfds.compare.tensorboard import Curves

    return Curves(folder, watcher)


def _on_ray(address: str) -> "Engine":
    from lfds.compare.engines.ray import RayEngine

    return RayEngine(address)


def _encoding(names: list[str]) -> Any:
    from lfds.config.encoding import encoding_from

    return "auto" if names == ["auto"] else encoding_from(names)


def network_options(settings: list[str]) -> dict[str, Any]:
    """Read ``slots=16``; a value is JSON where it can be, and a word where it cannot."""
    read: dict[str, Any] = {}
    for setting in settings:
        name, equals, value = setting.partition("=")
        if not equals:
            raise SpecError(f"--option needs NAME=VALUE, as slots=16, not {setting!r}")
        try:
            read[name.replace("-", "_")] = json.loads(value)
        except ValueError:
            read[name.replace("-", "_")] = value
    return read


def _show(result: "Result", *, as_json: bool) -> None:
    from lfds.compare.display import as_dict, print_result

    if as_json:
        typer.echo(json.dumps(as_dict(result), indent=2, allow_nan=False))
    else:
        print_result(result)
