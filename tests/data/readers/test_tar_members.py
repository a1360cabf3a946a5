import gzip
import tarfile

import pytest

from lfds.data import DataError, archives
from lfds.data.readers.archives import read_members
from lfds.data.readers.tar_members import open_tar
from tests.data.readers.test_tu_files import FILES, write_tar


@pytest.mark.parametrize("packing", ["", "gz", "bz2", "xz"])
def test_every_packing_is_counted_as_it_unpacks(packing, tmp_path):
    (tmp_path / "zeros").write_bytes(b"\0" * 100_000)
    with tarfile.open(tmp_path / "a", f"w:{packing}") as archive:
        archive.add(tmp_path / "zeros", "zeros.txt")
    counts = []
    with open_tar(tmp_path / "a", counts.append) as archive:
        assert [member.name for member in archive] == ["zeros.txt"]
    assert sum(counts) > 100_000
    assert len(read_members(tmp_path / "a", endings=(".txt",))["zeros.txt"]) == 100_000


def test_a_tar_without_its_end_is_refused_wherever_it_was_cut(tmp_path):
    whole = write_tar(tmp_path / "S.tar", FILES)
    content = whole.read_bytes()
    # Each small member takes a block of header and a block of content; zeros end it.
    for length in (512, 1024, 1536, 2048, 2500, 3072):
        whole.write_bytes(content[:length])
        with pytest.raises(DataError, match=r"S\.tar: cannot be unpacked .*cut short: fetch"):
            read_members(whole, endings=(".txt",))
    whole.write_bytes(content[:3584])
    assert len(read_members(whole, endings=(".txt",))) == len(FILES)


def test_a_broken_header_is_not_taken_for_the_end(tmp_path):
    whole = write_tar(tmp_path / "S.tar", FILES)
    content = bytearray(whole.read_bytes())
    content[1024 + 150] ^= 1
    whole.write_bytes(content)
    with pytest.raises(DataError, match="cannot be unpacked"):
        read_members(whole, endings=(".txt",))


def test_a_header_that_claims_a_name_of_gigabytes_is_a_bomb(tmp_path, monkeypatch):
    monkeypatch.setattr(archives, "_HARMLESS_BYTES", 100_000)
    header = tarfile.TarInfo("././@LongLink")
    header.type, header.size = tarfile.GNUTYPE_LONGNAME, 50_000_000
    (tmp_path / "S.tar.gz").write_bytes(gzip.compress(header.tobuf() + b"a" * header.size))
    with pytest.raises(DataError, match="as a bomb does"):
        read_members(tmp_path / "S.tar.gz", endings=(".txt",))
