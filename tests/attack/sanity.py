"""What a sane result is: valid and finite, and everything that comes next can use it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from lfds.data import GraphSet
from lfds.data.encodings.encoder import Encoder
from lfds.data.errors import DataError
from lfds.data.summary import summarize
from lfds.data.validation import check_finite, check_valid
from tests.attack.outcome import InsaneError


@contextmanager
def must_hold(what: str) -> Iterator[None]:
    """Make any error of the block an InsaneError."""
    try:
        yield
    except MemoryError:
        raise
    except Exception as error:
        raise InsaneError(f"{what}: {type(error).__name__}: {error}") from error


def check_graphs(graphs: GraphSet) -> None:
    """Raise an InsaneError unless a set is valid, finite, and the same after saving."""
    with must_hold("valid"):
        assert len(graphs) > 0
        check_valid(graphs, source="result")
        check_finite(graphs, source="result")
    with must_hold("summary"):
        summarize(graphs)
    with must_hold("saved and loaded"), TemporaryDirectory() as folder:
        graphs.save(Path(folder) / "set")
        assert GraphSet.load(Path(folder) / "set").equals(graphs)
    check_encoded(graphs)


def check_encoded(graphs: GraphSet) -> None:
    """Raise an InsaneError if features of nodes are not finite; graphs may be refused."""
    try:
        encoded = Encoder().fit(graphs).transform(graphs)
    except DataError:
        return  # for example, graphs without any features
    with must_hold("encoded"):
        assert bool(encoded.x.isfinite().all())


def check_probabilities(rows: object, graphs: int) -> None:
    """Raise an InsaneError unless rows are finite, from 0 to 1, and sum to one."""
    with must_hold("probabilities"):
        table = np.asarray(rows)
        assert table.shape[0] == graphs
        assert np.isfinite(table).all()
        assert (table >= 0).all()
        assert np.allclose(table.sum(axis=1), 1, atol=1e-5)


def check_numbers(values: object) -> None:
    """Raise an InsaneError unless all values are finite."""
    with must_hold("finite"):
        assert np.isfinite(np.asarray(values, dtype=float)).all()
