import pytest

from lfds.data.errors import DataError, quoted, reading


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


def test_what_the_system_says_is_a_data_error_with_the_file_it_is_about(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match="inner: cannot be read"), reading("outer"):
        (tmp_path / "file" / "inner").read_text()
    with pytest.raises(DataError, match=r"^outer: cannot be read \(no reason\)"), reading("outer"):
        raise OSError("no reason")


def test_other_errors_pass():
    with pytest.raises(KeyError), reading("outer"):
        raise KeyError
