import numpy as np
import pytest

from lfds.data.errors import DataError, check_choice, check_seed, check_text, quoted, reading
from lfds.data.readers.smiles import read_smiles
from lfds.data.readers.tu import read_tu
from lfds.data.splits import stratified_folds
from tests.data.tu_folders import FILES, write_folder


def test_a_message_names_file_and_line_first():
    error = DataError("needs a number", source="a/b.txt", line=3)
    assert str(error) == "a/b.txt, line 3: needs a number"
    assert (error.source, error.line) == ("a/b.txt", 3)


@pytest.mark.parametrize("text", ["two\nlines", "a\r\nb", "tab\tand\x0bmore"])
def test_a_message_is_one_line(text):
    message = str(DataError(f"holds {text}", source=text))
    assert len(message.splitlines()) == 1


def test_a_message_without_source_is_the_problem():
    assert str(DataError("needs rdkit")) == "needs rdkit"


def test_a_data_error_is_a_value_error():
    assert issubclass(DataError, ValueError)


def test_a_long_value_is_cut():
    assert quoted("x" * 500) == repr("x" * 60 + "...")


def test_a_value_is_printable():
    assert quoted("\x00\n") == "'\\x00\\n'"


def test_an_os_error_becomes_a_data_error_that_names_the_file(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match="inner: cannot be read"), reading("outer"):
        (tmp_path / "file" / "inner").read_text()
    with pytest.raises(DataError, match=r"^outer: cannot be read \(no reason\)"), reading("outer"):
        raise OSError("no reason")


def test_other_errors_are_not_changed():
    with pytest.raises(KeyError), reading("outer"):
        raise KeyError


def test_an_invalid_choice_suggests_the_closest_value():
    check_choice("skip", ("stop", "skip"), "bad")
    with pytest.raises(DataError, match=r"^bad: needs 'stop' or 'skip', not 'skipp'; did you mean"):
        check_choice("skipp", ("stop", "skip"), "bad")
    with pytest.raises(DataError, match=r"not '3'$"):
        check_choice(3, ("stop", "skip"), "bad")
    with pytest.raises(DataError, match="not 'None'"):
        check_choice(None, ("stop", "skip"), "bad")


def test_a_seed_is_an_integer():
    assert type(check_seed(np.int64(3))) is int
    for wrong in ("a", 1.5, True, None):
        with pytest.raises(DataError, match="seed: needs a whole number, not"):
            check_seed(wrong)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"self_loops": "drop"}, "self_loops: needs 'keep' or 'remove', not 'drop'"),
        ({"target": "attribute"}, "target: .*did you mean 'attributes'"),
        ({"seed": "a"}, "seed: needs a whole number"),
        ({"seed": 1.5}, "seed: needs a whole number"),
    ],
)
def test_invalid_options_are_an_error_before_reading(options, message, tmp_path):
    with pytest.raises(DataError, match=message):
        read_tu(tmp_path / "nowhere", **options)


def test_equal_seeds_give_equal_orders(tmp_path):
    folder = write_folder(tmp_path / "S", FILES)
    assert read_tu(folder, seed=np.int64(5)).equals(read_tu(folder, seed=5))
    assert stratified_folds([0, 1] * 9, seed=np.int64(5)) == stratified_folds([0, 1] * 9, seed=5)


def test_smiles_and_folds_check_their_options(tmp_path):
    with pytest.raises(DataError, match=r"bad: needs .*did you mean 'skip'"):
        read_smiles(tmp_path / "nowhere.csv", bad="skipp")
    with pytest.raises(DataError, match="seed: needs a whole number"):
        stratified_folds([0, 1] * 9, seed="a")


def test_text_that_no_file_can_hold_is_refused():
    check_text(("é", "", 3, None), source="classes")
    with pytest.raises(DataError, match=r"^classes: 'a\\udce9' is not valid Unicode.* rename it$"):
        check_text(("é", "a\udce9"), source="classes")
