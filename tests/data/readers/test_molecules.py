import pytest

from lfds.data.readers.molecules import (
    ATOM_ATTRIBUTES,
    ATOM_LABELS,
    BOND_ATTRIBUTES,
    BOND_LABELS,
    graphs_of_molecules,
    molecule_from,
)

pytest.importorskip("rdkit", reason="rdkit comes with the extra `chem`")


def molecules(*smiles):
    return graphs_of_molecules([molecule_from(text) for text in smiles], None, "mols")


def test_atoms_are_nodes_and_bonds_are_edges():
    graphs = molecules("CCO", "c1ccccc1", "[Na+].[Cl-]")
    assert graphs.name == "mols"
    assert graphs.sizes.tolist() == [3, 6, 2]
    assert graphs.num_edges == 2 * (2 + 6 + 0)
    assert graphs.labels[:3, 0].tolist() == [6, 6, 8]
    assert graphs.labels.shape[1] == len(ATOM_LABELS)
    assert graphs.attributes.shape[1] == len(ATOM_ATTRIBUTES)
    charge, hydrogens, _, aromatic, ring = graphs.attributes.T.tolist()
    assert hydrogens[:3] == [3, 2, 1]
    assert aromatic[3:9] == ring[3:9] == [1] * 6
    assert charge[-2:] == [1, -1]
    assert graphs.edge_labels.shape[1] == len(BOND_LABELS)
    assert graphs.edge_attributes.shape[1] == len(BOND_ATTRIBUTES)
    # Bonds of benzene are aromatic, conjugated and in a ring, in both directions.
    assert graphs.edge_labels[4:].unique().tolist() == [12]
    assert graphs.edge_attributes[4:].min() == 1


def test_a_single_atom_has_no_bonds():
    graphs = molecules("C")
    assert (graphs.num_nodes, graphs.num_edges) == (1, 0)
    assert graphs.edge_labels.shape == (0, 1)


@pytest.mark.parametrize("text", ["", "not a molecule", "C(C", "C1CC"])
def test_what_spells_no_molecule_is_none_without_a_word(text, capfd):
    assert molecule_from(text) is None
    assert capfd.readouterr().err == ""
