"""The commands that are killed, what they start from, and what is compared afterwards."""

import hashlib
import json
import shutil
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from lfds.estimator.model_card import digest
from lfds.results.store import RECORDS, TORN, read_records


@dataclass(frozen=True)
class Command:
    """Something that writes files and may be killed while it does.

    Attributes:
        work: Runs it in the current folder and returns its exit code.
        output: The file or folder it writes.
    """

    work: Callable[[], int]
    output: str


def run_lfds(*arguments: str) -> Callable[[], int]:
    """Return a function that runs the command ``lfds`` in this process."""

    def work() -> int:
        from lfds.cli import main

        sys.argv = ["lfds", *arguments]
        main()
        return 0

    return work


_SMALL = ("--option", "width=8", "head_width=8", "slots=4")
_COMPARE = (
    "compare", "--data", "set", "--pool", "max", "loop", "--folds", "2", "--epochs", "6",
    "--patience", "0", *_SMALL, "--out",
)  # fmt: skip
_FIT = ("fit", "set", "--slots", "4", "--epochs", "6", "--option", "width=8", "head_width=8")


def commands() -> Mapping[str, Command]:
    """Return the commands by name; all modules they need are imported."""
    import lfds.cli
    import lfds.compare.engines.ray
    import lfds.compare.progress
    import lfds.compare.runner
    import lfds.compare.tensorboard
    import lfds.data.datasets.prepare
    import lfds.estimator.persistence
    import lfds.report.html  # noqa: F401

    return {
        "compare": Command(run_lfds(*_COMPARE, "new"), "new"),
        "compare-2-workers": Command(run_lfds(*_COMPARE, "new", "--workers", "2"), "new"),
        "fit": Command(run_lfds(*_FIT, "-o", "model"), "model"),
        "predict": Command(run_lfds("predict", "model", "set", "-o", "out.csv"), "out.csv"),
        "report": Command(
            run_lfds("report", "run", "-o", "page/report.html", "--figures", "page"), "page"
        ),
        "prepare": Command(
            run_lfds("data", "prepare", "drawn", "--root", "data"), "data/drawn.graphs"
        ),
    }


def base(folder: Path) -> int:
    """Make what all commands start from: a set, a dataset, an earlier model, an earlier run."""
    from tests.estimator.small import graphs

    graphs().save(folder / "set")
    graphs().to_tu(folder / "data" / "drawn")
    for arguments in ((*_FIT, "--seed", "7", "-o", "model"), (*_COMPARE, "run")):
        try:
            run_lfds(*arguments)()
        except SystemExit as left:
            if left.code:
                return 1
    (folder / "out.csv").write_text("earlier\n")
    (folder / "page").mkdir()
    (folder / "page" / "report.html").write_text("earlier\n")
    shutil.copytree(folder / "set", folder / "data" / "drawn.graphs")
    return 0


def contents(folder: Path) -> dict[str, str]:
    """Return what is at every path of a folder, without what differs from run to run."""
    return {
        str(path.relative_to(folder)): _content(path) if path.is_file() else "a folder"
        for path in sorted(folder.rglob("*"))
        if path.name != TORN  # a torn line is moved there, and the user is told
    }


def _content(path: Path) -> str:
    if path.name == "model.json":
        return _without_time(path)
    if path.name != RECORDS:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    lines = []
    for record in read_records(path).records:
        line = record.model_dump()
        if line["outcome"] is not None:
            # How long, how much, and in which process: not what was computed.
            for measured in ("seconds", "peak_memory", "cold_start"):
                del line["outcome"][measured]
        lines.append(json.dumps(line, sort_keys=True))
    # Workers finish in any order; a fold that is stored twice is seen.
    return "\n".join(sorted(lines))


def _without_time(card: Path) -> str:
    """Return a model card without how long it took, and the checksum over that."""
    try:
        content = json.loads(card.read_text(encoding="utf-8"))
        assert digest(content["model"]) == content.pop("sha256")
        del content["model"]["history"]["seconds"]
        return json.dumps(content, sort_keys=True)
    except (ValueError, LookupError, TypeError, AssertionError):
        return hashlib.sha256(card.read_bytes()).hexdigest()  # half-written: differs from all
