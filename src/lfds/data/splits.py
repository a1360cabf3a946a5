"""Training, validation and test parts: stratified folds, saved as JSON and checked on reading."""

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count, pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lfds.data.atomic_io import atomic_write
from lfds.data.errors import DataError, check_seed, quoted
from lfds.seeds import seed_for


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
        raise DataError(
            f"needs 2 to {len(classes)}, the number of graphs, not {folds}", source="folds"
        )
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
        entries = json.loads(Path(path).read_text(encoding="utf-8"))
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
