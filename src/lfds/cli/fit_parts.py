"""Which graphs ``lfds fit`` trains, validates and tests on."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lfds.cli.data import open_data, open_data_rows
from lfds.config.messages import SpecError, counted, did_you_mean
from lfds.config.registry import suffixes_with
from lfds.data.errors import DataError

if TYPE_CHECKING:
    from lfds.data.chunk import Chunk
    from lfds.data.graphset import GraphSet
    from lfds.data.splits import Split


@dataclass(frozen=True)
class Source:
    """What is read, and how.

    Attributes:
        data: Name or path.
        root: Folder of the datasets.
        target: Columns to predict.
        skip_bad: Whether invalid rows are skipped.
        reading: Other options of the reader.
    """

    data: str
    root: Path
    target: list[str] | None
    skip_bad: bool
    reading: Mapping[str, Any]


@dataclass(frozen=True)
class AskedParts:
    """How the graphs are to be split.

    Attributes:
        splits: The value of ``--splits``.
        test_size: That of ``--test-size``.
    """

    splits: str | None
    test_size: float | None

    def check(self, group_column: str | None) -> None:
        """Raise if options exclude each other, or name no file."""
        if self.in_file and group_column is not None:
            raise SpecError(f"--group-column: the parts are those of {self.splits}; leave it out")
        path = Path(self.splits or "")
        if self.in_file and (path.is_dir() or not path.exists()):
            hint = did_you_mean(self.splits, ("random", "scaffold"))
            raise SpecError(
                f"--splits: needs random, scaffold or a file, not {self.splits!r}{hint}"
            )
        if self.test_size is None:
            return
        if self.splits is not None:
            raise SpecError("--test-size: --splits has a test part of its own; leave one out")
        if not 0 < self.test_size < 1:
            raise SpecError(f"--test-size: needs a number between 0 and 1, not {self.test_size:g}")

    @property
    def in_file(self) -> bool:
        """Whether a file says which graph is in which part."""
        return self.splits not in (None, "random", "scaffold")

    @property
    def any(self) -> bool:
        """Whether the graphs are split at all."""
        return self.splits is not None or self.test_size is not None


@dataclass(frozen=True)
class Parts:
    """The parts of a fit.

    Attributes:
        split: Graphs to train, validate and test on.
        skipped: What to say about rows of a split that were skipped; empty if there are none.
    """

    split: "Split"
    skipped: str = ""


def read_graphs(source: Source, asked: AskedParts) -> "Chunk":
    """Return the graphs, and where they are in their file if a split names its rows."""
    from lfds.data.chunk import Chunk

    given = (source.data, source.root, source.target, source.skip_bad)
    if asked.in_file:
        return open_data_rows(*given, **source.reading)
    if asked.splits == "scaffold":
        return Chunk(_with_scaffolds(source), [], "graph")
    return Chunk(open_data(*given, **source.reading), [], "graph")


def parts_of(chunk: "Chunk", asked: AskedParts, data: str, seed: int, validation: float) -> Parts:
    """Return the parts that were asked for.

    Args:
        chunk: What :func:`read_graphs` returned.
        asked: How the graphs are to be split.
        data: What they were read from, for messages.
        seed: Random seed.
        validation: Share of the graphs to validate on.
    """
    from lfds.data.splits import Split, read_splits

    if asked.splits is not None and asked.in_file:
        first = read_splits(asked.splits, check=False)[0]
        return _parts_of_rows(first, chunk, asked.splits, data)
    if asked.splits is not None:
        return Parts(_drawn(chunk.graphs, asked.splits, seed, validation))
    if asked.test_size is not None:
        return Parts(_held_out(chunk.graphs, asked.test_size, seed))
    return Parts(Split((), (), ()))


def _drawn(graphs: "GraphSet", splits: str, seed: int, validation: float) -> "Split":
    """Return the parts of ``--splits random`` and ``scaffold``."""
    import numpy as np

    from lfds.data.splits import grouped_split, random_grouped_split, random_split

    try:
        if splits == "scaffold":
            return grouped_split(graphs.groups[:, 0].numpy(), validation=validation)
        if graphs.groups.shape[1]:
            groups = graphs.groups[:, 0].numpy()
            return random_grouped_split(groups, seed=seed, validation=validation)
        one_class = not graphs.classes or graphs.y.ndim == 2
        y = np.zeros(len(graphs), dtype=np.int64) if one_class else graphs.y.numpy()
        return random_split(y, seed=seed, validation=validation)
    except DataError as error:
        if error.source != "splits":
            raise
        raise DataError(error.problem, source="--splits") from error


def _parts_of_rows(split: "Split", chunk: "Chunk", file: str, data: str) -> Parts:
    """Return the graphs of a split that names rows of a file; rows that were skipped have none.

    Where the format has no rows that may be skipped, a split names graphs.
    """
    from lfds.data.splits import Split

    graph_at = {position: graph for graph, position in enumerate(chunk.positions)}
    positions = sorted([*graph_at, *(row.position for row in chunk.skipped)])
    graph_of = [graph_at.get(position) for position in positions]
    what = "row" if chunk.unit == "line" else "graph"
    _check_rows(split, len(graph_of), len(chunk.skipped), what, file, data)

    def graphs_of(rows: Sequence[int]) -> tuple[int, ...]:
        return tuple(graph for row in rows if (graph := graph_of[row]) is not None)

    found = Split(graphs_of(split.train), graphs_of(split.validation), graphs_of(split.test))
    if not found.train:
        raise DataError(
            f"all rows to train on of its first fold were skipped in {data}; name others",
            source=file,
        )
    named, kept = sum(map(len, _parts(split))), sum(map(len, _parts(found)))
    were = "was" if named - kept == 1 else "were"
    said = f"{file}: {named - kept:,} of its {counted(named, 'row')} {were} skipped"
    return Parts(found, said if kept < named else "")


def _check_rows(
    split: "Split", count: int, skipped: int, what: str, source: str, data: str
) -> None:
    """Raise unless a split trains on something, names nothing twice, and nothing that is not there.

    Args:
        split: Names rows or graphs.
        count: How many there are.
        skipped: How many of them were skipped.
        what: What they are.
        source: The file of the split.
        data: What they were read from.
    """
    rows = sorted(sum(_parts(split), ()))
    outside = next((row for row in rows if not 0 <= row < count), None)
    twice = next((one for one, other in pairwise(rows) if one == other), None)
    if not split.train:
        problem = f"has no {what}s to train on; name some"
    elif outside is not None:
        also = f", and the {skipped:,} skipped ones count, too" if skipped else ""
        problem = (
            f"names {what} {outside}, but {data} has {counted(count, what)}, counted from 0 to "
            f"{count - 1}{also}"
        )
    elif twice is not None:
        problem = f"names {what} {twice} twice; each is in one part at most"
    else:
        return
    raise DataError(f"its first fold {problem}", source=source)


def _parts(split: "Split") -> tuple[tuple[int, ...], ...]:
    return split.train, split.validation, split.test


def _held_out(graphs: "GraphSet", fraction: float, seed: int) -> "Split":
    """Return the parts of ``--test-size``: whole groups if there are any, or classes alike."""
    import numpy as np

    from lfds.data.splits import Split, validation_groups
    from lfds.estimator.fitting import split_validation
    from lfds.seeds import seed_for

    stream = seed_for(seed, "estimator", "test")
    if graphs.groups.shape[1]:
        chosen = validation_groups(graphs.groups[:, 0].numpy(), fraction, stream)
        test = np.flatnonzero(chosen)
    else:
        one_class = not graphs.classes or graphs.y.ndim == 2
        strata = np.zeros(len(graphs), dtype=np.int64) if one_class else graphs.y.numpy()
        _, test = split_validation(strata, fraction, stream)
    train = np.setdiff1d(np.arange(len(graphs)), test)
    for rows, part in ((train, "to fit on"), (test, "to test on")):
        if len(rows) == 0:
            raise DataError(
                f"{fraction:g} of {len(graphs):,} graphs leaves none {part}; use another fraction",
                source="--test-size",
            )
    return Split(tuple(train.tolist()), (), tuple(test.tolist()))


def left_out(parts: "Split", count: int, asked: AskedParts) -> str:
    """Return what the saved model has not seen, and how to fit one that has.

    Args:
        parts: Graphs to train, validate and test on.
        count: Number of all graphs.
        asked: How they were to be split.
    """
    unused = count - sum(map(len, _parts(parts)))
    if not asked.any or not (parts.test or unused):
        return ""
    test = counted(len(parts.test), "test graph")
    if unused:
        unseen = f"{len(parts.test) + unused:,} of {counted(count, 'graph')}"
        which = f"{unseen} ({test}, {unused:,} in no part)"
    else:
        which = f"the {test} of {count:,}"
    fix = "--splits" if asked.test_size is None else "--test-size"
    return f", fitted without {which}; for a model of all graphs run it again without {fix}"


def _with_scaffolds(source: Source) -> "GraphSet":
    """Return molecules that are grouped by their scaffolds."""
    if source.reading["group"] is not None:
        raise DataError("has scaffolds as groups; leave out --group-column", source="--splits")
    try:
        return open_data(
            source.data,
            source.root,
            source.target,
            source.skip_bad,
            **{**source.reading, "group": "scaffold"},
        )
    except DataError as error:
        if error.source != "--group-column":
            raise
        raise DataError(
            f"scaffolds are known of molecules in {suffixes_with('group')} files, not of "
            f"{source.data}; use random, or a JSON file",
            source="--splits",
        ) from error
