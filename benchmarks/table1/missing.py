"""What was not run in full, and the commands that run it."""

from collections.abc import Sequence

from benchmarks.table1.rows import DATASETS, ROWS, columns_of
from lfds.report.report import Report
from lfds.report.series import Series
from lfds.report.sources import Source
from lfds.results.record import Protocol

_PUBLISHED_SPLITS = ("ENZYMES", "PROTEINS", "DD")


def missing(made: Report) -> str:
    """Return the commands for all rows that are not complete, or that nothing is missing."""
    protocols: tuple[Protocol, ...] = ("paper", "fair")
    blocks = [
        block
        for protocol in protocols
        for column, some in columns_of(made, protocol).items()
        if (block := _block(made.sources, protocol, column, some))
    ]
    if not blocks:
        return "Nothing: every row is complete on every dataset, by both protocols."
    return "```sh\n" + "\n".join(blocks) + "\n```"


def lacking(some: Sequence[Series], rows: Sequence[str]) -> list[str]:
    """Return the poolings that have no series in a column, or one that is not complete."""
    whole = {series.pool: True for series in some}
    for series in some:
        whole[series.pool] &= series.complete
    return [pool for pool in dict.fromkeys([*rows, *whole]) if not whole.get(pool)]


def _block(
    sources: Sequence[Source], protocol: Protocol, column: str, some: Sequence[Series]
) -> str:
    dataset = some[0].dataset if some else column
    pools = lacking(some, ROWS if dataset in DATASETS else ())
    if not pools:
        return ""
    state = _state(pools, some)
    retry = " --retry" if any(series.failed for series in some) else ""
    command = _command(sources, protocol, dataset, pools)
    return f"# {protocol}, {column}: {state}\n{command}{retry}"


def _state(pools: Sequence[str], some: Sequence[Series]) -> str:
    part = [series for series in some if series.records and not series.complete]
    begun = {series.pool: f"{len(series.done)} of {series.wanted} folds" for series in part}
    never = [pool for pool in pools if pool not in begun]
    parts = [f"{pool} {begun[pool]}" for pool in pools if pool in begun]
    if never:
        parts.append("not run" if len(never) == len(pools) else f"{', '.join(never)} not run")
    return "; ".join(parts)


def _command(
    sources: Sequence[Source], protocol: Protocol, dataset: str, pools: Sequence[str]
) -> str:
    rows = f"--pool {' '.join(pools)} --root data"
    for source in sources:
        wish = source.wish
        if wish is not None and wish.protocol == protocol and dataset in wish.datasets:
            name = source.path.name if source.path.is_dir() else source.path.parent.name
            one = (
                "" if len(wish.data) == 1 else f" --data {wish.data[wish.datasets.index(dataset)]}"
            )
            # The records are unpacked first, so that what is there is not run again.
            return (
                f"mkdir -p runs/{name} && gunzip -c results/{name}/records.jsonl.gz "
                f"> runs/{name}/records.jsonl\n"
                f"lfds compare --spec results/{name}/spec.json{one} {rows} --out runs/{name}"
            )
    preset = " --preset paper" if protocol == "paper" else ""
    splits = (
        " --splits data/splits/fair" if protocol == "fair" and dataset in _PUBLISHED_SPLITS else ""
    )
    where = "data/clouds" if dataset == "clouds" else dataset
    return f"lfds compare{preset}{splits} --data {where} {rows} --out runs/{protocol}-{dataset}"
