import numpy as np
import pytest

from lfds.data import DataError
from lfds.data.options import choice, whole_seed
from lfds.data.readers.smiles import read_smiles
from lfds.data.readers.tu import read_tu
from lfds.data.splits import stratified_folds
from tests.data.readers.test_tu import FILES
from tests.data.readers.test_tu_files import write_folder


def test_the_nearest_word_is_offered():
    choice("skip", ("stop", "skip"), "bad")
    with pytest.raises(DataError, match=r"^bad: needs 'stop' or 'skip', not 'skipp'; did you mean"):
        choice("skipp", ("stop", "skip"), "bad")
    with pytest.raises(DataError, match=r"not '3'$"):
        choice(3, ("stop", "skip"), "bad")
    with pytest.raises(DataError, match="not 'None'"):
        choice(None, ("stop", "skip"), "bad")


def test_a_seed_is_a_plain_whole_number():
    assert type(whole_seed(np.int64(3))) is int
    for wrong in ("a", 1.5, True, None):
        with pytest.raises(DataError, match="seed: needs a whole number, not"):
            whole_seed(wrong)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"self_loops": "drop"}, "self_loops: needs 'keep' or 'remove', not 'drop'"),
        ({"target": "attribute"}, "target: .*did you mean 'attributes'"),
        ({"seed": "a"}, "seed: needs a whole number"),
        ({"seed": 1.5}, "seed: needs a whole number"),
    ],
)
def test_a_wrong_word_is_refused_before_anything_is_read(options, message, tmp_path):
    with pytest.raises(DataError, match=message):
        read_tu(tmp_path / "nowhere", **options)


def test_equal_seeds_give_equal_orders(tmp_path):
    folder = write_folder(tmp_path / "S", FILES)
    assert read_tu(folder, seed=np.int64(5)).equals(read_tu(folder, seed=5))
    assert stratified_folds([0, 1] * 9, seed=np.int64(5)) == stratified_folds([0, 1] * 9, seed=5)


def test_other_readers_and_folds_refuse_them_too(tmp_path):
    with pytest.raises(DataError, match=r"bad: needs .*did you mean 'skip'"):
        read_smiles(tmp_path / "nowhere.csv", bad="skipp")
    with pytest.raises(DataError, match="seed: needs a whole number"):
        stratified_folds([0, 1] * 9, seed="a")
