"""Tables whose cells are separated by commas, semicolons or tabs are the same table."""

import pytest

from lfds.data.readers.csv_table import open_table, separator_of

ROWS = [["id", "smiles", "y"], ["a", "C", "-1.5"], ["b, c", "CC", "2"]]


def quoted_cell(cell, separator):
    return f'"{cell}"' if separator in cell else cell


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("decimal", [".", ","])
def test_separators_are_found(separator, decimal, tmp_path):
    if (separator, decimal) == (",", ","):
        pytest.skip("a number would be two cells")
    rows = [[cell.replace(".", decimal) for cell in row] for row in ROWS]
    lines = [separator.join(quoted_cell(cell, separator) for cell in row) for row in rows]
    file = tmp_path / "table.csv"
    file.write_text("\n".join(lines) + "\n")
    with open_table(file) as table:
        found = [cells for _, cells in table]
    assert table.header == ROWS[0]
    # A comma is the point of a number only where it cannot be what separates cells in English.
    number = "-1,5" if (separator, decimal) == ("\t", ",") else "-1.5"
    assert found == [["a", "C", number], ["b, c", "CC", "2"]]


@pytest.mark.parametrize(
    ("text", "separator"),
    [
        ("", ","),
        ("smiles\nCC\n", ","),
        ("smiles,y\nCC,1\n", ","),
        ("smiles;y, in g\nCC;1,5\nCCC;2,5\n", ";"),
        ("smiles;y, in g\nCC;1\n", ";"),
        ("smiles,note\nCC,a;b;c;d\n", ","),
        ('"a;b",c\n"1;2",3\n', ","),
        ("a\tb;c\n1\t2\n", "\t"),
    ],
)
def test_what_gives_all_lines_as_many_cells_separates(text, separator):
    assert separator_of(text) == separator
