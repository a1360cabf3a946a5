"""Deterministic eigenvectors of symmetric matrices, by dense or sparse solvers."""

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array, eye_array
from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh, splu

from lfds.config.budget import over_budget
from lfds.data.errors import DataError

Reals = NDArray[np.float64]
Pairs = tuple[Reals, Reals]

# Below this size a full decomposition is as fast as an iteration, and always converges.
DENSE_BELOW = 100
_TOLERANCE = 1e-6
_RESTARTS = 300
_SHIFT = 0.01


def fixed_signs(vectors: Reals) -> Reals:
    """Flip columns so that the (first) entry of largest absolute value is positive."""
    sizes = np.abs(vectors)
    if vectors.size == 0:
        return vectors
    leader = (sizes >= sizes.max(axis=0) * (1 - _TOLERANCE)).argmax(axis=0)
    signs = np.sign(vectors[leader, np.arange(vectors.shape[1])])
    return vectors * np.where(signs == 0, 1.0, signs)


def largest(matrix: csr_array, count: int) -> Pairs:
    """Return the ``count`` eigenvalues of largest absolute value, sorted, and their vectors."""
    found = None if _is_small(matrix, count) else _iterated(matrix, count)
    values, vectors = np.linalg.eigh(_dense(matrix)) if found is None else found
    return _largest_of(values, fixed_signs(vectors), count)


def smallest(matrix: csr_array, count: int) -> Pairs:
    """Return the ``count`` smallest eigenvalues of a positive semi-definite matrix, sorted."""
    found = None if _is_small(matrix, count) else _nearest_zero(matrix, count)
    values, vectors = np.linalg.eigh(_dense(matrix)) if found is None else found
    order = np.argsort(values, kind="stable")[:count]
    return values[order], fixed_signs(vectors[:, order])


def _dense(matrix: csr_array) -> Reals:
    nodes = matrix.shape[0]
    # The matrix, its copy and the vectors.
    missing = over_budget(3 * 8 * nodes**2)
    if missing is not None:
        raise DataError(
            f"a graph of {nodes:,} nodes {missing}; use another encoding", source="encoding"
        )
    dense: Reals = matrix.toarray()
    return dense


def _largest_of(values: Reals, vectors: Reals, count: int) -> Pairs:
    order = np.argsort(-np.abs(values), kind="stable")[:count]
    return values[order], vectors[:, order]


def _is_small(matrix: csr_array, count: int) -> bool:
    # The iteration cannot start on a zero matrix, nor find nearly all of the vectors.
    return bool(matrix.shape[0] < max(DENSE_BELOW, 3 * count) or matrix.nnz == 0)


def _nearest_zero(matrix: csr_array, count: int) -> Pairs | None:
    """Find the smallest eigenvalues as the largest of the inverse."""
    # The smallest ones are close together; their inverses are far apart.
    shifted = splu(csc_array(matrix + _SHIFT * eye_array(matrix.shape[0])))
    inverse = LinearOperator(matrix.shape, matvec=shifted.solve, dtype=np.float64)
    found = _iterated(inverse, count)
    return None if found is None else (1 / found[0] - _SHIFT, found[1])


def _iterated(operator: csr_array | LinearOperator, count: int) -> Pairs | None:
    """Iterate to the eigenvalues of largest absolute value; None if it does not converge."""
    # A constant start would never leave the symmetric part of a symmetric graph.
    starts = np.random.default_rng(0)
    try:
        found = _some(operator, count, starts)
        # From one start the iteration may find only some vectors of a multiple eigenvalue:
        # continue from another start with the remaining ones.
        while _is_incomplete(rest := _deflated(operator, found), found, starts):
            found = _largest_of(*_merged(found, _some(rest, count, starts)), count)
    except ArpackError:
        # With many equal eigenvalues, as of a star, the iteration does not converge.
        return None
    return found


def _some(
    operator: csr_array | LinearOperator, count: int, starts: Generator, tolerance: float = 0.0
) -> Pairs:
    start = starts.normal(size=int(operator.shape[0]))
    values, vectors = eigsh(
        operator, k=count, which="LM", v0=start, maxiter=_RESTARTS, tol=tolerance, rng=0
    )
    return values, vectors


def _deflated(operator: csr_array | LinearOperator, found: Pairs) -> LinearOperator:
    r"""Return :math:`A - V \Lambda V^T`, which has the other eigenvalues of A, and zeros."""
    values, vectors = found
    return LinearOperator(
        operator.shape,
        matvec=lambda x: operator @ x - vectors @ (values * (vectors.T @ x)),
        dtype=np.float64,
    )


def _is_incomplete(rest: LinearOperator, found: Pairs, starts: Generator) -> bool:
    """Whether the rest has a larger eigenvalue than one of those found."""
    values, _ = _some(rest, 1, starts, tolerance=_TOLERANCE)
    return bool(_are_larger(values, found)[0])


def _merged(found: Pairs, more: Pairs) -> Pairs:
    """Add larger eigenvalues; the others may be zeros of the deflated matrix."""
    larger = _are_larger(more[0], found)
    values = np.concatenate([found[0], more[0][larger]])
    return values, np.hstack([found[1], more[1][:, larger]])


def _are_larger(values: Reals, found: Pairs) -> NDArray[np.bool_]:
    # By more than rounding.
    sizes = np.abs(found[0])
    larger: NDArray[np.bool_] = np.abs(values) > sizes.min() + _TOLERANCE * sizes.max()
    return larger
