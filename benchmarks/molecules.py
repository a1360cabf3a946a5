"""Molecules beside chemprop and fingerprints: ``python -m benchmarks.molecules FOLDER``.

FOLDER holds esol.csv, freesolv.csv, bbbp.csv and tox21.csv. Every model gets the same parts: three
random splits 80/10/10 and a scaffold split. Each row is appended to results/molecules.csv here
as soon as it is measured, and the same command goes on from there. ``--chemprop PYTHON`` names the
interpreter of an environment with chemprop 2; ``--write`` puts the table of complete sets into
docs/molecules.md, and that of ensembles into docs/estimator.md.
"""

import argparse
import csv
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.metrics import mean_squared_error, roc_auc_score

from benchmarks.marks import write_between
from lfds import LFDSClassifier, LFDSRegressor
from lfds.data.errors import DataError
from lfds.data.graphset import GraphSet
from lfds.data.readers.smiles import read_smiles
from lfds.data.splits import Split, grouped_split, random_split

HERE = Path(__file__).parents[1]
RESULTS = HERE / "benchmarks" / "results" / "molecules.csv"
PAGE = HERE / "docs" / "molecules.md"
MEMBERS_PAGE = HERE / "docs" / "estimator.md"
SETS = {
    "freesolv": ("freesolv",),
    "esol": ("logSolubility",),
    "bbbp": ("p_np",),
    "tox21": (
        "NR-AR", "NR-AR-LBD", "NR-AhR", "NR-Aromatase", "NR-ER", "NR-ER-LBD", "NR-PPAR-gamma",
        "SR-ARE", "SR-ATAD5", "SR-HSE", "SR-MMP", "SR-p53",
    ),
}  # fmt: skip
SPLITS = ("random 0", "random 1", "random 2", "scaffold")
ONE, SEVERAL = "lfds", "lfds, 5 members"
_NOTHING = "No model has been measured on all splits of a set yet."
Values = NDArray[np.float64]


@dataclass(frozen=True)
class Row:
    """One measurement.

    Attributes:
        data: The set.
        split: One of ``SPLITS``.
        model: One of ``MODELS``.
        score: RMSE, or the mean ROC-AUC over targets, on the test part.
        fit: Processor seconds of fitting; those of chemprop are of its whole process, which
            imports it and reads the file.
        predict: Processor seconds of predicting the test part; of chemprop in the same way.
    """

    data: str
    split: str
    model: str
    score: float
    fit: float
    predict: float


@dataclass(frozen=True)
class Task:
    """One set and split.

    Attributes:
        file: The CSV file.
        targets: The columns to predict.
        graphs: The molecules, with targets.
        smiles: Their SMILES.
        parts: The rows of each part.
        seed: Random seed of the models.
    """

    file: Path
    targets: tuple[str, ...]
    graphs: GraphSet
    smiles: list[str]
    parts: Split
    seed: int

    @property
    def classes(self) -> bool:
        """Whether targets are classes."""
        return bool(self.graphs.classes)

    @property
    def y(self) -> Values:
        """Targets ``[graphs, targets]``, NaN where one is missing."""
        table = self.graphs.y.reshape(len(self.graphs), -1).double()
        return torch.where(self.graphs.known_targets, table, torch.nan).numpy()


def read(folder: Path, name: str, split: str) -> Task:
    """Return a set with the parts of a split."""
    file, targets = folder / f"{name}.csv", SETS[name]
    with warnings.catch_warnings(action="ignore"):
        graphs = read_smiles(file, target=targets, bad="skip", group="scaffold")
    seed = int(split.split()[-1]) if split != "scaffold" else 0
    if split == "scaffold":
        parts = grouped_split(graphs.groups[:, 0].numpy())
    else:
        parts = random_split(np.zeros(len(graphs), dtype=np.int64), seed=seed)
    graphs = GraphSet(**{**_fields(graphs), "groups": graphs.groups[:, :0]})
    return Task(file, targets, graphs, _smiles(file, targets), parts, seed)


def _fields(graphs: GraphSet) -> dict[str, object]:
    return {entry.name: getattr(graphs, entry.name) for entry in fields(graphs)}


def _smiles(file: Path, targets: tuple[str, ...]) -> list[str]:
    """Return the SMILES of the rows that :func:`read` keeps."""
    from lfds.data.readers.rdkit_molecules import molecule_from

    with file.open(newline="") as content:
        rows = list(csv.DictReader(content))
    return [
        row["smiles"]
        for row in rows
        if molecule_from(row["smiles"]) is not None and any(row[name] for name in targets)
    ]


def lfds_model(task: Task, members: int = 1) -> tuple[Values, float, float]:
    """Return predictions of the test part, and processor seconds of fit and predict."""
    start = time.process_time()
    rows = sorted(task.parts.train + task.parts.validation)
    held_out = [rows.index(row) for row in task.parts.validation]
    made = LFDSClassifier if task.classes else LFDSRegressor
    more = {"members": members} if members > 1 else {}
    model = made(seed=task.seed, **more).fit(task.graphs[rows], held_out=held_out)
    fitted = time.process_time()
    test = task.graphs[task.parts.test]
    found = model.predict_proba(test) if isinstance(model, LFDSClassifier) else model.predict(test)
    if task.classes and len(task.targets) == 1:
        found = found[:, 1]
    return found.reshape(len(test), -1), fitted - start, time.process_time() - fitted


def fingerprints(task: Task, kind: str) -> tuple[Values, float, float]:
    """Return predictions from Morgan fingerprints, a model for each target."""
    from rdkit.Chem import MolFromSmiles
    from rdkit.Chem.rdFingerprintGenerator import GetMorganGenerator
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
    from sklearn.linear_model import LogisticRegression, RidgeCV

    start = time.process_time()
    make = GetMorganGenerator(radius=2, fpSize=2048)
    bits = np.stack([make.GetFingerprintAsNumPy(MolFromSmiles(text)) for text in task.smiles])
    bits, y = bits.astype(np.float64), task.y
    rows = np.array(sorted(task.parts.train + task.parts.validation))
    test = bits[list(task.parts.test)]
    found, predicting = np.full((len(test), y.shape[1]), np.nan), 0.0
    for place in range(y.shape[1]):
        known = rows[~np.isnan(y[rows, place])]
        if kind == "forest":
            forest = RandomForestClassifier if task.classes else RandomForestRegressor
            model = forest(n_estimators=500, random_state=task.seed)
        else:
            linear = LogisticRegression(C=0.1, max_iter=1000) if task.classes else None
            model = linear or RidgeCV(alphas=np.logspace(-1, 3, 9))
        model.fit(bits[known], y[known, place])
        before = time.process_time()
        found[:, place] = model.predict_proba(test)[:, 1] if task.classes else model.predict(test)
        predicting += time.process_time() - before
    return found, time.process_time() - start - predicting, predicting


def chemprop(task: Task, python: str) -> tuple[Values, float, float]:
    """Return predictions of chemprop with its defaults, run in an environment of its own."""
    kind = "classification" if task.classes else "regression"
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        order = [*task.parts.train, *task.parts.validation, *task.parts.test]
        _write(task, order, place / "all.csv")
        ends = np.cumsum([0, *map(len, (task.parts.train, task.parts.validation, task.parts.test))])
        names = ("train", "val", "test")
        ranges = {
            name: list(range(first, last))
            for name, first, last in zip(names, ends[:-1].tolist(), ends[1:].tolist(), strict=True)
        }
        (place / "splits.json").write_text(json.dumps([ranges]))
        common = [python, "-c", "from chemprop.cli.main import main; main()"]
        fit = [
            *common, "train", "-i", "all.csv", "-t", kind, "-s", "smiles",
            "--target-columns", *task.targets, "--splits-file", "splits.json", "-o", "out",
            "--accelerator", "cpu", "--pytorch-seed", str(task.seed), "--num-workers", "0",
        ]  # fmt: skip
        seconds = _run(fit, place)
        _write(task, list(task.parts.test), place / "test.csv")
        (model,) = place.glob("out/**/best.pt")
        ask = [
            *common, "predict", "-i", "test.csv", "-s", "smiles", "--model-paths", str(model),
            "-o", "found.csv", "--accelerator", "cpu", "--num-workers", "0",
        ]  # fmt: skip
        predicting = _run(ask, place)
        with (place / "found.csv").open(newline="") as content:
            rows = [[float(row[name]) for name in task.targets] for row in csv.DictReader(content)]
    return np.array(rows), seconds, predicting


def _run(command: list[str], folder: Path) -> float:
    """Run a command on one thread; return its processor seconds, imports included."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    environment.pop("PYTHONPATH", None)
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"chemprop: {done.stderr[-2000:]}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _write(task: Task, rows: list[int], file: Path) -> None:
    y = task.y
    with file.open("w", newline="") as content:
        table = csv.writer(content)
        table.writerow(["smiles", *task.targets])
        for row in rows:
            cells = ["" if np.isnan(value) else f"{value:.9g}" for value in y[row]]
            table.writerow([task.smiles[row], *cells])


def score(task: Task, found: Values) -> float:
    """Return the RMSE, or the mean ROC-AUC over targets that have both classes."""
    y = task.y[list(task.parts.test)]
    if not task.classes:
        return float(np.sqrt(mean_squared_error(y, found)))
    each = []
    for place in range(y.shape[1]):
        known = ~np.isnan(y[:, place])
        if len(np.unique(y[known, place])) == 2:
            each.append(roc_auc_score(y[known, place], found[known, place]))
    return float(np.mean(each))


def models(python: str | None) -> dict[str, Callable[[Task], tuple[Values, float, float]]]:
    """Return the models that can be run here, by name."""
    found: dict[str, Callable[[Task], tuple[Values, float, float]]] = {
        ONE: lfds_model,
        "forest": lambda task: fingerprints(task, "forest"),
        "ridge or logistic": lambda task: fingerprints(task, "linear"),
    }
    if "members" in LFDSRegressor().get_params():
        found[SEVERAL] = lambda task: lfds_model(task, members=5)
    if python is not None:
        found["chemprop"] = lambda task: chemprop(task, python)
    return found


def stored(file: Path) -> list[Row]:
    """Return what was measured so far."""
    if not file.exists():
        return []
    with file.open(newline="") as content:
        return [
            Row(
                one["data"],
                one["split"],
                one["model"],
                *(float(one[name]) for name in ("score", "fit", "predict")),
            )
            for one in csv.DictReader(content)
        ]


def append(row: Row, file: Path) -> None:
    """Add a measurement to the file."""
    new = not file.exists()
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("a", newline="") as content:
        table = csv.DictWriter(content, [entry.name for entry in fields(Row)], lineterminator="\n")
        if new:
            table.writeheader()
        values = asdict(row)
        table.writerow({k: f"{v:.6g}" if isinstance(v, float) else v for k, v in values.items()})


def markdown(rows: list[Row]) -> str:
    """Return the table of all models that are complete on a set; an incomplete one has no mean."""
    lines = [
        "| set | model | random | scaffold | fit, CPU s | predict, CPU s |",
        "|---|---|--:|--:|--:|--:|",
    ]
    for data in SETS:
        for model in dict.fromkeys(row.model for row in rows):
            found = _complete(rows, data, model)
            if not found:
                continue
            scores = [found[split].score for split in SPLITS[:3]]
            mean, spread = statistics.mean(scores), statistics.stdev(scores)
            fit = statistics.mean(row.fit for row in found.values())
            predict = statistics.mean(row.predict for row in found.values())
            lines.append(
                f"| {data} | {model} | {mean:.3f} ± {spread:.3f} | {found['scaffold'].score:.3f} "
                f"| {fit:,.0f} | {predict:.1f} |"
            )
    return "\n".join(lines) if len(lines) > 2 else _NOTHING


def members_markdown(rows: list[Row]) -> str:
    """Return what five members gain and cost, on sets where both are complete."""
    lines = [
        f"| set | members | {' | '.join(SPLITS)} | fit, CPU s | predict, CPU s |",
        f"|---|--:|{len(SPLITS) * '--:|'}--:|--:|",
    ]
    for data in SETS:
        both = [_complete(rows, data, model) for model in (ONE, SEVERAL)]
        for members, found in zip((1, 5), both if all(both) else (), strict=False):
            scores = " | ".join(f"{found[split].score:.3f}" for split in SPLITS)
            fit = statistics.mean(row.fit for row in found.values())
            predict = statistics.mean(row.predict for row in found.values())
            lines.append(f"| {data} | {members} | {scores} | {fit:,.0f} | {predict:.2f} |")
    return "\n".join(lines) if len(lines) > 2 else _NOTHING


def _complete(rows: list[Row], data: str, model: str) -> dict[str, Row]:
    """Return the rows of a model on a set by split, if there is one for every split."""
    found = {row.split: row for row in rows if (row.data, row.model) == (data, model)}
    return found if set(found) == set(SPLITS) else {}


def main() -> None:
    """Measure what is missing, and write the table on request."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="Folder of the CSV files.")
    parser.add_argument("--chemprop", help="Python of an environment with chemprop 2.")
    chosen = {"nargs": "+", "metavar": "NAME"}
    parser.add_argument(
        "--sets", choices=SETS, default=list(SETS), help=f"Of {', '.join(SETS)}; all.", **chosen
    )
    known = ", ".join(SPLITS)
    parser.add_argument(
        "--splits", choices=SPLITS, default=list(SPLITS), help=f"Of {known}; all.", **chosen
    )
    names = ", ".join(models("python"))
    parser.add_argument("--models", help=f"Of {names}; all that can be run.", **chosen)
    parser.add_argument(
        "--results", type=Path, default=RESULTS, help="The CSV file; results/molecules.csv here."
    )
    parser.add_argument(
        "--write", action="store_true", help="Write the tables of the documentation."
    )
    given = parser.parse_args()
    torch.set_num_threads(1)
    runs = models(given.chemprop)
    unknown = set(given.models or ()) - set(runs)
    if unknown:
        raise SystemExit(
            f"--models: {', '.join(unknown)} cannot be run here; {', '.join(runs)} can"
        )
    done = {(row.data, row.split, row.model) for row in stored(given.results)}
    for data in given.sets:
        for split in given.splits:
            missing = [m for m in given.models or runs if (data, split, m) not in done]
            try:
                task = read(given.folder, data, split) if missing else None
            except DataError as error:
                raise SystemExit(f"molecules: {error}") from None
            for model in missing:
                assert task is not None
                found, fit, predict = runs[model](task)
                row = Row(data, split, model, score(task, found), fit, predict)
                append(row, given.results)
                sys.stdout.write(f"{row}\n")
                sys.stdout.flush()
    if given.write:
        rows = stored(given.results)
        write_between(PAGE, "molecules", markdown(rows))
        write_between(MEMBERS_PAGE, "members", members_markdown(rows))


if __name__ == "__main__":
    main()
