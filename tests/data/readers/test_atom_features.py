import pytest
import torch

from lfds.data.readers.atom_features import FEATURES, graphs_of_molecules
from lfds.data.readers.rdkit_molecules import molecule_from

Chem = pytest.importorskip("rdkit.Chem", reason="rdkit comes with the extra `chem`")


def molecules(*smiles, features="full"):
    read = [molecule_from(text) for text in smiles]
    return graphs_of_molecules(read, None, "mols", features)


def rows(graphs):
    """Return what a network can see of the atoms and bonds, in an order of its own."""
    atoms = [
        (*a, *b) for a, b in zip(graphs.labels.tolist(), graphs.attributes.tolist(), strict=True)
    ]
    bonds = torch.cat([graphs.edge_labels, graphs.edge_attributes], dim=1).tolist()
    return sorted(atoms), sorted(bonds)


@pytest.mark.parametrize("features", FEATURES)
def test_atoms_are_nodes_and_bonds_are_edges(features):
    graphs = molecules("CCO", "c1ccccc1", "[Na+].[Cl-]", features=features)
    assert graphs.name == "mols"
    assert graphs.provenance["atom_features"] == features
    assert graphs.sizes.tolist() == [3, 6, 2]
    assert graphs.num_edges == 2 * (2 + 6 + 0)
    assert graphs.labels[:3, 0].tolist() == [6, 6, 8]
    table = FEATURES[features]
    assert graphs.labels.shape[1] == len(table.atom_labels)
    assert graphs.attributes.shape[1] == len(table.atom_attributes)
    numbers = [*table.atom_labels, *table.atom_attributes]
    values = dict(
        zip(numbers, [*graphs.labels.T.tolist(), *graphs.attributes.T.tolist()], strict=True)
    )
    assert values["hydrogens"][:3] == [3, 2, 1]
    assert values["aromatic"][3:9] == values["in a ring"][3:9] == [1] * 6
    assert values["formal charge"][-2:] == [1, -1]
    assert graphs.edge_labels.shape[1] == len(table.bond_labels)
    assert graphs.edge_attributes.shape[1] == len(table.bond_attributes)
    # Bonds of benzene are aromatic, conjugated and in a ring, in both directions.
    assert graphs.edge_labels[4:, 0].unique().tolist() == [12]
    assert graphs.edge_attributes[4:].min() == 1


def test_a_single_atom_has_no_bonds():
    graphs = molecules("C")
    assert (graphs.num_nodes, graphs.num_edges) == (1, 0)
    assert graphs.edge_labels.shape == (0, 2)


STEREOISOMERS = [
    ("F/C=C/F", "F/C=C\\F"),
    ("C[C@H](N)C(=O)O", "C[C@@H](N)C(=O)O"),
    ("OC[C@H]1OC(O)[C@H](O)[C@@H](O)[C@@H]1O", "OC[C@H]1OC(O)[C@H](O)[C@@H](O)[C@H]1O"),
]


@pytest.mark.parametrize(("one", "other"), STEREOISOMERS)
def test_stereoisomers_differ_in_atoms_and_where_basic_features_do_not(one, other):
    assert rows(molecules(one))[0] != rows(molecules(other))[0]
    one, other = (rows(molecules(text, features="basic")) for text in (one, other))
    assert one == other


@pytest.mark.parametrize("text", [text for pair in STEREOISOMERS for text in pair])
def test_features_do_not_depend_on_the_order_of_atoms(text):
    # The tags that rdkit stores do: they would fail here.
    for seed in range(5):
        spelled = Chem.MolToRandomSmilesVect(Chem.MolFromSmiles(text), 1, seed)[0]
        assert rows(molecules(spelled)) == rows(molecules(text))
