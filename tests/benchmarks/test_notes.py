import pytest
from benchmarks.table1.notes import read_notes

from lfds.results.errors import ResultsError

KNOWN = ("summary", "DD")


def read(folder, text):
    (folder / "notes.md").write_text(text, encoding="utf-8")
    return read_notes(folder / "notes.md", KNOWN)


def test_sections_are_found_by_their_headings(tmp_path):
    text = (
        "# For readers\n\nHow it works.\n\n## DD\n\nBecause.\n\n### Deeper\n\nMore.\n\n## summary\n"
    )
    assert read(tmp_path, text) == {"DD": "Because.\n\n### Deeper\n\nMore."}


def test_two_sections_of_one_name_are_both_kept(tmp_path):
    assert read(tmp_path, "## DD\nOne.\n## DD\nTwo.\n") == {"DD": "One.\n\nTwo."}


def test_no_file_is_no_notes(tmp_path):
    assert read_notes(tmp_path / "none.md", KNOWN) == {}


def test_nothing_is_left_out_in_silence(tmp_path):
    with pytest.raises(ResultsError, match=r"no part .* 'Dd'; choose from summary, DD"):
        read(tmp_path, "## Dd\nBecause.\n")


def test_what_cannot_be_read_is_refused(tmp_path):
    with pytest.raises(ResultsError, match="cannot be read"):
        read_notes(tmp_path, KNOWN)
