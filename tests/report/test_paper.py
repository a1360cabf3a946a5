from pathlib import Path

import pytest

from lfds.report.paper import in_paper, published, remarks

NOTES = Path(__file__).parents[3] / "shared" / "paper" / "NOTES.md"
NAMES = {"max pooling": "max", "Sort-Node": "sort", "DiffPool": "diff", "Rank-Pool": "topk"}


def test_published_accuracies():
    assert str(published("image", "PROTEINS")) == "81.4 ± 3.4"
    assert str(published("sag", "pc-graphs")) == "39.8 ± 11.8"
    assert published("gmt", "ENZYMES") is None
    assert published("loop", "MUTAG") is None
    assert in_paper("Synthie")
    assert not in_paper("MUTAG")


def test_published_accuracies_are_those_of_the_paper():
    if not NOTES.exists():
        pytest.skip("the notes about the paper are not here")
    lines = NOTES.read_text().split("## Its Table 1")[1].splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if "+-" in line]
    rows = [row for row in rows if len(row) == 6]
    assert len(rows) == 10
    for name, *cells in rows:
        for dataset, cell in zip(
            ("pc-graphs", "PROTEINS", "DD", "ENZYMES", "SYNTHETIC"), cells, strict=True
        ):
            assert str(published(NAMES.get(name, name), dataset)) == cell.replace("+-", " ± ")


def test_remarks_are_about_the_poolings_and_datasets_shown():
    assert remarks({"max"}, {"ENZYMES"}) == []
    assert "does not say which" in remarks({"max"}, {"SYNTHETICnew"})[0]
    assert len(remarks({"max", "sag"}, {"pc-graphs", "Synthie"})) == 3
