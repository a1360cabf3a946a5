import networkx as nx
import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.sparse.linalg import ArpackNoConvergence

from lfds.data import DataError
from lfds.data.encodings import eigenvectors
from lfds.data.encodings.eigenvectors import fixed_signs, largest, smallest
from lfds.data.encodings.laplacian import laplacian_matrix
from tests.data.encodings.graphs import named, permuted, random_graph


def test_the_largest_entry_becomes_positive():
    vectors = np.array([[0.1, -0.2], [-0.9, 0.7], [0.2, -0.8]])
    np.testing.assert_array_equal(fixed_signs(vectors), vectors * [-1, -1])


def test_of_nearly_equal_entries_the_first_decides_the_sign():
    for rounding in (-1e-12, 1e-12):
        turned = fixed_signs(np.array([[-0.5 - rounding], [0.5], [0.1]]))
        assert turned[0, 0] > 0


def test_an_empty_matrix_has_no_signs():
    assert fixed_signs(np.zeros((0, 0))).shape == (0, 0)
    assert fixed_signs(np.zeros((3, 2))).tolist() == [[0, 0]] * 3


def residual(matrix, values, vectors):
    return np.abs(matrix @ vectors - vectors * values).max()


@pytest.mark.parametrize("solve", [largest, smallest])
@pytest.mark.parametrize("count", [150, 400])
def test_sparse_and_dense_solvers_agree(solve, count, monkeypatch):
    matrix = laplacian_matrix(random_graph(count, 0.04, 1))
    values, vectors = solve(matrix, 9)
    assert residual(matrix, values, vectors) < 1e-8
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(9), atol=1e-8)
    monkeypatch.setattr(eigenvectors, "DENSE_BELOW", 10**9)
    np.testing.assert_allclose(values, solve(matrix, 9)[0], atol=1e-8)


@pytest.mark.parametrize("solve", [largest, smallest])
@pytest.mark.parametrize(
    "graph",
    [
        nx.star_graph(300),
        nx.complete_graph(200),
        nx.cycle_graph(300),
        nx.hypercube_graph(8),
        nx.disjoint_union(nx.path_graph(120), nx.empty_graph(40)),
    ],
    ids=["star", "complete", "ring", "cube", "pieces"],
)
def test_many_equal_eigenvalues_are_computed(solve, graph):
    matrix = laplacian_matrix(named(graph))
    values, vectors = solve(matrix, 9)
    assert residual(matrix, values, vectors) < 1e-7
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(9), atol=1e-7)


SPIDER = nx.Graph()
for leg in range(20):
    nx.add_path(SPIDER, [0, *(10 * leg + joint for joint in range(1, 10))])
REPEATED = {
    "spider": SPIDER,
    "tree": nx.balanced_tree(5, 3),
    "stars": nx.disjoint_union_all([nx.star_graph(9)] * 20),
}


def misses(solve, count=13):
    """Count node orders in which an eigenvalue is found with too low multiplicity."""
    found = 0
    for graph in REPEATED.values():
        matrix = laplacian_matrix(named(graph))
        values = np.linalg.eigvalsh(matrix.toarray())
        expected = values[:count] if solve is smallest else values[::-1][:count]
        for seed in range(5):
            order = np.random.default_rng(seed).permutation(matrix.shape[0])
            difference = solve(permuted(matrix, order), count)[0] - expected
            found += bool(np.abs(difference).max() > 1e-6)
    return found


@pytest.mark.parametrize("solve", [largest, smallest])
def test_multiple_eigenvalues_are_found_with_their_multiplicity(solve, monkeypatch):
    assert misses(solve) == 0
    monkeypatch.setattr(eigenvectors, "_is_incomplete", lambda *arguments: False)
    assert misses(solve) > 0


def test_the_iteration_stops_at_zero_eigenvalues(monkeypatch):
    """Of a matrix of rank two all other eigenvalues are zero, up to rounding."""
    runs = []
    real = eigenvectors._some
    monkeypatch.setattr(eigenvectors, "_some", lambda *a, **k: runs.append(1) or real(*a, **k))
    values, _ = largest(named(nx.complete_bipartite_graph(60, 80)), 9)
    np.testing.assert_allclose(np.abs(values), [4800**0.5] * 2 + [0] * 7, atol=1e-9)
    assert len(runs) <= 2


def test_missed_eigenvectors_are_added(monkeypatch):
    """Also at low rank, where the deflated matrix has zeros along the vectors found."""
    sizes = np.array([5.0] * 4 + [3.0] * 4 + [0.0] * 192)
    turn = np.linalg.qr(np.random.default_rng(0).normal(size=(200, 200)))[0]
    matrix = csr_array(turn * sizes @ turn.T)
    real = eigenvectors._some

    def forgetful(operator, count, starts, tolerance=0.0):
        if operator is not matrix:
            return real(operator, count, starts, tolerance)
        seen = np.delete(np.arange(count + 1), 3)
        return sizes[seen], turn[:, seen]

    monkeypatch.setattr(eigenvectors, "_some", forgetful)
    values, vectors = largest(matrix, 12)
    np.testing.assert_allclose(values, [5] * 4 + [3] * 4 + [0] * 4, atol=1e-12)
    assert residual(matrix, values, vectors) < 1e-9
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(12), atol=1e-9)


def test_the_dense_solver_replaces_an_iteration_that_does_not_converge(monkeypatch):
    def hopeless(*arguments, **options):
        raise ArpackNoConvergence("no convergence", np.empty(0), np.empty((0, 0)))

    matrix = laplacian_matrix(random_graph(150, 0.05, 1))
    expected = smallest(matrix, 4)[0]
    monkeypatch.setattr(eigenvectors, "eigsh", hopeless)
    np.testing.assert_allclose(smallest(matrix, 4)[0], expected, atol=1e-8)


def test_eigenvectors_are_deterministic():
    matrix = laplacian_matrix(random_graph(300, 0.03, 2))
    np.testing.assert_array_equal(largest(matrix, 5)[1], largest(matrix, 5)[1])


def test_a_zero_matrix_has_zero_eigenvalues():
    values, vectors = largest(csr_array((200, 200)), 3)
    assert values.tolist() == [0, 0, 0]
    assert vectors.shape == (200, 3)


def test_a_matrix_that_memory_cannot_hold_is_refused_before_it_is_made(monkeypatch):
    monkeypatch.setenv("LFDS_MAX_MEMORY", "1GB")
    empty = csr_array((10**6, 10**6))
    for solver in (largest, smallest):
        with pytest.raises(DataError, match="a graph of 1,000,000 nodes takes at least 24,000 GB"):
            solver(empty, 4)
