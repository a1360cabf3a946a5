"""Sets in parts and predictions at scale: rates, growth with the number of graphs, memory.

Run: python -m benchmarks.scale [LARGEST]; rewrites the tables of benchmarks/SCALE.md. LARGEST is
the largest number of graphs, 10,000,000 by default. Costs are seconds of the processor, which other
processes hardly disturb; what is compared runs in turns.
"""

import json
import math
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import torch

from benchmarks.marks import write_between
from benchmarks.scale_data import generate, large_graph, small_graphs
from lfds import LFDSClassifier, load
from lfds.data.graphset import GraphSet
from lfds.data.shards.engines import Where
from lfds.data.shards.sharded_set import ShardedGraphSet
from lfds.estimator.prediction_parts import PredictionSettings, model_fingerprint, predict_parts

_PAGE = Path(__file__).parent / "SCALE.md"
_BATCH, _BATCHES, _ROUNDS = 64, 2000, 3
_TRAINED_ON = 2000
_GRAPHS_OF_A_RACE = 16 * 65_536


def main(largest: int) -> None:
    """Measure everything, and write the tables."""
    folder = Path(tempfile.mkdtemp(prefix="lfds-scale-"))
    try:
        LFDSClassifier(epochs=2, seed=0).fit(small_graphs(_TRAINED_ON, 0)).save(folder / "model")
        sizes = [10**k for k in range(4, 1 + round(math.log10(largest)))]
        sets = {count: generate(folder / str(count), count) for count in sizes}
        write_between(_PAGE, "sets", _set_table(sets))
        write_between(_PAGE, "growth", _growth_table(folder, sets))
        write_between(_PAGE, "large", _large_table(folder))
        write_between(_PAGE, "workers", _worker_table(folder, min(largest, _GRAPHS_OF_A_RACE)))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _set_table(sets: dict[int, Path]) -> str:
    rows = ["| graphs | on disk | open | first batch | in memory | in parts | rate | memory |"]
    rows.append("|--:|--:|--:|--:|--:|--:|--:|--:|")
    for count, path in sets.items():
        found = _in_process("batches", path)
        rows.append(
            f"| {count:,} | {_size(path) / 1e6:,.0f} MB | {1000 * found['open']:.0f} ms | "
            f"{1000 * found['first']:.0f} ms | {1e6 * found['memory']:.0f} us | "
            f"{1e6 * found['parts']:.0f} us | {found['memory'] / found['parts']:.2f} | "
            f"{found['anonymous']:,.0f} MB |"
        )
    return "\n".join(rows)


def _batches(path: str) -> dict[str, float]:
    """Time batches of random graphs, in parts and in memory in turns."""
    start = time.perf_counter()
    graphs = ShardedGraphSet(path)
    opened = time.perf_counter() - start
    rng = np.random.default_rng(0)
    drawn = [torch.from_numpy(rng.integers(0, len(graphs), _BATCH)) for _ in range(_BATCHES)]
    first = _seconds(graphs, drawn[:1])
    _seconds(graphs, drawn)
    anonymous = _status("RssAnon")
    whole = graphs.in_memory()
    times = [(_seconds(graphs, drawn), _seconds(whole, drawn)) for _ in range(_ROUNDS)]
    parts, memory = (sorted(column)[_ROUNDS // 2] for column in zip(*times, strict=True))
    return {
        "open": opened,
        "first": first,
        "parts": parts / _BATCHES,
        "memory": memory / _BATCHES,
        "anonymous": anonymous,
    }


def _seconds(graphs: GraphSet, drawn: list[torch.Tensor]) -> float:
    start = time.process_time()
    for rows in drawn:
        graphs.batch(rows)
    return time.process_time() - start


def _growth_table(folder: Path, sets: dict[int, Path]) -> str:
    rows = ["| graphs | CPU s | us per graph | memory |", "|--:|--:|--:|--:|"]
    costs = {}
    for count, path in sets.items():
        found = _in_process("predict", path, folder / "model", folder / f"out-{count}")
        costs[count] = found["seconds"]
        rows.append(
            f"| {count:,} | {found['seconds']:.2f} | {1e6 * found['seconds'] / count:.1f} | "
            f"{found['anonymous']:,.0f} MB |"
        )
    counts = np.log(list(costs))
    slope = np.polyfit(counts, np.log(list(costs.values())), 1)[0] if len(costs) > 1 else math.nan
    return "\n".join(rows) + f"\n\nGrowth exponent (least squares): {slope:.3f}."


def _predict(path: str, model: str, out: str) -> dict[str, float]:
    """Predict a set in one process, and return the cost without that of the first call."""
    graphs = ShardedGraphSet(path)
    load(Path(model)).outputs(graphs[:64])
    start = time.process_time()
    _write(Path(model), graphs, Path(out), Where(1))
    return {"seconds": time.process_time() - start, "anonymous": _status("RssAnon")}


def _write(model: Path, graphs: ShardedGraphSet, out: Path, where: Where) -> None:
    settings = PredictionSettings(
        model=model_fingerprint(model), data=graphs.fingerprint, file_format="csv"
    )
    predict_parts(model, graphs, out, settings, where=where)


def _worker_table(folder: Path, count: int) -> str:
    """Predict with one and two processes in turns, by the clock."""
    graphs = ShardedGraphSet(generate(folder / "race", count))
    rates: dict[int, list[float]] = {1: [], 2: []}
    for turn in range(_ROUNDS):
        for workers, found in rates.items():
            start = time.perf_counter()
            _write(folder / "model", graphs, folder / f"race-{workers}-{turn}", Where(workers))
            found.append(len(graphs) / (time.perf_counter() - start))
    one, two = (sorted(found)[_ROUNDS // 2] for found in rates.values())
    load_now = os.getloadavg()[0]
    return (
        "| workers | graphs per second |\n|--:|--:|\n"
        f"| 1 | {one:,.0f} |\n| 2 | {two:,.0f} ({two / one:.2f}x) |\n\n"
        f"{os.cpu_count()} cores, load of the machine {load_now:.1f}."
    )


def _large_table(folder: Path) -> str:
    large_graph().save(folder / "large")
    found = _in_process("large", folder / "large", folder / "model")
    return (
        "| nodes | edges | CPU s | peak memory |\n|--:|--:|--:|--:|\n"
        f"| {found['nodes']:,.0f} | {found['edges']:,.0f} | {found['seconds']:.1f} | "
        f"{found['peak'] / 1000:.2f} GB |"
    )


def _large(path: str, model: str) -> dict[str, float]:
    graphs, estimator = GraphSet.load(path), load(Path(model))
    start = time.process_time()
    estimator.outputs(graphs)
    return {
        "nodes": graphs.num_nodes,
        "edges": graphs.num_edges,
        "seconds": time.process_time() - start,
        "peak": _status("VmHWM"),
    }


def _status(key: str) -> float:
    """Return a size of this process in MB."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{key}:"):
            return int(line.split()[1]) * 1024 / 1e6
    return math.nan


def _size(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


def _in_process(what: str, *arguments: Path) -> dict[str, float]:
    """Measure something in a process of its own, whose memory holds nothing else."""
    command = [sys.executable, "-m", "benchmarks.scale", what, *map(str, arguments)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


_PARTS = {"batches": _batches, "predict": _predict, "large": _large}

if __name__ == "__main__":
    torch.set_num_threads(1)
    if len(sys.argv) > 1 and sys.argv[1] in _PARTS:
        print(json.dumps(_PARTS[sys.argv[1]](*sys.argv[2:])))
    else:
        main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000_000)
