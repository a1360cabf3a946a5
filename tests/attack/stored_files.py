"""Readers of what lfds itself stored: models, records, specs, splits and checkpoints."""

import gzip
import hashlib
import json
import shutil
from functools import cache
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import torch

from lfds.config.comparison import make_spec, read_options, with_earlier_defaults
from lfds.data.encodings.encoder import Encoder
from lfds.data.splits import read_splits, save_splits, stratified_folds
from lfds.estimator import load
from lfds.estimator.model_card import digest
from lfds.report.load import make_report
from lfds.report.table import comma_separated, latex, markdown
from lfds.results.store import PACKED, RECORDS, read_records
from lfds.train.checkpoint import restore_checkpoint, save_checkpoint
from tests.attack.files import mutate_content, mutate_files, spoil_folder, write_files
from tests.attack.mutations import mutate
from tests.attack.sanity import check_numbers, check_probabilities, must_hold
from tests.attack.targets import Read, target
from tests.attack.values import another_value
from tests.estimator.small import classifier, graphs, regressor
from tests.report.runs import record
from tests.train.small import make as make_training


def _files_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


@cache
def _models() -> tuple[dict[str, bytes], dict[str, bytes]]:
    with TemporaryDirectory() as folder:
        for number, model in enumerate((classifier(), regressor())):
            model.save(Path(folder) / str(number))
        return _files_of(Path(folder) / "0"), _files_of(Path(folder) / "1")


@target("model")
def model(random: Random | None, folder: Path) -> Read:
    files = dict(_models()[0] if random is None else random.choice(_models()))
    classes = files["model.json"] == _models()[0]["model.json"]
    files = mutate_files(files, random)
    if random is not None and random.random() < 0.75:
        files = _with_checksums(files)
    write_files(files, folder / "model")
    spoil_folder(folder, random)

    def read() -> None:
        loaded = load(folder / "model")
        some = graphs()[:3]
        if classes and hasattr(loaded, "predict_proba"):
            check_probabilities(loaded.predict_proba(some), len(some))
        else:
            check_numbers(loaded.predict(some)) if not classes else loaded.predict(some)

    return read


def _with_checksums(files: dict[str, bytes]) -> dict[str, bytes]:
    """Let the checksums of a changed model be right, as someone who means harm would."""
    try:
        head = json.loads(files["model.json"])
        for name in ("weights.safetensors", "encoder.json"):
            head["model"]["files"][name] = hashlib.sha256(files[name]).hexdigest()
        head["sha256"] = digest(head["model"])
        return {**files, "model.json": json.dumps(head).encode()}
    except (ValueError, LookupError, TypeError):
        return files


@target("encoder")
def encoder(random: Random | None, folder: Path) -> Read:
    files = {"encoder.json": _models()[0]["encoder.json"]}
    write_files(mutate_files(files, random), folder)

    def read() -> None:
        encoded = Encoder.load(folder / "encoder.json").transform(graphs()[:3])
        check_numbers(encoded.x.numpy())

    return read


@cache
def _run() -> dict[str, bytes]:
    pools, sets = ("max", "loop"), ("A", "B")
    lines = [
        record(pool, data, fold, folds=2).model_dump_json()
        for data in sets
        for pool in pools
        for fold in range(2)
    ]
    lines[-1] = record("loop", "B", 1, folds=2, failed=True).model_dump_json()
    spec = make_spec({"data": sets, "pools": pools, "folds": 2, "epochs": 4, "seeds": 1})
    stored = json.dumps(spec.as_stored(), indent=2).encode()
    return {RECORDS: "".join(f"{line}\n" for line in lines).encode(), "spec.json": stored}


@target("records")
def records(random: Random | None, folder: Path) -> Read:
    files = mutate_files(_run(), random)
    if random is not None and random.random() < 0.2 and RECORDS in files:
        packed = gzip.compress(files.pop(RECORDS))
        files[PACKED] = packed if random.random() < 0.5 else mutate(packed, random)
    write_files(files, folder / "run")
    spoil_folder(folder, random)

    def read() -> None:
        reading = read_records(folder / "run")
        made = make_report([folder / "run"])
        with must_hold("no fold twice"):
            keys = [one.key for one in made.records]
            assert len(set(keys)) == len(keys) <= len(reading.records)
        comma_separated(made.leaderboards)
        for board in made.leaderboards:
            for text in (markdown(board), latex(board)):
                with must_hold("text"):
                    text.encode()

    return read


@target("page")
def page(random: Random | None, folder: Path) -> Read:
    """A report as a page: drawn from records that are mutated value by value."""
    from lfds.report.html import page as html

    files = dict(_run())
    if random is not None:
        name = random.choice((RECORDS, RECORDS, "spec.json"))
        files[name] = mutate_content("x.jsonl", files[name], random, {})
    write_files(files, folder / "run")

    def read() -> None:
        made = make_report([folder / "run"])
        text = html(made, made.rules[0]) if made.rules else ""
        with must_hold("page"):
            text.encode()
            assert text.lower().count("<script") <= 1  # our own

    return read


_SPEC = """preset = "default"
data = ["MUTAG", "pc-graphs"]
pools = ["max", "loop"]
folds = 5
seeds = 2
epochs = 30
learning_rate = 0.005
validation = 0.1
[options]
slots = 16
width = 32
[encoding]
labels = true
[grid]
learning_rate = [0.01, 0.001]
slots = [4, 16]
"""


@target("spec")
def spec(random: Random | None, folder: Path) -> Read:
    name = "spec.toml" if random is None or random.random() < 0.5 else "spec.json"
    content = _SPEC.encode() if name == "spec.toml" else _run()["spec.json"]
    if random is not None:
        content = mutate_content(name, content, random, {})
    (folder / name).write_bytes(content)

    def read() -> None:
        made = make_spec(with_earlier_defaults(read_options(folder / name), 1))
        with must_hold("stored and read"):
            assert make_spec({k: v for k, v in made.model_dump().items()}) == made

    return read


@target("options")
def options(random: Random | None, folder: Path) -> Read:
    """Options of estimators and specs, given in Python."""
    from lfds.config.network import NetworkSettings
    from lfds.estimator.options import Options

    given: dict[str, Any] = {}
    if random is not None:
        known = sorted(NetworkSettings.model_fields)
        given["options"] = {random.choice(known): another_value(random)}
        for name in random.sample(sorted(Options.model_fields), random.choice((0, 1, 2))):
            given[name] = another_value(random)

    def read() -> None:
        chosen = Options.of(given)
        chosen.network_settings()
        chosen.training_settings()

    return read


@target("splits")
def splits(random: Random | None, folder: Path) -> Read:
    file = folder / "S_splits.json"
    save_splits(stratified_folds([0, 1] * 6, folds=3, validation=0.2), file)
    if random is not None:
        file.write_bytes(mutate_content(file.name, file.read_bytes(), random, {}))

    def read() -> None:
        found = read_splits(file, 12)
        with must_hold("every graph tested once"):
            assert sorted(graph for split in found for graph in split.test) == list(range(12))

    return read


@cache
def _checkpoint() -> bytes:
    training = make_training(per_class=6)
    training.run(lambda _: None)
    with TemporaryDirectory() as folder:
        save_checkpoint(training, Path(folder) / "c", "key")
        return (Path(folder) / "c").read_bytes()


@target("checkpoint")
def checkpoint(random: Random | None, folder: Path) -> Read:
    files = {"c.safetensors": _checkpoint()}
    write_files(mutate_files(files, random), folder)

    def read() -> None:
        training = make_training(per_class=6)
        with TemporaryDirectory() as place:  # a damaged checkpoint may be moved aside
            copy = shutil.copy(folder / "c.safetensors", place)
            restored = restore_checkpoint(training, Path(copy), "key")
        with must_hold("continued, or as new"):
            assert training.progress.epochs > 0 or not restored
            values = training.model.state_dict().values()
            assert all(bool(torch.isfinite(value).all()) for value in values)

    return read
