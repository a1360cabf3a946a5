import gzip
import io
import os
import tarfile
import warnings
import zipfile

import pytest

from lfds.data import DataError
from lfds.data.readers.archives import is_archive, read_members
from tests.data.tu_folders import SMALL, write_tar, write_zip

ENDINGS = (".txt",)


@pytest.mark.parametrize("write", [write_zip, write_tar])
def test_only_members_with_the_given_endings_are_read(write, tmp_path):
    packed = write(tmp_path / "S.tgz", {**SMALL, "deep/README.md": b"hello"})
    assert read_members(packed, endings=ENDINGS) == SMALL
    assert read_members(packed, endings=(".md",)) == {"deep/README.md": b"hello"}


@pytest.mark.parametrize("write", [write_zip, write_tar])
@pytest.mark.parametrize("member", ["../S_A.txt", "/etc/S_A.txt", "a/../../S_A.txt", "..\\S_A.txt"])
def test_members_outside_the_archive_are_refused(write, member, tmp_path):
    with pytest.raises(DataError, match="points outside"):
        read_members(write(tmp_path / "S.tar", {**SMALL, member: b"1, 2\n"}), endings=ENDINGS)
    assert [entry.name for entry in tmp_path.iterdir()] == ["S.tar"]


@pytest.mark.parametrize("write", [write_zip, write_tar])
def test_bombs_are_refused_before_they_are_unpacked(write, tmp_path):
    bomb = write(tmp_path / "S.tgz", {**SMALL, "S_node_labels.txt": b"0\n" * 1_000_000})
    with pytest.raises(DataError, match="decompression bomb does; if you trust it, unpack it"):
        read_members(bomb, endings=ENDINGS, harmless_size=10_000)


def test_half_a_megabyte_does_not_unpack_to_gigabytes_of_tables(tmp_path):
    bomb = write_zip(tmp_path / "S.zip", {**SMALL, "S_A.txt": b"1, 2\n" * 15_000_000})
    assert bomb.stat().st_size < 500_000
    with pytest.raises(DataError, match="decompression bomb"):
        read_members(bomb, endings=ENDINGS)


def test_repeated_labels_are_no_bomb(tmp_path):
    packed = write_zip(tmp_path / "S.zip", {**SMALL, "S_node_labels.txt": b"0\n" * 1_000_000})
    assert len(read_members(packed, endings=ENDINGS)["S_node_labels.txt"]) == 2_000_000


def test_a_bomb_of_many_members_is_refused(tmp_path):
    many = {f"part{number}.bin": b"\0" * 9_000_000 for number in range(3)}
    bomb = write_zip(tmp_path / "S.zip", {**many, **SMALL})
    with pytest.raises(DataError, match="bomb"):
        read_members(bomb, endings=ENDINGS, harmless_size=10_000)


def test_random_bytes_are_no_archive(tmp_path):
    (tmp_path / "junk.zip").write_bytes(os.urandom(1000))
    with pytest.raises(DataError, match=r"neither a folder, nor a \.zip"):
        read_members(tmp_path / "junk.zip", endings=ENDINGS)


@pytest.mark.parametrize("write", [write_zip, write_tar])
def test_a_truncated_archive_is_an_error(write, tmp_path):
    archive = write(tmp_path / "S.tgz", {**SMALL, "S_node_labels.txt": os.urandom(20_000)})
    content = archive.read_bytes()
    for length in range(10, len(content), 997):
        archive.write_bytes(content[:length])
        with pytest.raises(DataError, match=r"S\.tgz: .*truncated.*download it again"):
            read_members(archive, endings=ENDINGS)


@pytest.mark.parametrize("packing", ["", "gz", "bz2", "xz"])
def test_every_compression_is_read_and_its_unpacked_size_is_limited(packing, tmp_path):
    (tmp_path / "zeros").write_bytes(b"\0" * 100_000)
    with tarfile.open(tmp_path / "a", f"w:{packing}") as archive:
        archive.add(tmp_path / "zeros", "zeros.txt")
    assert is_archive(tmp_path / "a")
    assert len(read_members(tmp_path / "a", endings=(".txt",))["zeros.txt"]) == 100_000
    if packing:
        with pytest.raises(DataError, match="bomb"):
            read_members(tmp_path / "a", endings=(".txt",), harmless_size=100_000)


def test_a_truncated_tar_is_an_error(tmp_path):
    archive = write_tar(tmp_path / "S.tar", SMALL)
    content = archive.read_bytes()
    # Each small member takes a block of header and a block of content; zeros end it.
    for length in (512, 1024, 1536, 2048, 2500, 3072):
        archive.write_bytes(content[:length])
        with pytest.raises(DataError, match=r"S\.tar: cannot be unpacked .*truncated: download"):
            read_members(archive, endings=(".txt",))
    archive.write_bytes(content[:3584])
    assert len(read_members(archive, endings=(".txt",))) == len(SMALL)


def test_a_broken_tar_header_is_an_error(tmp_path):
    archive = write_tar(tmp_path / "S.tar", SMALL)
    content = bytearray(archive.read_bytes())
    content[1024 + 150] ^= 1
    archive.write_bytes(content)
    with pytest.raises(DataError, match="cannot be unpacked"):
        read_members(archive, endings=(".txt",))


def test_a_header_that_claims_a_name_of_gigabytes_is_a_bomb(tmp_path):
    header = tarfile.TarInfo("././@LongLink")
    header.type, header.size = tarfile.GNUTYPE_LONGNAME, 50_000_000
    (tmp_path / "S.tar.gz").write_bytes(gzip.compress(header.tobuf() + b"a" * header.size))
    with pytest.raises(DataError, match="bomb"):
        read_members(tmp_path / "S.tar.gz", endings=(".txt",), harmless_size=100_000)


def test_a_tar_without_magic_number_is_recognized(tmp_path):
    old = tarfile.TarInfo("S_A.txt").tobuf(tarfile.USTAR_FORMAT)
    blank = old[:148] + b" " * 8 + old[156:257] + bytes(255)
    checksum = b"%06o\0 " % sum(blank)
    header = blank[:148] + checksum + blank[156:]
    (tmp_path / "old").write_bytes(header + bytes(1024))
    assert is_archive(tmp_path / "old")
    assert read_members(tmp_path / "old", endings=ENDINGS) == {"S_A.txt": b""}
    (tmp_path / "text").write_text("no archive")
    assert not is_archive(tmp_path / "text")


def tar_with(path, *entries):
    """Write a .tar of files (name, content) and others (name, type, target)."""
    with tarfile.open(path, "w") as archive:
        for name, *what in entries:
            entry = tarfile.TarInfo(name)
            if len(what) == 2:
                entry.type, entry.linkname = what
                archive.addfile(entry)
            else:
                entry.size = len(what[0])
                archive.addfile(entry, io.BytesIO(what[0]))
    return path


def test_hard_links_have_the_content_of_what_they_lead_to(tmp_path):
    packed = tar_with(
        tmp_path / "S.tar",
        ("S_A.txt", b"1, 2\n"),
        ("data.bin", b"0\n"),
        ("S_graph_labels.txt", tarfile.LNKTYPE, "data.bin"),
        ("S_node_labels.txt", tarfile.LNKTYPE, "S_graph_labels.txt"),
    )
    assert read_members(packed, endings=ENDINGS) == {
        "S_A.txt": b"1, 2\n",
        "S_graph_labels.txt": b"0\n",
        "S_node_labels.txt": b"0\n",
    }


def test_hard_links_that_tar_itself_writes_are_followed(tmp_path):
    for name, content in SMALL.items():
        (tmp_path / name).write_bytes(content)
    first = next(iter(SMALL))
    os.link(tmp_path / first, tmp_path / "T_graph_labels.txt")
    with tarfile.open(tmp_path / "S.tar", "w") as archive:
        for name in (*SMALL, "T_graph_labels.txt"):
            archive.add(tmp_path / name, name)
    found = read_members(tmp_path / "S.tar", endings=ENDINGS)
    assert found == {**SMALL, "T_graph_labels.txt": SMALL[first]}


@pytest.mark.parametrize(
    ("kind", "target"),
    [
        (tarfile.SYMTYPE, "S_A.txt"),
        (tarfile.LNKTYPE, "missing.txt"),
        (tarfile.LNKTYPE, "S_graph_labels.txt"),
        (tarfile.CHRTYPE, ""),
        (tarfile.FIFOTYPE, ""),
    ],
)
def test_other_links_are_refused_by_name(tmp_path, kind, target):
    files = (("S_A.txt", b"1, 2\n"), ("S_graph_labels.txt", kind, target))
    with pytest.raises(DataError, match=r"holds 'S_graph_labels.txt', which is no file but a link"):
        read_members(tar_with(tmp_path / "S.tar", *files), endings=ENDINGS)


def test_links_with_other_endings_are_ignored(tmp_path):
    files = (("S_A.txt", b"1, 2\n"), ("latest", tarfile.SYMTYPE, "S_A.txt"))
    packed = tar_with(tmp_path / "S.tar", *files)
    assert read_members(packed, endings=ENDINGS) == {"S_A.txt": b"1, 2\n"}


@pytest.mark.parametrize("second", ["S_A.txt", "./S_A.txt"])
def test_a_member_that_is_there_twice_is_refused(tmp_path, second):
    packed = tar_with(tmp_path / "S.tar", ("S_A.txt", b"1, 2\n"), (second, b"2, 1\n"))
    with pytest.raises(DataError, match=r"holds the member '.*S_A.txt' twice"):
        read_members(packed, endings=ENDINGS)
    with zipfile.ZipFile(tmp_path / "S.zip", "w") as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        archive.writestr("S_A.txt", "1, 2\n")
        archive.writestr(second, "2, 1\n")
    with pytest.raises(DataError, match="twice"):
        read_members(tmp_path / "S.zip", endings=ENDINGS)


def test_a_small_archive_of_much_text_is_refused_before_it_is_unpacked(tmp_path, monkeypatch):
    monkeypatch.setenv("LFDS_MAX_MEMORY", "10MB")
    packed = write_zip(tmp_path / "S.zip", {**SMALL, "S_node_labels.txt": b"0\n" * 1_000_000})
    with pytest.raises(DataError, match=r"2 MB of text.* 20 MB of memory, and 10 MB.*LFDS_MAX"):
        read_members(packed, endings=ENDINGS)
