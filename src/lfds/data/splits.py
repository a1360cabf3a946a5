"""Training, validation and test parts: stratified folds, saved as JSON and checked on reading."""

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count, pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lfds.config.messages import counted
from lfds.config.strict_json import strict_json
from lfds.data.atomic_io import atomic_write
from lfds.data.errors import DataError, check_regular, check_seed, quoted
from lfds.seeds import seed_for

# Multiples of it are spread evenly over the unit interval, however many there are.
_GOLDEN = (5**0.5 - 1) / 2
# Where no group fits, a part gets one of the smallest: those at most this many times as large.
_NEARLY_AS_SMALL = 1.5


@dataclass(frozen=True)
class Split:
    """The three parts of one fold, as sorted indices of graphs.

    Attributes:
        train: Graphs that the model is fitted on.
        validation: Graphs that select among models and epochs.
        test: Graphs that the selected model is evaluated on.
    """

    train: tuple[int, ...]
    validation: tuple[int, ...]
    test: tuple[int, ...]


def stratified_folds(
    y: Sequence[int] | NDArray[np.integer],
    *,
    folds: int = 10,
    seed: int = 0,
    validation: float = 0.1,
) -> tuple[Split, ...]:
    """Split graphs into folds with equal class proportions.

    Every graph is in the test part of exactly one fold. In each fold a stratified part of the
    others is used for validation. Class counts and sizes of test parts differ by at most one.

    Args:
        y: The class of each graph; a constant splits without stratification.
        folds: Number of folds.
        seed: Random seed; the validation part of each fold has its own random stream.
        validation: Share of the graphs outside the test part used for validation; 0 for none.

    >>> halves = stratified_folds([0, 0, 1, 1], folds=2, validation=0)
    >>> sorted(halves[0].test + halves[1].test), len(halves[0].train)
    ([0, 1, 2, 3], 2)
    """
    classes = np.asarray(y)
    if classes.ndim != 1 or classes.dtype.kind not in "iu":
        raise DataError("needs one whole number per graph", source="y")
    if not 2 <= folds <= len(classes):
        raise _no_folds(folds, len(classes), "graph")
    if not 0 <= validation < 1:
        raise DataError(f"needs a share from 0 to below 1, not {validation}", source="validation")
    seed = check_seed(seed)
    graphs = np.arange(len(classes))
    fold_of = _assign_folds(classes, folds, seed_for(seed, "folds", folds))
    return tuple(
        _split(
            graphs[fold_of != fold],
            graphs[fold_of == fold],
            classes,
            validation,
            seed_for(seed, "folds", folds, "fold", fold, "validation"),
        )
        for fold in range(folds)
    )


def random_split(
    y: NDArray[np.integer], *, seed: int = 0, validation: float = 0.1, test: float = 0.1
) -> Split:
    """Split graphs once, in the proportions of their classes; the rest is for training.

    Args:
        y: The class of each graph; a constant splits without stratification.
        seed: Random seed.
        validation: Share of all graphs to validate on.
        test: Share of all graphs to test on.

    >>> parts = random_split(np.zeros(50, dtype=int), seed=1)
    >>> len(parts.train), len(parts.validation), len(parts.test)
    (40, 5, 5)
    """
    counts = _part_sizes(len(y), validation, test)
    order = _shuffled_by_class(y, seed_for(check_seed(seed), "random split"))
    # Every part takes its share of each class: graphs sorted by class, spread evenly.
    ranks = np.argsort((np.arange(len(y)) * _GOLDEN) % 1, kind="stable")
    mixed = order[ranks]
    return _in_order(mixed, counts)


def grouped_split(
    groups: NDArray[np.integer], *, validation: float = 0.1, test: float = 0.1
) -> Split:
    """Split graphs once such that groups stay together: the largest for training, then others.

    Groups are taken by falling size, those of equal size from the last to the first. With scaffolds
    as groups this is the scaffold split of MoleculeNet: test molecules have scaffolds that are rare
    and unlike those of the training. Nothing in it is random.

    Args:
        groups: The group of each graph.
        validation: Share of all graphs to validate on, about.
        test: Share of all graphs to test on, about.

    >>> grouped_split(np.array([0, 1, 1, 1, 2, 1, 3, 1, 1, 1]), validation=0.2, test=0.1)
    Split(train=(1, 2, 3, 5, 7, 8, 9), validation=(4, 6), test=(0,))
    """
    wanted = _part_sizes(len(groups), validation, test)
    names, first, sizes = np.unique(groups, return_index=True, return_counts=True)
    parts: list[list[int]] = [[], [], []]
    for place in np.lexsort((-first, -sizes)):
        members = np.flatnonzero(groups == names[place]).tolist()
        fits = (k for k in range(2) if len(parts[k]) + len(members) <= wanted[k])
        parts[next(fits, 2)] += members
    for name, part, need in zip(("training", "validation", "test"), parts, wanted, strict=True):
        if need and not part:
            raise DataError(
                f"leaves no {name} graphs: {len(names)} groups, the largest with "
                f"{sizes.max()} of {len(groups)} graphs; split at random",
                source="splits",
            )
    return Split(*(tuple(sorted(part)) for part in parts))


def random_grouped_split(
    groups: NDArray[np.integer], *, seed: int = 0, validation: float = 0.1, test: float = 0.1
) -> Split:
    """Split graphs once such that groups stay together, at random; the rest is for training.

    The largest group is for training. The others are shuffled, and go to the part that is held out
    and lacks most graphs, if they fit into it; at last those that bring its size nearer to its
    share. Every part with a share has a group.

    Args:
        groups: The group of each graph.
        seed: Random seed.
        validation: Share of all graphs to validate on, about.
        test: Share of all graphs to test on, about.

    >>> parts = random_grouped_split(np.arange(50) // 5, seed=1)
    >>> len(parts.train), len(parts.validation), len(parts.test)
    (40, 5, 5)
    """
    names, member = np.unique(groups, return_inverse=True)
    sizes = np.bincount(member)
    shares = {1: validation, 2: test}
    lacking = {k: max(1, round(share * len(groups))) for k, share in shares.items() if share}
    if len(names) <= len(lacking):
        raise DataError(
            f"needs at least {len(lacking) + 1} groups, one for each part, not {len(names)}; "
            f"group by something else, or not at all",
            source="splits",
        )
    if min(shares.values()) < 0 or sum(lacking.values()) >= len(groups):
        raise _no_split(len(groups), validation, test)
    order = np.random.default_rng(seed_for(check_seed(seed), "grouped split")).permutation(
        len(sizes)
    )
    largest = order[sizes[order].argmax()]
    left = {int(group): None for group in order if group != largest}
    part_of = np.zeros(len(sizes), dtype=np.int64)

    def put(group: int, part: int) -> None:
        part_of[group] = part
        lacking[part] -= int(sizes[group])
        del left[group]

    for part in sorted(lacking, reverse=True):
        smallest = sizes[list(left)].min()
        most = lacking[part] if smallest <= lacking[part] else _NEARLY_AS_SMALL * smallest
        put(next(group for group in left if sizes[group] <= most), part)
    for times in (1, 2):  # what fits, and then what brings a part nearer to its share
        for group in tuple(left):
            part = max(lacking, key=lacking.__getitem__, default=0)
            if part and sizes[group] < times * lacking[part] + (times == 1):
                put(group, part)
    return Split(*(tuple(np.flatnonzero(part_of[member] == k).tolist()) for k in range(3)))


def grouped_folds(
    groups: NDArray[np.integer], *, folds: int = 10, seed: int = 0, validation: float = 0.1
) -> tuple[Split, ...]:
    """Split graphs into folds such that groups stay together in every part.

    Every graph is tested in exactly one fold. Groups are assigned by falling size, each to the fold
    with fewest graphs so far; which of equal groups goes where is random.

    Args:
        groups: The group of each graph.
        folds: Number of folds.
        seed: Random seed.
        validation: Share of the graphs outside the test part used for validation, about.
    """
    names, member = np.unique(groups, return_inverse=True)
    if not 2 <= folds <= len(names):
        raise _no_folds(folds, len(names), "group")
    seed = check_seed(seed)
    fold_of = _spread(member, np.ones(folds), seed_for(seed, "grouped folds", folds))
    splits = []
    for fold in range(folds):
        rest = np.flatnonzero(fold_of != fold)
        stream = seed_for(seed, "grouped folds", folds, "fold", fold, "validation")
        chosen = validation_groups(member[rest], validation, stream)
        if validation and not chosen.any():
            raise DataError(
                f"fold {fold} has no groups left to validate on; use fewer folds", source="folds"
            )
        splits.append(
            Split(
                train=tuple(rest[~chosen].tolist()),
                validation=tuple(rest[chosen].tolist()),
                test=tuple(np.flatnonzero(fold_of == fold).tolist()),
            )
        )
    return tuple(splits)


def validation_groups(groups: NDArray[np.integer], share: float, seed: int) -> NDArray[np.bool_]:
    """Return which graphs to validate on: about a share of them, whole groups, drawn by a seed.

    It is one group at least, the smallest, unless there is only one or the share is 0.
    """
    member = np.unique(groups, return_inverse=True)[1]
    chosen: NDArray[np.bool_] = _spread(member, np.array([1 - share, share]), seed) == 1
    sizes = np.bincount(member)
    if share and len(sizes) > 1 and not chosen.any():
        chosen = member == sizes.argmin()
    return chosen


def _spread(
    member: NDArray[np.integer], shares: NDArray[np.float64], seed: int
) -> NDArray[np.int64]:
    """Return the part of each graph: groups by falling size, to the part that lacks most."""
    sizes = np.bincount(member)
    shuffled = np.random.default_rng(seed).permutation(len(sizes))
    part_of = np.zeros(len(sizes), dtype=np.int64)
    filled = np.zeros(len(shares))
    for group in shuffled[np.argsort(-sizes[shuffled], kind="stable")]:
        lacking = shares / shares.sum() * sizes.sum() - filled
        part_of[group] = int(lacking.argmax())
        filled[part_of[group]] += sizes[group]
    parts: NDArray[np.int64] = part_of[member]
    return parts


def _part_sizes(graphs: int, validation: float, test: float) -> tuple[int, int, int]:
    held_out = round(validation * graphs), round(test * graphs)
    rest = graphs - sum(held_out)
    if min(validation, test) < 0 or rest < 1 or (test and not held_out[1]):
        raise _no_split(graphs, validation, test)
    return rest, *held_out


def _no_split(graphs: int, validation: float, test: float) -> DataError:
    return DataError(
        f"{counted(graphs, 'graph')} cannot be split into training, validation={validation} and "
        f"test={test}; use more graphs",
        source="splits",
    )


def _no_folds(folds: int, count: int, what: str) -> DataError:
    """Return the error about a number of folds that cannot be made of some groups or graphs."""
    if count < 2:
        return DataError(f"needs at least 2 {what}s, not {count}; use other data", source="folds")
    most = "2" if count == 2 else f"2 to {count:,}"
    return DataError(f"needs {most}, the number of {what}s, not {folds}", source="folds")


def _in_order(order: NDArray[np.int64], counts: tuple[int, int, int]) -> Split:
    ends = np.cumsum(counts)
    parts = np.split(order, ends[:-1])
    return Split(*(tuple(sorted(part.tolist())) for part in parts))


def stratified_sample(classes: NDArray[np.integer], count: int, seed: int) -> NDArray[np.int64]:
    """Return the indices of ``count`` graphs, drawn from each class in proportion."""
    by_class = _shuffled_by_class(classes, seed)
    places = (np.arange(count) + 0.5) * (len(classes) / count)
    sample: NDArray[np.int64] = by_class[places.astype(int)]
    return sample


def save_splits(splits: Sequence[Split], path: str | os.PathLike[str]) -> None:
    """Write splits as JSON, in the format of the fair comparison of graph neural networks."""
    entries = [
        {
            "test": split.test,
            "model_selection": [{"train": split.train, "validation": split.validation}],
        }
        for split in splits
    ]
    atomic_write(Path(path), (json.dumps(entries) + "\n").encode())


def read_splits(
    path: str | os.PathLike[str], num_graphs: int | None = None, *, check: bool = True
) -> tuple[Split, ...]:
    """Read splits and check them.

    In each fold the three parts are disjoint and together hold every graph; over all folds every
    graph is tested exactly once.

    Args:
        path: A JSON file written by :func:`save_splits`, or of the fair comparison.
        num_graphs: Number of graphs; ``None`` takes the highest index found.
        check: Whether to check; splits of larger test graphs, for example, leave some out.
    """
    try:
        check_regular(Path(path))
        entries = strict_json(Path(path).read_text(encoding="utf-8"))
    except DataError:
        raise
    except (OSError, ValueError, RecursionError) as error:
        raise DataError(f"cannot be read as JSON ({error})", source=path) from error
    if not isinstance(entries, list) or not entries:
        raise DataError("needs a list of folds", source=path)
    splits = tuple(_parsed(entry, fold, path) for fold, entry in enumerate(entries))
    if check:
        check_splits(splits, num_graphs, source=path)
    return splits


def check_splits(
    splits: Sequence[Split], num_graphs: int | None, *, source: str | os.PathLike[str]
) -> None:
    """Raise a DataError for the first fold and graph that violates :func:`read_splits`."""
    if num_graphs is None:
        num_graphs = 1 + max(
            (g for s in splits for g in s.train + s.validation + s.test), default=-1
        )
    for fold, split in enumerate(splits):
        _check_once(split.train + split.validation + split.test, num_graphs, f"fold {fold}", source)
    tested = tuple(graph for split in splits for graph in split.test)
    _check_once(tested, num_graphs, "the test parts together", source)


def _check_once(
    graphs: tuple[int, ...], num_graphs: int, what: str, source: str | os.PathLike[str]
) -> None:
    # Memory depends on the length of the file, not on the size of the numbers in it.
    seen = set(graphs)
    outside = [graph for graph in seen if not 0 <= graph < num_graphs]
    if outside:
        problem = f"names graph {min(outside)}, but the graphs are 0 to {num_graphs - 1}"
    elif len(seen) < num_graphs:
        missing = next(graph for graph in count() if graph not in seen)
        problem = f"leaves out graph {missing}; every graph must be in one part"
    elif len(graphs) > len(seen):
        twice = next(one for one, other in pairwise(sorted(graphs)) if one == other)
        problem = f"holds graph {twice} more than once; the parts must not overlap"
    else:
        return
    raise DataError(f"{what} {problem}", source=source)


def _parsed(entry: object, fold: int, path: str | os.PathLike[str]) -> Split:
    inner = entry.get("model_selection") if isinstance(entry, dict) else None
    if not isinstance(entry, dict) or not isinstance(inner, list) or len(inner) != 1:
        raise DataError(
            f'fold {fold} needs "test" and "model_selection" with one pair of '
            f'"train" and "validation"',
            source=path,
        )
    parts = inner[0] if isinstance(inner[0], dict) else {}
    return Split(
        train=_graphs(parts.get("train"), fold, "train", path),
        validation=_graphs(parts.get("validation"), fold, "validation", path),
        test=_graphs(entry.get("test"), fold, "test", path),
    )


def _graphs(numbers: object, fold: int, part: str, path: str | os.PathLike[str]) -> tuple[int, ...]:
    if not isinstance(numbers, list) or not all(type(number) is int for number in numbers):
        raise DataError(
            f'fold {fold} needs "{part}" as a list of whole numbers, not {quoted(numbers)}',
            source=path,
        )
    return tuple(sorted(numbers))


def _assign_folds(classes: NDArray[np.integer], folds: int, seed: int) -> NDArray[np.int64]:
    """Return the fold of each graph: shuffled, sorted by class, then assigned in turn."""
    fold_of = np.empty(len(classes), dtype=np.int64)
    fold_of[_shuffled_by_class(classes, seed)] = np.arange(len(classes)) % folds
    return fold_of


def _shuffled_by_class(classes: NDArray[np.integer], seed: int) -> NDArray[np.int64]:
    shuffled = np.random.default_rng(seed).permutation(len(classes))
    return shuffled[np.argsort(classes[shuffled], kind="stable")]


def _split(
    rest: NDArray[np.int64],
    test: NDArray[np.int64],
    classes: NDArray[np.integer],
    share: float,
    seed: int,
) -> Split:
    count = round(share * len(rest))
    if share and not 0 < count < len(rest):
        empty = "validation" if count == 0 else "train"
        raise DataError(
            f"a share of {share} of {len(rest)} graphs leaves {empty} empty; "
            f"choose another share, or 0 for no validation",
            source="validation",
        )
    chosen = np.zeros(len(rest), dtype=bool)
    if count:
        chosen[stratified_sample(classes[rest], count, seed)] = True
    return Split(
        train=tuple(rest[~chosen].tolist()),
        validation=tuple(rest[chosen].tolist()),
        test=tuple(test.tolist()),
    )
