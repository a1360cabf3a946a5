"""The command ``lfds compare``: from options or a file to a table, with progress on the way."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lfds.cli.data import LargestFragment, SkipBad, flags_named
from lfds.cli.options import flag_of, network_options, options_from, print_warnings, with_flags
from lfds.config.comparison import (
    CompareSpec,
    defaults_version,
    make_spec,
    read_options,
    with_earlier_defaults,
)
from lfds.config.encoding import encoding_from
from lfds.config.messages import SpecError
from lfds.config.network import NetworkSettings
from lfds.config.registry import BASES, REFERENCES

if TYPE_CHECKING:
    from lfds.compare.runner import Result

_FLAGS = {"pools": "--pool", "options": "--option"}
_OTHERS = ("ray", "tensorboard", "base", "preset")
# Messages about settings of the network name the option that sets them.
_ALL_FLAGS = {
    **{name: f"--option {name}" for name in NetworkSettings.model_fields},
    **{name: flag_of(name) for name in (*CompareSpec.model_fields, *_OTHERS)},
    **_FLAGS,
}


@options_from(
    CompareSpec,
    leave_out=("encoding", "options", "grid", "skip_bad", "largest_fragment"),
    flags=_FLAGS,
)
def compare(
    out: Annotated[
        Path, typer.Option(help="Folder of results; the same command resumes the run there.")
    ],
    spec: Annotated[
        Path | None, typer.Option(help="TOML file with options, or spec.json of an earlier run.")
    ] = None,
    root: Annotated[Path, typer.Option(help="Folder of datasets.")] = Path("data"),
    preset: Annotated[
        str | None, typer.Option(help="Options to start from: default or paper.")
    ] = None,
    encoding: Annotated[
        list[str] | None, typer.Option(help="auto, none, or structural encodings.")
    ] = None,
    option: Annotated[
        list[str] | None, typer.Option(help="Settings of the network, as slots=16.")
    ] = None,
    base: Annotated[
        str | None, typer.Option(help="Layers before the pooling.", metavar="|".join(BASES))
    ] = None,
    baseline: Annotated[
        bool,
        typer.Option(
            "--baseline",
            help="Add a row without a network: a random forest on histograms (random-forest).",
        ),
    ] = False,
    skip_bad: SkipBad = False,
    largest_fragment: LargestFragment = False,
    workers: Annotated[int, typer.Option(min=1, help="Number of processes.")] = 1,
    patience: Annotated[
        float, typer.Option(min=0, help="Seconds between two checkpoints of a fold.")
    ] = 10.0,
    ray: Annotated[str | None, typer.Option(help="Address of a Ray cluster to run on.")] = None,
    tensorboard: Annotated[
        Path | None, typer.Option(help="Folder for learning curves in TensorBoard's format.")
    ] = None,
    retry: Annotated[bool, typer.Option("--retry", help="Run failed folds again.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
    **given: Any,
) -> None:
    """Compare poolings on datasets, fold by fold; interrupted runs are resumed."""
    try:
        if encoding is not None:
            given["encoding"] = "auto" if encoding == ["auto"] else encoding_from(encoding)
        if option is not None:
            given["options"] = network_options(option)
        if preset is not None:
            given["preset"] = preset
        flags = {"skip_bad": skip_bad, "largest_fragment": largest_fragment}
        given |= {name: True for name, asked in flags.items() if asked}
        named = {**(read_options(spec) if spec else {}), **given}
        checked = _with_baseline(_checked_spec(named, base, out), baseline)
        result = _run(
            checked,
            out,
            ray,
            tensorboard,
            root=root,
            workers=workers,
            patience=patience,
            retry=retry,
        )
    except SpecError as error:
        raise SpecError(with_flags(str(error), _ALL_FLAGS)) from error
    except KeyboardInterrupt:
        typer.echo("lfds: stopped; the same command resumes the run", err=True)
        raise typer.Exit(130) from None
    _print(result, as_json=as_json)
    if result.failed:
        raise typer.Exit(1)


def _checked_spec(named: dict[str, Any], base: str | None, out: Path) -> CompareSpec:
    """Return the spec of some options; datasets have to be among them."""
    if base is not None:
        named["options"] = {**(named.get("options") or {}), "base": base}
    checked = make_spec(_with_defaults_of_run(named, out))
    if "data" not in named:
        raise SpecError(
            "data: name the datasets to compare on, as --data ENZYMES PROTEINS --root DIR (`lfds "
            "data list` shows them), --data mine.jsonl, or --data pc-graphs, which needs no files"
        )
    return checked


def _with_baseline(spec: CompareSpec, baseline: bool) -> CompareSpec:
    added = [name for name in REFERENCES if baseline and name not in spec.pools]
    return spec.model_copy(update={"pools": (*spec.pools, *added)})


def _with_defaults_of_run(options: dict[str, Any], out: Path) -> dict[str, Any]:
    """A run that an earlier version began is resumed with the defaults of that version."""
    version = defaults_version(out / "spec.json")
    completed = with_earlier_defaults(options, version)
    before, now = options.get("options") or {}, completed.get("options") or {}
    kept = [f"{k}={v}" for k, v in now.items() if k not in before] if now != before else []
    if kept:
        typer.echo(
            f"lfds: {out} was begun by an earlier version, whose defaults are kept "
            f"({', '.join(kept)}); use another --out for those of today",
            err=True,
        )
    return completed


def _run(
    spec: CompareSpec, out: Path, ray: str | None, tensorboard: Path | None, **how: Any
) -> "Result":
    # torch takes a second to import; a misspelt option does not wait for it.
    from lfds.compare.engines.ray import RayEngine
    from lfds.compare.progress import progress_display
    from lfds.compare.runner import compare as run
    from lfds.compare.tensorboard import TensorBoardCurves

    with print_warnings(), progress_display() as observer:
        if tensorboard is not None:
            observer = TensorBoardCurves(tensorboard, observer)
        engine = None if ray is None else RayEngine(ray)
        with flags_named():
            return run(spec, out, observer, engine=engine, **how)


def _print(result: "Result", *, as_json: bool) -> None:
    from lfds.compare.display import as_dict, print_result

    if as_json:
        typer.echo(json.dumps(as_dict(result), indent=2, allow_nan=False))
    else:
        print_result(result)
