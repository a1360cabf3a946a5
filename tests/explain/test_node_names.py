import numpy as np
import pytest

import lfds
from lfds.explain.compute import neighbourhood, node_positions, undirected_edges
from lfds.explain.node_names import (
    AROMATIC,
    bond_orders,
    categories,
    details,
    molecule_positions,
    naming_of,
    symbols,
)


@pytest.fixture(scope="module")
def molecules():
    pytest.importorskip("rdkit")
    from lfds.estimator.input_conversion import as_graphs

    return as_graphs(["c1ccccc1C#N", "CC(=O)OCl"])


def test_atoms_have_their_elements_and_bonds_their_orders(molecules):
    naming = naming_of(molecules)
    assert (naming.title, naming.legend[0]) == ("element", "C")
    first = molecules[[0]]
    edges = undirected_edges(first)
    assert sorted(symbols(first, naming)) == ["C"] * 7 + ["N"]
    assert sorted(bond_orders(first, edges, naming)) == [1, 3, *[AROMATIC] * 6]
    second = molecules[[1]]
    names, edges = symbols(second, naming), undirected_edges(second)
    orders = bond_orders(second, edges, naming)
    double = {names[n] for n in edges[orders == 2].ravel()}
    assert double == {"C", "O"}
    (chlorine,) = [n for n, name in enumerate(names) if name == "Cl"]
    assert "element Cl" in details(second, naming)[chlorine]
    assert "mass 35" in details(second, naming)[chlorine]
    assert naming.legend[categories(second, naming)[chlorine]] == "Cl"


def test_rings_of_molecules_are_regular(molecules):
    naming = naming_of(molecules)
    first = molecules[[0]]
    edges = undirected_edges(first)
    orders = bond_orders(first, edges, naming)
    positions = node_positions(first, edges, symbols(first, naming), orders)
    lengths = np.linalg.norm(positions[edges[:, 0]] - positions[edges[:, 1]], axis=1)
    assert np.ptp(lengths[orders == AROMATIC]) < 1e-3
    assert np.abs(positions).max() <= 1 + 1e-9


def test_what_rdkit_cannot_draw_is_laid_out():
    pytest.importorskip("rdkit")
    edges, orders = np.array([[0, 1]]), np.array([1])
    assert molecule_positions(["C", "nothing"], edges, orders) is None


def test_labels_of_known_sets_have_names_and_others_their_numbers():
    def labelled(name):
        return lfds.GraphSet.from_arrays(
            [3], [[0, 1], [1, 0]], labels=np.array([[1], [3], [3]]), name=name
        )

    known = labelled("ENZYMES")
    assert symbols(known, naming_of(known)) == ("helix", "turn", "turn")
    assert naming_of(known).legend == ("turn", "helix")
    assert categories(known, naming_of(known)).tolist() == [1, 0, 0]
    other = labelled("mine")
    assert symbols(other, naming_of(other)) == ("1", "3", "3")
    assert not bond_orders(other, undirected_edges(other), naming_of(other)).any()


def test_attributes_are_listed_and_many_are_cut():
    values = np.arange(24, dtype=float).reshape(2, 12)
    graph = lfds.GraphSet.from_arrays([2], [[], []], attributes=values)
    text = details(graph, naming_of(graph))[1]
    assert text.startswith("attribute 0 12, attribute 1 13")
    assert text.endswith("attribute 7 19, ...")
    assert naming_of(graph).legend == ()
    assert categories(graph, naming_of(graph)).tolist() == [-1, -1]
    assert symbols(graph, naming_of(graph)) == ("", "")


def test_neighbourhood_has_the_node_first_and_its_edges():
    edges = np.array([[0, 1], [1, 2], [2, 3], [1, 3]]).T
    both = np.concatenate([edges, edges[::-1]], axis=1)
    graph = lfds.GraphSet.from_arrays([5], both, labels=np.arange(5)[:, None])
    hood = neighbourhood(graph, 1, naming_of(graph))
    assert hood.symbols[0] == "1"
    assert set(hood.symbols) == {"0", "1", "2", "3"}
    named = {frozenset((hood.symbols[a], hood.symbols[b])) for a, b in hood.edges}
    assert named == {frozenset(p) for p in ("01", "12", "23", "13")}
    assert hood.positions[0].tolist() == [0, 0]
    alone = neighbourhood(graph, 4, naming_of(graph))
    assert (alone.symbols, alone.edges.shape) == (("4",), (0, 2))
