import os
from pathlib import Path

import pytest

from lfds.data import DataError
from lfds.data.atomic_io import atomic_folder, atomic_text, atomic_write, previous_folder

PART = {"part"}.__contains__


def test_writing_a_file_replaces_it_and_leaves_no_temporary_file(tmp_path):
    path = tmp_path / "deep" / "file.json"
    atomic_write(path, b"old")
    atomic_write(path, b"new")
    assert path.read_bytes() == b"new"
    assert path.stat().st_mode & 0o777 == 0o644
    assert [entry.name for entry in path.parent.iterdir()] == ["file.json"]


def test_a_file_that_cannot_be_written_is_a_data_error(tmp_path):
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(DataError, match=r"cannot be written \(Not a directory|File exists"):
        atomic_write(tmp_path / "file" / "below", b"")
    below = tmp_path / "file" / "x"
    with (
        pytest.raises(DataError, match="cannot be written"),
        atomic_folder(below, replaceable=PART),
    ):
        pytest.fail("there is no place for it")


def test_a_folder_appears_when_it_is_complete(tmp_path):
    for content in ("old", "new"):
        with atomic_folder(tmp_path / "set", replaceable=PART) as folder:
            (folder / "part").write_text(content)
            assert folder != tmp_path / "set"
    assert (tmp_path / "set" / "part").read_text() == "new"
    assert [entry.name for entry in tmp_path.iterdir()] == ["set"]


def test_a_failure_leaves_the_previous_folder(tmp_path):
    with atomic_folder(tmp_path / "set", replaceable=PART) as folder:
        (folder / "part").write_text("old")
    with (
        pytest.raises(DataError, match="cannot be"),
        atomic_folder(tmp_path / "set", replaceable=PART) as folder,
    ):
        (folder / "part").rename(tmp_path / "nowhere" / "part")
    assert (tmp_path / "set" / "part").read_text() == "old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["set"]


def _refuse(*_):
    raise OSError(28, "No space left on device")


def test_a_full_disk_leaves_the_previous_file_and_folder(tmp_path, monkeypatch):
    atomic_write(tmp_path / "file", b"old")
    with atomic_folder(tmp_path / "set", replaceable=PART) as folder:
        (folder / "part").write_text("old")
    replace, left = os.replace, [1]

    def replace_once(source, target):
        left[0] -= 1
        return replace(source, target) if left[0] >= 0 or "old" in str(source) else _refuse()

    monkeypatch.setattr(os, "replace", replace_once)
    with (
        pytest.raises(DataError, match="No space left"),
        atomic_folder(tmp_path / "set", replaceable=PART) as folder,
    ):
        (folder / "part").write_text("new")
    monkeypatch.setattr(os, "replace", _refuse)
    with pytest.raises(DataError, match="No space left"):
        atomic_write(tmp_path / "file", b"new")
    assert (tmp_path / "file").read_bytes() == b"old"
    assert (tmp_path / "set" / "part").read_text() == "old"
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["file", "set"]


@pytest.mark.parametrize("ending", [KeyboardInterrupt, OSError])
def test_an_interrupt_between_the_two_renames_leaves_the_previous_folder(
    ending, tmp_path, monkeypatch
):
    with atomic_folder(tmp_path / "set", replaceable=PART) as folder:
        (folder / "part").write_text("old")
    replace = os.replace

    def replaced(source, target):
        if Path(target).name == "set" and Path(source).name != "old":
            raise ending
        replace(source, target)

    monkeypatch.setattr(os, "replace", replaced)
    with (
        pytest.raises((DataError, KeyboardInterrupt)),
        atomic_folder(tmp_path / "set", replaceable=PART) as folder,
    ):
        (folder / "part").write_text("new")
    assert (tmp_path / "set" / "part").read_text() == "old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["set"]


def test_a_folder_that_cannot_be_restored_is_kept_and_found(tmp_path, monkeypatch):
    path = tmp_path / "set [1]"
    with atomic_folder(path, replaceable=PART) as folder:
        (folder / "part").write_text("old")
    assert previous_folder(path) is None
    replace, left = os.replace, [1]

    def replace_once(source, target):
        left[0] -= 1
        return replace(source, target) if left[0] >= 0 else _refuse()

    monkeypatch.setattr(os, "replace", replace_once)
    with (
        pytest.raises(DataError, match=r"the previous folder was moved to .*old: move it back"),
        atomic_folder(path, replaceable=PART) as folder,
    ):
        (folder / "part").write_text("new")
    assert (previous_folder(path) / "part").read_text() == "old"
    assert previous_folder(tmp_path / "set 1") is None


@pytest.mark.parametrize("behind", ["set", "nowhere"])
def test_a_link_is_not_replaced(behind, tmp_path):
    with atomic_folder(tmp_path / "set", replaceable=PART) as folder:
        (folder / "part").write_text("old")
    (tmp_path / "link").symlink_to(tmp_path / behind)
    with (
        pytest.raises(DataError, match=rf"link: is a link, .* write to .*{behind} itself"),
        atomic_folder(tmp_path / "link", replaceable=PART),
    ):
        pytest.fail("there is no place for it")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "set" / "part").read_text() == "old"


@pytest.mark.parametrize(
    "put",
    [
        lambda p: (p.mkdir(), (p / "thesis.tex").write_text("years")),
        lambda p: (p / "part").mkdir(parents=True),
        lambda p: (p.mkdir(), (p / "part").write_text("ours"), (p / ".git").mkdir()),
        lambda p: p.write_text("years"),
    ],
)
def test_other_files_are_never_replaced(put, tmp_path):
    put(tmp_path / "set")
    before = sorted(tmp_path.rglob("*"))
    with (
        pytest.raises(DataError, match=r"set: (holds other files|is a file).*; choose a new"),
        atomic_folder(tmp_path / "set", replaceable=PART),
    ):
        pytest.fail("there is no place for it")
    assert sorted(tmp_path.rglob("*")) == before


def test_an_empty_folder_is_replaced(tmp_path):
    (tmp_path / "set").mkdir()
    with atomic_folder(tmp_path / "set", replaceable=PART) as folder:
        (folder / "part").write_text("new")
    assert (tmp_path / "set" / "part").read_text() == "new"


def test_a_folder_that_cannot_be_moved_leaves_no_temporary_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "part").write_text("old")
    with (
        pytest.raises(DataError, match="cannot be written"),
        atomic_folder(Path(), replaceable=PART) as f,
    ):
        (f / "part").write_text("new")
    assert [entry.name for entry in tmp_path.iterdir()] == ["part"]


def test_a_text_file_appears_when_it_is_complete(tmp_path):
    path = tmp_path / "new" / "out.csv"
    with atomic_text(path) as file:
        file.write("a\n")
        assert not path.exists()
    assert path.read_text() == "a\n"
    with pytest.raises(UnicodeEncodeError), atomic_text(path) as file:
        print("half", "\ud800", file=file)
    assert path.read_text() == "a\n"
    assert [entry.name for entry in path.parent.iterdir()] == ["out.csv"]


def test_a_text_file_that_cannot_be_written_is_a_data_error(tmp_path):
    with pytest.raises(DataError, match="is a folder, where a file"), atomic_text(tmp_path):
        pass
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match="cannot be written"), atomic_text(tmp_path / "file" / "x"):
        pass
