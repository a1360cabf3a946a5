import pytest

from lfds.data.readers.rdkit_molecules import invalid_reason, molecule_from, scaffold_of

pytest.importorskip("rdkit", reason="rdkit comes with the extra `chem`")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "it is empty"),
        ("C\ud800", "it is not valid Unicode"),
        ("not a molecule", "syntax error at position 3"),
        ("C(C", "extra open parentheses at position 2"),
        ("C1CC", "unclosed ring"),
        ("c1cccc1", "Can't kekulize mol.  Unkekulized atoms: 0 1 2 3 4"),
        ("C(C)(C)(C)(C)C", "Explicit valence for atom # 0 C, 5, is greater than permitted"),
    ],
)
def test_an_invalid_smiles_gives_none_a_reason_and_no_output(text, reason, capfd):
    assert molecule_from(text) is None
    assert invalid_reason(text) == reason
    assert molecule_from(text) is None  # rdkit logs as before
    assert capfd.readouterr() == ("", "")


def test_the_scaffold_is_rings_and_what_links_them():
    toluene, phenol, hexane = map(molecule_from, ("Cc1ccccc1", "Oc1ccccc1", "CCCCCC"))
    assert scaffold_of(toluene) == scaffold_of(phenol) == "c1ccccc1"
    assert scaffold_of(hexane) == ""
