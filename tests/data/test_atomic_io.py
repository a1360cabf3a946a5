import os
import stat
import subprocess
import sys
from pathlib import Path
from threading import Thread

import pytest

from lfds.data import DataError
from lfds.data.atomic_io import (
    atomic_folder,
    atomic_text,
    atomic_write,
    check_overwrite,
    is_special,
    make_folder,
    previous_folder,
)

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
    with pytest.raises(DataError, match=r"is a file, where a folder is to be written"):
        atomic_write(tmp_path / "file" / "below", b"")
    below = tmp_path / "file" / "x"
    with (
        pytest.raises(DataError, match="/file: is a file, where a folder"),
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
def test_a_link_to_a_folder_is_followed_and_stays(behind, tmp_path):
    with atomic_folder(tmp_path / "set", replaceable=PART) as folder:
        (folder / "part").write_text("old")
    (tmp_path / "link").symlink_to(tmp_path / behind)
    with atomic_folder(tmp_path / "link", replaceable=PART) as folder:
        (folder / "part").write_text("new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / behind / "part").read_text() == "new"
    (tmp_path / behind / "other").write_text("mine")
    with (
        pytest.raises(DataError, match="link: holds other files"),
        atomic_folder(tmp_path / "link", replaceable=PART),
    ):
        pytest.fail("there is no place for it")


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
    with (
        pytest.raises(DataError, match="/file: is a file, where a folder"),
        atomic_text(tmp_path / "file" / "x"),
    ):
        pass


# Links, devices, pipes


@pytest.mark.parametrize("behind", ["file", "nowhere"])
def test_a_link_to_a_file_is_followed_and_stays(behind, tmp_path):
    (tmp_path / "file").write_bytes(b"old")
    (tmp_path / "link").symlink_to(behind)
    atomic_write(tmp_path / "link", b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / behind).read_bytes() == b"new"


def test_a_device_is_written_to_and_stays():
    before = os.stat("/dev/null")
    atomic_write(Path("/dev/null"), b"gone")
    assert os.stat("/dev/null").st_mode == before.st_mode
    with pytest.raises(DataError, match=r"/dev/full: cannot be written \(No space left on device"):
        atomic_write(Path("/dev/full"), b"much")
    assert stat.S_ISCHR(os.stat("/dev/full").st_mode)


def test_a_pipe_is_written_to_and_stays(tmp_path):
    fifo = tmp_path / "pipe"
    os.mkfifo(fifo)
    received = []
    reader = Thread(target=lambda: received.append(fifo.read_bytes()))
    reader.start()
    with atomic_text(fifo) as file:
        file.write("through")
    reader.join()
    assert received == [b"through"]
    assert fifo.is_fifo()
    assert is_special(fifo)


@pytest.mark.parametrize("path", ["/proc/self/fd/{}", "/dev/fd/{}", "link", "/proc/{pid}/fd/{}"])
def test_an_open_file_goes_on_where_it_is(path, tmp_path, monkeypatch):
    """What happens with ``-o /dev/stdout >> file``: nothing in the file is lost."""
    monkeypatch.chdir(tmp_path)
    with open("file", "ab+") as file:
        os.symlink(f"/proc/self/fd/{file.fileno()}", "link")
        inode = os.stat("file").st_ino
        file.write(b"before ")
        file.flush()
        atomic_write(Path(path.format(file.fileno(), pid=os.getpid())), b"after")
    assert Path("file").read_bytes() == b"before after"
    assert os.stat("file").st_ino == inode
    assert not is_special(Path("file"))


# Permissions


@pytest.fixture
def umask(request):
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


@pytest.mark.parametrize("umask", [0o077, 0o022, 0o002], indirect=True)
def test_new_files_and_folders_have_the_permissions_of_the_umask(umask, tmp_path):
    atomic_write(tmp_path / "new" / "file", b"")
    with atomic_folder(tmp_path / "set", replaceable=PART) as folder:
        (folder / "part").write_text("")
    for path in (tmp_path / "new" / "file", tmp_path / "set" / "part"):
        assert path.stat().st_mode & 0o777 == 0o666 & ~umask
    for path in (tmp_path / "new", tmp_path / "set"):
        assert path.stat().st_mode & 0o777 == 0o777 & ~umask


def test_a_replaced_file_or_folder_keeps_its_permissions(tmp_path):
    for _ in range(2):
        atomic_write(tmp_path / "file", b"")
        with atomic_folder(tmp_path / "set", replaceable=PART) as folder:
            (folder / "part").write_text("")
        (tmp_path / "file").chmod(0o600)
        (tmp_path / "set").chmod(0o700)
        (tmp_path / "set" / "part").chmod(0o640)
    atomic_write(tmp_path / "file", b"new")
    with atomic_folder(tmp_path / "set", replaceable=PART) as folder:
        assert folder.stat().st_mode & 0o077 == 0  # also before it is complete
        (folder / "part").write_text("new")
    assert (tmp_path / "file").stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "set").stat().st_mode & 0o777 == 0o700
    assert (tmp_path / "set" / "part").stat().st_mode & 0o777 == 0o640


# Killed processes

KILLED = """
import os, sys
from pathlib import Path
from lfds.data.atomic_io import atomic_folder, atomic_text
with atomic_text(Path("file")) as file, atomic_folder(Path("set"), replaceable=bool) as folder:
    (folder / "part").write_text("half")
    print("ready", flush=True)
    sys.stdin.read()
"""


def test_the_next_one_removes_what_a_killed_process_left_but_not_of_a_living_one(tmp_path):
    with subprocess.Popen(
        [sys.executable, "-c", KILLED],
        cwd=tmp_path,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout.readline() == "ready\n"
        atomic_write(tmp_path / "file", b"mine")
        assert len(list(tmp_path.iterdir())) == 3  # it lives: nothing of it is removed
        process.kill()
    atomic_write(tmp_path / "file", b"new")
    with atomic_folder(tmp_path / "set", replaceable=PART) as folder:
        (folder / "part").write_text("new")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "set"]


def test_names_as_long_as_the_file_system_allows_can_be_written(tmp_path):
    atomic_write(tmp_path / ("a" * 255), b"")
    with atomic_folder(tmp_path / ("b" * 255), replaceable=PART):
        pass
    for write in (lambda path: atomic_write(path, b""), lambda path: check_overwrite(path, PART)):
        with pytest.raises(DataError, match=r"cannot be written \(File name too long\)"):
            write(tmp_path / ("c" * 300))


def test_a_folder_is_made_where_a_link_points_to_nothing_yet(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "deep" / "real")
    make_folder(tmp_path / "link")
    assert (tmp_path / "deep" / "real").is_dir()
    assert (tmp_path / "link").is_symlink()


def test_a_file_in_the_place_of_a_folder_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    for path in (tmp_path / "file", tmp_path / "file" / "deep" / "er"):
        with pytest.raises(DataError, match=r"/file: is a file, where a folder is to be written"):
            make_folder(path)
