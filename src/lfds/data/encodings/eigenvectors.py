"""Eigenvectors of symmetric matrices, the same on every run, by dense or sparse means."""

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array, eye_array
from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh, splu

Reals = NDArray[np.float64]
Pairs = tuple[Reals, Reals]

# Below this size a full decomposition is as fast as an iteration, and never fails to converge.
DENSE_BELOW = 100
_TIE = 1e-6
_RESTARTS = 300
_SHIFT = 0.01


def fixed_signs(vectors: Reals) -> Reals:
    """Turn each column so that its entry of largest size is positive; of equals, the first."""
    sizes = np.abs(vectors)
    if vectors.size == 0:
        return vectors
    leader = (sizes >= sizes.max(axis=0) * (1 - _TIE)).argmax(axis=0)
    signs = np.sign(vectors[leader, np.arange(vectors.shape[1])])
    return vectors * np.where(signs == 0, 1.0, signs)


def largest(matrix: csr_array, count: int) -> Pairs:
    """Return the ``count`` eigenvalues of largest size, falling, and their vectors as columns."""
    found = None if _is_small(matrix, count) else _iterated(matrix, count)
    values, vectors = np.linalg.eigh(matrix.toarray()) if found is None else found
    return _largest_of(values, fixed_signs(vectors), count)


def smallest(matrix: csr_array, count: int) -> Pairs:
    """Return the ``count`` smallest eigenvalues of a positive semi-definite matrix, rising."""
    found = None if _is_small(matrix, count) else _nearest_zero(matrix, count)
    values, vectors = np.linalg.eigh(matrix.toarray()) if found is None else found
    order = np.argsort(values, kind="stable")[:count]
    return values[order], fixed_signs(vectors[:, order])


def _largest_of(values: Reals, vectors: Reals, count: int) -> Pairs:
    order = np.argsort(-np.abs(values), kind="stable")[:count]
    return values[order], vectors[:, order]


def _is_small(matrix: csr_array, count: int) -> bool:
    # The iteration cannot start on a zero matrix, nor find nearly all of the vectors.
    return bool(matrix.shape[0] < max(DENSE_BELOW, 3 * count) or matrix.nnz == 0)


def _nearest_zero(matrix: csr_array, count: int) -> Pairs | None:
    """Find the smallest eigenvalues as the largest of the inverse."""
    # The smallest ones lie close together; seen from just below zero they lie far apart.
    shifted = splu(csc_array(matrix + _SHIFT * eye_array(matrix.shape[0])))
    inverse = LinearOperator(matrix.shape, matvec=shifted.solve, dtype=np.float64)
    found = _iterated(inverse, count)
    return None if found is None else (1 / found[0] - _SHIFT, found[1])


def _iterated(operator: csr_array | LinearOperator, count: int) -> Pairs | None:
    """Iterate towards the eigenvalues of largest size; None if that leads nowhere."""
    # A constant start would never leave the symmetric part of a symmetric graph.
    starts = np.random.default_rng(0)
    try:
        found = _some(operator, count, starts)
        # Of several vectors with one eigenvalue a start leads to one, and rounding to the others,
        # or to some of them: look from another start at what is left.
        while _is_passed_over(rest := _without(operator, found), found, starts):
            found = _largest_of(*_joined(found, _some(rest, count, starts)), count)
    except ArpackError:
        # Many equal eigenvalues, as of a star, give the iteration nothing to tell them apart by.
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


def _without(operator: csr_array | LinearOperator, found: Pairs) -> LinearOperator:
    r"""Return :math:`A - V \Lambda V^T`, which has the other eigenvalues of A, and zeros."""
    values, vectors = found
    return LinearOperator(
        operator.shape,
        matvec=lambda x: operator @ x - vectors @ (values * (vectors.T @ x)),
        dtype=np.float64,
    )


def _is_passed_over(rest: LinearOperator, found: Pairs, starts: Generator) -> bool:
    """Whether what is left has an eigenvalue larger than one of those found."""
    values, _ = _some(rest, 1, starts, tolerance=_TIE)
    return bool(_are_larger(values, found)[0])


def _joined(found: Pairs, more: Pairs) -> Pairs:
    """Add what is larger; the rest may be zeros, whose vectors were found with other values."""
    larger = _are_larger(more[0], found)
    values = np.concatenate([found[0], more[0][larger]])
    return values, np.hstack([found[1], more[1][:, larger]])


def _are_larger(values: Reals, found: Pairs) -> NDArray[np.bool_]:
    # By more than rounding: zeros are as good as each other.
    sizes = np.abs(found[0])
    larger: NDArray[np.bool_] = np.abs(values) > sizes.min() + _TIE * sizes.max()
    return larger
