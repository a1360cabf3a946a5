import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lfds.data import DataError
from lfds.data.readers.cloud_files import SUFFIXES, read_cloud


def read(path, count=4, seed=0):
    return read_cloud(path, count, np.random.default_rng(seed))


@pytest.fixture
def points():
    return np.random.default_rng(0).normal(size=(30, 3)).round(6)


def as_rows(found):
    return sorted(map(tuple, found.tolist()))


@pytest.mark.parametrize("suffix", [".xyz", ".txt", ".pts"])
@pytest.mark.parametrize("delimiter", [" ", ",", "\t"])
def test_text_gives_back_all_its_points(tmp_path, points, suffix, delimiter):
    path = tmp_path / f"cloud{suffix}"
    np.savetxt(path, points, delimiter=delimiter, fmt="%.6f")
    assert as_rows(read(path, 30)) == as_rows(points)


def test_npy_gives_back_all_its_points(tmp_path, points):
    np.save(tmp_path / "cloud.npy", points)
    assert as_rows(read(tmp_path / "cloud.npy", 30)) == as_rows(points)


def test_further_columns_comments_blank_lines_and_a_count_are_passed_over(tmp_path):
    path = tmp_path / "a.pts"
    path.write_text("4\n# made by hand\n0 0 0 9 9\n\n1 0 0 9 9 # corner\n0 1 0 9 9\n0 0 1 9 9\n")
    assert as_rows(read(path)) == [(0, 0, 0), (0, 0, 1), (0, 1, 0), (1, 0, 0)]


def test_the_same_stream_chooses_the_same_points_and_each_at_most_once(tmp_path, points):
    np.save(tmp_path / "cloud.npy", points)
    chosen = read(tmp_path / "cloud.npy", 10)
    np.testing.assert_array_equal(chosen, read(tmp_path / "cloud.npy", 10))
    assert as_rows(chosen) != as_rows(read(tmp_path / "cloud.npy", 10, seed=1))
    assert len(set(as_rows(chosen))) == 10
    assert set(as_rows(chosen)) <= set(as_rows(points))


def assert_read_or_refused(path, count=4):
    try:
        found = read(path, count)
    except DataError as error:
        message = str(error)
    else:
        message = ""
        assert np.isfinite(found).all()
    assert "\n" not in message


BROKEN = {
    "fewer points than asked": ("0 0 0\n1 1 1\n", "holds 2 points, 4 are needed"),
    "text in a number column": ("0 0 0\n1 1 1\n2 2 2\n3 one 3\n", "line 4: 'one' is not a number"),
    "a missing column": ("0 0 0\n1 1\n2 2 2\n3 3 3\n", "line 2: has 2 of the three numbers"),
    "two columns everywhere": ("0 0\n1 1\n2 2\n3 3\n", "line 1: has 2 of the three numbers"),
    "too large": ("0 0 0\n1 1 1\n2 2 2\n3 1e300 3\n", "point 4 is .* finite numbers below 1e"),
    "not a number": ("0 0 0\n1 1 1\n2 nan 2\n3 3 3\n", "point 3 is .* finite"),
    "infinite": ("0 0 0\n1 1 1\n2 2 2\n3 1e999 3\n", "point 4 is .* finite"),
    "empty": ("", "holds no points"),
    "only comments": ("# nothing\n\n", "holds no points"),
}


@pytest.mark.parametrize(("text", "message"), BROKEN.values(), ids=BROKEN)
def test_broken_text_is_refused_by_file_and_line(tmp_path, text, message):
    path = tmp_path / "cloud.xyz"
    path.write_text(text)
    with pytest.raises(DataError, match=message) as caught:
        read(path)
    assert str(path) in str(caught.value)


def test_binary_junk_is_no_text(tmp_path):
    (tmp_path / "junk.xyz").write_bytes(bytes(range(256)))
    with pytest.raises(DataError, match="is not text"):
        read(tmp_path / "junk.xyz")


class Trap:
    """Leaves a trace when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return (open, (self.path, "w"))


def test_an_npy_of_objects_is_never_unpickled(tmp_path):
    trace = tmp_path / "trace"
    np.save(tmp_path / "trap.npy", np.array([[Trap(str(trace))] * 3] * 9), allow_pickle=True)
    with pytest.raises(DataError, match="no array of numbers"):
        read(tmp_path / "trap.npy")
    assert not trace.exists()
    # The trap is a real one: whoever unpickles it finds the trace.
    np.load(tmp_path / "trap.npy", allow_pickle=True)[0, 0].close()
    assert trace.exists()


@pytest.mark.parametrize(
    "table", [np.zeros(9), np.zeros((9, 2)), np.zeros((3, 3, 3)), np.array([["a"] * 3] * 9)]
)
def test_an_npy_of_another_shape_or_kind_is_refused(tmp_path, table):
    np.save(tmp_path / "cloud.npy", table)
    with pytest.raises(DataError, match=r"numbers of shape \[n, 3\]"):
        read(tmp_path / "cloud.npy")


def test_a_truncated_npy_is_refused(tmp_path, points):
    np.save(tmp_path / "cloud.npy", points)
    content = (tmp_path / "cloud.npy").read_bytes()
    (tmp_path / "cloud.npy").write_bytes(content[:-50])
    with pytest.raises(DataError, match="no array of numbers"):
        read(tmp_path / "cloud.npy")


@given(text=st.text(alphabet="0123456789.,-+eE_x# \n\t\uff11nainf", max_size=60))
def test_no_text_brings_anything_but_a_data_error(tmp_path_factory, text):
    path = tmp_path_factory.getbasetemp() / "text.xyz"
    path.write_text(text, encoding="utf-8")
    assert_read_or_refused(path, count=1)


@settings(max_examples=300, deadline=None)
@given(junk=st.binary(max_size=200), suffix=st.sampled_from(SUFFIXES))
def test_no_junk_brings_anything_but_a_data_error(tmp_path_factory, junk, suffix):
    path = tmp_path_factory.getbasetemp() / f"junk{suffix}"
    path.write_bytes(junk)
    assert_read_or_refused(path)


@settings(max_examples=200, deadline=None)
@given(
    place=st.integers(0, 10_000), byte=st.integers(0, 255), suffix=st.sampled_from([".xyz", ".npy"])
)
def test_no_changed_byte_brings_anything_but_a_data_error(tmp_path_factory, place, byte, suffix):
    path = tmp_path_factory.getbasetemp() / f"changed{suffix}"
    table = np.arange(60.0).reshape(20, 3)
    np.savetxt(path, table) if suffix == ".xyz" else np.save(path, table)
    content = bytearray(path.read_bytes())
    content[place % len(content)] = byte
    path.write_bytes(content)
    assert_read_or_refused(path)
