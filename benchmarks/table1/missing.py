"""What was not run in full, and the commands that run it."""

from collections.abc import Sequence
from pathlib import Path

from benchmarks.table1.rows import DATASETS, ROWS, columns_of
from lfds.report.load import Source
from lfds.report.report import Report
from lfds.report.run_spec import RequestedRun
from lfds.report.series import Series
from lfds.results.record import Protocol

_PUBLISHED_SPLITS = ("ENZYMES", "PROTEINS", "DD")


def missing(made: Report) -> str:
    """Return the commands for all rows that are not complete, or that nothing is missing."""
    protocols: tuple[Protocol, ...] = ("paper", "fair")
    # One command may run what is missing on several datasets.
    states: dict[str, list[str]] = {}
    for protocol in protocols:
        for column, some in columns_of(made, protocol).items():
            dataset = some[0].dataset if some else column
            pools = lacking(some, ROWS if dataset in DATASETS else ())
            if pools:
                command = _command(made.sources, protocol, dataset, pools)
                retry = " --retry" if any(series.failed for series in some) else ""
                said = f"# {protocol}, {column}: {_state(pools, some)}"
                states.setdefault(command + retry, []).append(said)
    if not states:
        return "Nothing: every row is complete on every dataset, by both protocols."
    lines = [line for command, said in states.items() for line in (*said, command)]
    return "\n".join(["```sh", *lines, "```"])


def lacking(some: Sequence[Series], rows: Sequence[str]) -> list[str]:
    """Return the poolings that have no series in a column, or one that is not complete."""
    whole = {series.pool: True for series in some}
    for series in some:
        whole[series.pool] &= series.complete
    return [pool for pool in dict.fromkeys([*rows, *whole]) if not whole.get(pool)]


def _state(pools: Sequence[str], some: Sequence[Series]) -> str:
    if not any(series.records for series in some):
        return "not run"
    part = [series for series in some if series.records and not series.complete]
    begun = {series.pool: f"{len(series.done)} of {series.wanted} folds" for series in part}
    never = ", ".join(pool for pool in pools if pool not in begun)
    parts = [f"{pool} {begun[pool]}" for pool in pools if pool in begun]
    return "; ".join([*parts, *([f"{never} not run"] if never else [])])


def _command(
    sources: Sequence[Source], protocol: Protocol, dataset: str, pools: Sequence[str]
) -> str:
    for source in sources:
        wish = source.wish
        if wish is not None and wish.protocol == protocol and dataset in wish.datasets:
            return _going_on(source.path, wish, pools)
    preset = " --preset paper" if protocol == "paper" else ""
    published = protocol == "fair" and dataset in _PUBLISHED_SPLITS
    splits = " --splits data/splits/fair" if published else ""
    # One class of the clouds has four of them, which is as many folds as there can be.
    where = "data/clouds --folds 4" if dataset == "clouds" else dataset
    return (
        f"lfds compare{preset}{splits} --data {where} --pool {' '.join(pools)} --root data "
        f"--out runs/{protocol}-{dataset}"
    )


def _going_on(path: Path, wish: RequestedRun, pools: Sequence[str]) -> str:
    """Return how a packed run is gone on with: what is there is unpacked, and not run again."""
    name = path.name if path.is_dir() else path.parent.name
    # All poolings are named, not the missing ones alone: the new spec.json is that of all of them.
    every = list(dict.fromkeys([*wish.pools, *pools]))
    more = f" --pool {' '.join(every)}" if set(pools) - set(wish.pools) else ""
    return (
        f"mkdir -p runs/{name} && gunzip -c results/{name}/records.jsonl.gz "
        f"> runs/{name}/records.jsonl\n"
        f"lfds compare --spec results/{name}/spec.json{more} --root data --out runs/{name}"
    )
