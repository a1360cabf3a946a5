import pytest

from lfds.data.errors import DataError, quoted


def test_a_message_names_file_and_line_first():
    error = DataError("needs a number", source="a/b.txt", line=3)
    assert str(error) == "a/b.txt, line 3: needs a number"
    assert (error.source, error.line) == ("a/b.txt", 3)


@pytest.mark.parametrize("text", ["two\nlines", "a\r\nb", "tab\tand\x0bmore"])
def test_a_message_is_one_line_whatever_it_quotes(text):
    message = str(DataError(f"holds {text}", source=text))
    assert len(message.splitlines()) == 1


def test_without_a_place_the_problem_stands_alone():
    assert str(DataError("needs rdkit")) == "needs rdkit"


def test_a_data_error_is_a_value_error():
    assert issubclass(DataError, ValueError)


def test_a_long_value_is_cut():
    assert quoted("x" * 500) == repr("x" * 60 + "...")


def test_a_value_is_printable():
    assert quoted("\x00\n") == "'\\x00\\n'"
