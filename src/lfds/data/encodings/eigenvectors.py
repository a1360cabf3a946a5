"""Eigenvectors of symmetric matrices, the same on every run: dense when small, Lanczos when large."""

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array, eye_array
from scipy.sparse.linalg import eigsh

Reals = NDArray[np.float64]

# Below this size a full decomposition is as fast as an iteration, and never fails to converge.
DENSE_BELOW = 100
_TIE = 1e-6


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
    if _is_small(matrix, count):
        values, vectors = np.linalg.eigh(matrix.toarray())
    else:
        values, vectors = eigsh(matrix, k=count, which="LM", v0=_start(matrix))
    order = np.argsort(-np.abs(values), kind="stable")[:count]
    return values[order], fixed_signs(vectors[:, order])


def smallest(matrix: csr_array, count: int) -> tuple[Reals, Reals]:
    """Return the ``count`` smallest eigenvalues of a positive semi-definite matrix, rising."""
    if _is_small(matrix, count):
        values, vectors = np.linalg.eigh(matrix.toarray())
    else:
        # The smallest ones lie close together; around a shift just below zero they lie apart.
        shift = 0.01
        shifted = csc_array(matrix + shift * eye_array(matrix.shape[0]))
        values, vectors = eigsh(shifted, k=count, sigma=0.0, which="LM", v0=_start(matrix))
        values = values - shift
    order = np.argsort(values, kind="stable")[:count]
    return values[order], fixed_signs(vectors[:, order])


def _is_small(matrix: csr_array, count: int) -> bool:
    # The iteration cannot start on a zero matrix, nor find nearly all of the vectors.
    return matrix.shape[0] < max(DENSE_BELOW, 3 * count) or matrix.nnz == 0


def _start(matrix: csr_array) -> Reals:
    # A constant vector would never leave the symmetric part of a symmetric graph.
    return np.random.default_rng(0).normal(size=matrix.shape[0])
