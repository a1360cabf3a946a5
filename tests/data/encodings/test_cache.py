import hashlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lfds.data import DataError
from lfds.data.encodings import RWSE, Degree, NetMF
from lfds.data.encodings.cache import EncodingCache

ROWS = {"a": np.arange(8, dtype=np.float32).reshape(2, 4), "b": np.ones((3, 4), dtype=np.float32)}


def assert_same(found, expected):
    assert found.keys() == expected.keys()
    for key, rows in expected.items():
        np.testing.assert_array_equal(found[key], rows)


@pytest.fixture
def cache(tmp_path):
    return EncodingCache(tmp_path / "cache", RWSE(steps=4))


def test_stored_encodings_are_read(cache):
    assert cache.read() == {}
    cache.store({"a": ROWS["a"]})
    cache.store({"b": ROWS["b"]})
    assert_same(cache.read(), ROWS)


def test_other_settings_have_another_cache(tmp_path):
    encodings = [RWSE(steps=4), RWSE(steps=5), NetMF(dimensions=4), NetMF(dimensions=4, window=2)]
    encodings += [Degree(), Degree(one_hot_up_to=3)]
    assert len({EncodingCache(tmp_path, encoding).folder for encoding in encodings}) == 6


def test_a_new_version_of_an_encoding_has_a_new_cache(tmp_path, monkeypatch):
    EncodingCache(tmp_path, RWSE(steps=4)).store(ROWS)
    monkeypatch.setattr(RWSE, "version", 2)
    assert EncodingCache(tmp_path, RWSE(steps=4)).read() == {}


@settings(max_examples=200, deadline=None)
@given(place=st.integers(0, 10**6), byte=st.integers(0, 255), cut=st.booleans())
def test_a_damaged_cache_file_is_ignored(tmp_path_factory, place, byte, cut):
    cache = EncodingCache(tmp_path_factory.mktemp("cache"), RWSE(steps=4))
    cache.store(ROWS)
    (path,) = cache.folder.glob("*.safetensors")
    sound = path.read_bytes()
    damaged = bytearray(sound)
    damaged[place % len(sound)] = byte
    path.write_bytes(damaged[: place % len(sound)] if cut else damaged)
    if path.read_bytes() != sound:
        assert cache.read() == {}
        cache.store(ROWS)
    assert_same(cache.read(), ROWS)


def test_other_files_in_the_cache_are_ignored(cache):
    cache.store(ROWS)
    (cache.folder / "folder.safetensors").mkdir()
    junk = b"whole, but nothing that was stored here"
    (cache.folder / f"{hashlib.sha256(junk).hexdigest()}.safetensors").write_bytes(junk)
    assert_same(cache.read(), ROWS)


def test_incomplete_files_are_not_read(cache):
    cache.store(ROWS)
    assert [path.suffix for path in cache.folder.iterdir()] == [".safetensors"]


def test_a_folder_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(DataError, match="is a file, where a folder is to be written"):
        EncodingCache(tmp_path / "file", RWSE(steps=4)).store(ROWS)
