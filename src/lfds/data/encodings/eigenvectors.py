"""Eigenvectors of symmetric matrices, the same on every run, by dense or sparse means."""

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array
from scipy.sparse.linalg import ArpackError, eigsh

Reals = NDArray[np.float64]

# Below this size a full decomposition is as fast as an iteration, and never fails to converge.
DENSE_BELOW = 100
_TIE = 1e-6
_RESTARTS = 300


def fixed_signs(vectors: Reals) -> Reals:
    """Turn each column so that its entry of largest size is positive; of equals, the first."""
    sizes = np.abs(vectors)
    if vectors.size == 0:
        return vectors
    leader = (sizes >= sizes.max(axis=0) * (1 - _TIE)).argmax(axis=0)
    signs = np.sign(vectors[leader, np.arange(vectors.shape[1])])
    return vectors * np.where(signs == 0, 1.0, signs)


def largest(matrix: csr_array, count: int) -> tuple[Reals, Reals]:
    """Return the ``count`` eigenvalues of largest size, falling, and their vectors as columns."""
    found = None if _is_small(matrix, count) else _iterated(matrix, count, None)
    values, vectors = np.linalg.eigh(matrix.toarray()) if found is None else found
    order = np.argsort(-np.abs(values), kind="stable")[:count]
    return values[order], fixed_signs(vectors[:, order])


def smallest(matrix: csr_array, count: int) -> tuple[Reals, Reals]:
    """Return the ``count`` smallest eigenvalues of a positive semi-definite matrix, rising."""
    # The smallest ones lie close together; seen from just below zero they lie far apart.
    found = None if _is_small(matrix, count) else _iterated(csc_array(matrix), count, -0.01)
    values, vectors = np.linalg.eigh(matrix.toarray()) if found is None else found
    order = np.argsort(values, kind="stable")[:count]
    return values[order], fixed_signs(vectors[:, order])


def _is_small(matrix: csr_array, count: int) -> bool:
    # The iteration cannot start on a zero matrix, nor find nearly all of the vectors.
    return bool(matrix.shape[0] < max(DENSE_BELOW, 3 * count) or matrix.nnz == 0)


def _iterated(
    matrix: csr_array | csc_array, count: int, near: float | None
) -> tuple[Reals, Reals] | None:
    """Iterate towards the largest, or those nearest to a number; None if that leads nowhere."""
    # A constant start would never leave the symmetric part of a symmetric graph.
    start = np.random.default_rng(0).normal(size=int(matrix.shape[0]))
    try:
        values, vectors = eigsh(
            matrix, k=count, sigma=near, which="LM", v0=start, maxiter=_RESTARTS, rng=0
        )
    except ArpackError:
        # Many equal eigenvalues, as of a star, give the iteration nothing to tell them apart by.
        return None
    return values, vectors
