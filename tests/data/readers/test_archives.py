import os

import pytest

from lfds.data import DataError, archives
from lfds.data.readers.archives import read_members
from tests.data.readers.test_tu_files import FILES, write_tar, write_zip

ENDINGS = (".txt",)


@pytest.mark.parametrize("write", [write_zip, write_tar])
def test_only_what_is_wanted_is_read(write, tmp_path):
    packed = write(tmp_path / "S.tgz", {**FILES, "deep/README.md": b"hello"})
    assert read_members(packed, endings=ENDINGS) == FILES
    assert read_members(packed, endings=(".md",)) == {"deep/README.md": b"hello"}


@pytest.mark.parametrize("write", [write_zip, write_tar])
@pytest.mark.parametrize("member", ["../S_A.txt", "/etc/S_A.txt", "a/../../S_A.txt", "..\\S_A.txt"])
def test_members_that_point_outside_are_refused(write, member, tmp_path):
    with pytest.raises(DataError, match="points outside"):
        read_members(write(tmp_path / "S.tar", {**FILES, member: b"1, 2\n"}), endings=ENDINGS)
    assert [entry.name for entry in tmp_path.iterdir()] == ["S.tar"]


@pytest.mark.parametrize("write", [write_zip, write_tar])
def test_bombs_are_refused_before_they_are_unpacked(write, tmp_path, monkeypatch):
    monkeypatch.setattr(archives, "_HARMLESS_BYTES", 10_000)
    bomb = write(tmp_path / "S.tgz", {**FILES, "S_node_labels.txt": b"0\n" * 1_000_000})
    with pytest.raises(DataError, match="as a bomb does; if you trust it, unpack it"):
        read_members(bomb, endings=ENDINGS)


def test_labels_that_repeat_are_no_bomb(tmp_path):
    packed = write_zip(tmp_path / "S.zip", {**FILES, "S_node_labels.txt": b"0\n" * 1_000_000})
    assert len(read_members(packed, endings=ENDINGS)["S_node_labels.txt"]) == 2_000_000


def test_a_bomb_of_many_members_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(archives, "_HARMLESS_BYTES", 10_000)
    many = {f"part{number}.bin": b"\0" * 9_000_000 for number in range(3)}
    with pytest.raises(DataError, match="bomb"):
        read_members(write_zip(tmp_path / "S.zip", {**many, **FILES}), endings=ENDINGS)


def test_junk_is_no_archive(tmp_path):
    (tmp_path / "junk.zip").write_bytes(os.urandom(1000))
    with pytest.raises(DataError, match=r"neither a folder, nor a \.zip"):
        read_members(tmp_path / "junk.zip", endings=ENDINGS)


@pytest.mark.parametrize("write", [write_zip, write_tar])
def test_an_archive_cut_short_is_refused(write, tmp_path):
    whole = write(tmp_path / "S.tgz", {**FILES, "S_node_labels.txt": os.urandom(20_000)})
    content = whole.read_bytes()
    for length in range(10, len(content), 997):
        whole.write_bytes(content[:length])
        with pytest.raises(DataError, match=r"S\.tgz: .*cut short.*fetch it again"):
            read_members(whole, endings=ENDINGS)
